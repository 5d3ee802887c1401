"""Read and write files at paths and fsspec URLs: local folders, memory and S3-compatible object stores."""

from __future__ import annotations

import os
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import SplitResult, urlsplit

from evaluation.errors import InfrastructureError, InputError, NotFoundError

SCHEMES = ("file", "s3")
ENDPOINT_VARIABLES = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL")
"""Variables with the address of an S3-compatible server, the first that is set; without one it is Amazon's."""

REGION_VARIABLES = ("AWS_REGION", "AWS_DEFAULT_REGION")
_DEFAULT_REGION = "us-east-1"


def is_url(place: str) -> bool:
    """Whether ``place`` is a URL and not a path."""
    return "://" in place


@dataclass(frozen=True, slots=True)
class Location:
    """A file or folder on some file system.

    Attributes:
        url: As people wrote it, without a slash at the end. Holds no secret: URLs with a name or password are refused.
        path: The same as its file system spells it.
        is_local: Whether it is a folder of this machine (or of one that is mounted here).
    """

    url: str
    path: str
    is_local: bool
    _files: Any

    @classmethod
    def of(cls, place: str) -> Location:
        """The location that a path or URL names.

        Raises:
            InputError: The scheme is not one of ``SCHEMES``, or the URL has a name, password or options in it.
        """
        if not is_url(place):
            return cls._local(os.path.abspath(os.path.expanduser(place)), place)
        scheme = place.partition("://")[0].casefold()
        if scheme not in SCHEMES:
            raise InputError(
                f"There is nothing that reads {scheme}:// URLs.",
                place=scheme,
                remedy=f"Download it first, or use a path or a URL of {', '.join(SCHEMES)}.",
            )
        _require_no_secrets(place, scheme)
        body = place.partition("://")[2].rstrip("/")
        if scheme == "file":
            return cls._local(os.path.abspath(f"/{body.lstrip('/')}"), place)
        if not body.partition("/")[0]:
            raise InputError("The URL names no bucket.", place=place, remedy="Write s3://BUCKET/FOLDER.")
        return cls(f"s3://{body}", body, False, _object_store())

    @classmethod
    def _local(cls, path: str, shown: str) -> Location:
        from fsspec.implementations.local import LocalFileSystem

        return cls(shown.rstrip("/") or "/", path, True, LocalFileSystem())

    @property
    def name(self) -> str:
        """The last part of the path."""
        return self.path.rstrip("/").rpartition("/")[2]

    def below(self, *parts: str) -> Location:
        """The location of a file or folder below this one."""
        joined = "/".join(parts)
        path = f"{self.path.rstrip('/')}/{joined}"
        return Location(f"{self.url}/{joined}", path, self.is_local, self._files)

    def is_folder(self) -> bool:
        """Whether there are files below it. An object store has no empty folders."""
        with _translated(self.url):
            return bool(self._files.isdir(self.path))

    def files(self) -> list[str]:
        """The paths of all files below it, relative to it, sorted; none where there is no such folder."""
        with _translated(self.url):
            self._files.invalidate_cache()
            if not self._files.isdir(self.path):
                return []
            found = self._files.find(self.path)
        prefix = f"{self.path.rstrip('/')}/"
        return sorted(path[len(prefix) :] for path in found if path.startswith(prefix))

    def size(self) -> int:
        """The file's size in bytes.

        Raises:
            NotFoundError: There is no such file.
        """
        with _translated(self.url):
            return int(self._files.info(self.path).get("size") or 0)

    def read_bytes(self) -> bytes:
        """The whole file.

        Raises:
            NotFoundError: There is no such file.
        """
        with _translated(self.url):
            content: bytes = self._files.cat_file(self.path)
            return content

    def write_bytes(self, content: bytes) -> None:
        """Puts a file there in one step: readers see the old one or the new one, whenever the writer is killed.

        On a file system it is written under a name that ends in ``.tmp`` first. An object of an object store appears
        whole, and cannot be renamed in one step, so it gets its name at once.
        """
        with _translated(self.url):
            if not self.is_local:
                self._files.pipe_file(self.path, content)
                return
            unfinished = Path(f"{self.path}.{uuid.uuid4().hex}.tmp")
            unfinished.parent.mkdir(parents=True, exist_ok=True)
            try:
                unfinished.write_bytes(content)
                os.replace(unfinished, self.path)
            finally:
                unfinished.unlink(missing_ok=True)


@contextmanager
def _translated(place: str) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise NotFoundError("There is no such file or folder.", place=place, remedy="Check the path.") from None
    except OSError as error:
        raise InfrastructureError(
            f"It cannot be used: {error.strerror or error}.",
            place=place,
            remedy="Check that it is there, and that you may use it.",
        ) from None


def _require_no_secrets(url: str, scheme: str) -> None:
    parts = _split(url, f"{scheme}://")
    if scheme != "file" and ("@" in parts.netloc or parts.query):
        # The URL itself is not shown: it may hold a key.
        raise InputError(
            "The URL has a name, key or options in it, which would end up in logs.",
            place=f"{scheme}://",
            remedy="Set AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_ENDPOINT_URL in the environment instead.",
        )


def _split(url: str, place: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError:
        raise InputError("This is not an address.", place=place, remedy="Write it as SCHEME://HOST/PATH.") from None


def _object_store() -> Any:
    from fsspec.implementations.arrow import ArrowFSWrapper
    from pyarrow.fs import S3FileSystem

    # Without keys in the environment, the search for them on the network of a cloud takes seconds elsewhere.
    options: dict[str, Any] = {"region": _first(REGION_VARIABLES) or _DEFAULT_REGION}
    if endpoint := _first(ENDPOINT_VARIABLES):
        address = _split(endpoint, ENDPOINT_VARIABLES[0])
        if address.scheme not in ("http", "https") or not address.hostname or "@" in address.netloc:
            raise InputError(
                "The address of the S3 server is not one.",
                place=ENDPOINT_VARIABLES[0],
                remedy="Write http://HOST:PORT.",
            )
        options |= {"endpoint_override": address.netloc, "scheme": address.scheme}
        os.environ.setdefault("AWS_EC2_METADATA_DISABLED", "true")
    return ArrowFSWrapper(S3FileSystem(**options))


def _first(names: tuple[str, ...]) -> str:
    return next((value for name in names if (value := os.environ.get(name, ""))), "")
