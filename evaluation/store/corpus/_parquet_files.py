"""Write and read the Parquet files of a corpus."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.parquet as pq

from evaluation.errors import InfrastructureError
from evaluation.files.locations import Location


def table_bytes(rows: pa.Table, row_group_size: int | None = None) -> bytes:
    """The content of a file with these rows, in one row group where no size is given; damage to it is noticed."""
    sink = pa.BufferOutputStream()
    size = row_group_size or max(1, rows.num_rows)
    pq.write_table(rows, sink, compression="zstd", row_group_size=size, write_page_checksum=True)
    content: bytes = sink.getvalue().to_pybytes()
    return content


def read_table(place: Location, schema: pa.Schema, columns: Sequence[str] | None = None) -> pa.Table:
    """The rows of a file, those columns of ``schema`` or all.

    Raises:
        InfrastructureError: The file is damaged, or was not written by Dramaturg.
    """
    wanted = pa.schema([schema.field(name) for name in columns]) if columns else schema
    content = pa.BufferReader(place.read_bytes())
    try:
        rows = pq.ParquetFile(content, page_checksum_verification=True).read(columns=wanted.names)
        rows.validate(full=True)
        return rows.select(wanted.names).cast(wanted)
    # Arrow says OSError of a page that does not fit its checksum.
    except (pa.ArrowException, KeyError, ValueError, OSError) as error:
        raise InfrastructureError(
            f"The file of the corpus cannot be read: {str(error).splitlines()[0]}.",
            place=place.url,
            remedy="Remove the files of that name and run the command again that wrote them: they are the only ones"
            " lost.",
        ) from None
