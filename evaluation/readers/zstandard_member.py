"""Zip members packed by Zstandard, which Python's own ``zipfile`` can unpack from version 3.14 on only."""

from __future__ import annotations

import io
import struct
import zipfile
import zlib

from evaluation.errors import UnreadableFileError

ZSTANDARD = 93
"""The number of the method in a zip's directory."""

_LOCAL_HEADER = struct.Struct("<4s22xHH")
_LOCAL_MAGIC = b"PK\x03\x04"
# 128 MiB, what the zstd tool itself allows: a larger window is an attempt to exhaust the memory.
_LARGEST_WINDOW = 128 * 1024 * 1024


def read_zstandard(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The member's content, of which never more than the directory announces is unpacked.

    Raises:
        UnreadableFileError: It is damaged, or larger than announced.
    """
    import zstandard

    packed = _packed(archive, member)
    unpacker = zstandard.ZstdDecompressor(max_window_size=_LARGEST_WINDOW)
    try:
        with unpacker.stream_reader(io.BytesIO(packed), read_across_frames=True) as stream:
            content = stream.read(member.file_size + 1)
    except zstandard.ZstdError as error:
        raise _damaged(str(error)) from None
    if len(content) != member.file_size:
        raise _damaged("its size is not the one announced")
    if zlib.crc32(content) != member.CRC:
        raise _damaged("its checksum is wrong")
    return content


def _packed(archive: zipfile.ZipFile, member: zipfile.ZipInfo) -> bytes:
    """The bytes as they stand in the zip. The name's length in front of them may differ from the directory's."""
    stream = archive.fp
    if stream is None:
        raise _damaged("the zip is closed")
    stream.seek(member.header_offset)
    magic, name_length, extra_length = _LOCAL_HEADER.unpack(stream.read(_LOCAL_HEADER.size))
    if magic != _LOCAL_MAGIC:
        raise _damaged("its header is missing")
    stream.seek(name_length + extra_length, io.SEEK_CUR)
    return stream.read(member.compress_size)


def _damaged(reason: str) -> UnreadableFileError:
    return UnreadableFileError(f"The file cannot be unpacked: {reason}.", remedy="Pack it again.")
