"""Readers: transcripts from files of many formats, recognised by their content."""

from evaluation.readers.alignment import alignment_of
from evaluation.readers.columns import ColumnMapping, guess_mapping
from evaluation.readers.limits import Limits
from evaluation.readers.reading import iter_path, iter_paths, read_path, read_table, read_upload, read_uploads
from evaluation.readers.results import ReadResult
from evaluation.readers.table_head import ChooseColumns, TableHead

__all__ = [
    "ChooseColumns",
    "ColumnMapping",
    "Limits",
    "ReadResult",
    "TableHead",
    "alignment_of",
    "guess_mapping",
    "iter_path",
    "iter_paths",
    "read_path",
    "read_table",
    "read_upload",
    "read_uploads",
]
