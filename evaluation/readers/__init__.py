"""Readers: transcripts from files of many formats, recognised by their content."""

from evaluation.readers._reading import iter_paths, read_path, read_transcripts, read_upload, read_uploads
from evaluation.readers._results import ReadResult, broken_off
from evaluation.readers.base.answers import OPTIONS, Answers, Question, Topic
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.roster import alignment_of
from evaluation.readers.tables.columns import ChooseColumns, ColumnMapping, guess_mapping
from evaluation.readers.tables.rows import TableHead

__all__ = [
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
    "guess_mapping",
    "iter_paths",
    "read_path",
    "read_transcripts",
    "read_upload",
    "read_uploads",
]
