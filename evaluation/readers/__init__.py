"""Readers: transcripts from files of many formats, recognised by their content."""

from evaluation.readers._cross_check import NOT_READ, by_channel, understood, with_role
from evaluation.readers._draft import alignment_of
from evaluation.readers._reading import (
    broken_off,
    iter_paths,
    read_path,
    read_transcripts,
    read_upload,
    read_uploads,
)
from evaluation.readers.conversations import transcript_of
from evaluation.readers.document import OPTIONS, Answers, Limits, Question, ReadResult, TableHead, Topic
from evaluation.readers.tables import ChooseColumns, ColumnMapping, guess_mapping

__all__ = [
    "NOT_READ",
    "OPTIONS",
    "Answers",
    "ChooseColumns",
    "ColumnMapping",
    "Limits",
    "Question",
    "ReadResult",
    "TableHead",
    "Topic",
    "alignment_of",
    "broken_off",
    "by_channel",
    "guess_mapping",
    "iter_paths",
    "read_path",
    "read_transcripts",
    "read_upload",
    "read_uploads",
    "transcript_of",
    "understood",
    "with_role",
]
