"""Readers: transcripts from files of many formats, recognised by their content."""

from evaluation.readers.alignment import alignment_of
from evaluation.readers.limits import Limits
from evaluation.readers.reading import ReadResult, iter_path, read_path, read_upload

__all__ = ["Limits", "ReadResult", "alignment_of", "iter_path", "read_path", "read_upload"]
