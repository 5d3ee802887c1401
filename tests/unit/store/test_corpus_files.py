"""Files of a corpus: what is damaged is refused, never read as something else."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pyarrow as pa

from evaluation.errors import InfrastructureError
from evaluation.files.locations import Location
from evaluation.store.corpus._parquet_files import read_table, table_bytes

SCHEMA = pa.schema([("transcript_id", pa.string()), ("score", pa.float64()), ("document", pa.binary())])


def test_a_flipped_bit_is_noticed(tmp_path: Path) -> None:
    random, place = Random(3), Location.of(str(tmp_path / "one.parquet"))
    rows = [
        {"transcript_id": f"t{number}", "score": random.random(), "document": random.randbytes(40)}
        for number in range(200)
    ]
    table = pa.Table.from_pylist(rows, SCHEMA)
    content = table_bytes(table, 50)
    refused = 0
    for _ in range(400):
        damaged = bytearray(content)
        damaged[random.randrange(len(damaged))] ^= 1 << random.randrange(8)
        place.write_bytes(bytes(damaged))
        try:
            assert read_table(place, SCHEMA).equals(table)
        except InfrastructureError as error:
            refused += error.place == place.url
    assert refused > 200
