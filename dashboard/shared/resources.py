"""Resources shared between reruns and sessions: the store, and cached reads from it.

Reads are cached by the revision of the database, so that new data appear at once, also when another process wrote them.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from inspect import ismethod
from pathlib import Path
from typing import Any, TypeVar

import streamlit as st

from dashboard.shared.identity import identity
from dashboard.shared.local_time import time_zone
from evaluation.progress import ProgressCallback, no_progress
from evaluation.readers import Answers, ColumnMapping, Limits, ReadResult, read_uploads
from evaluation.store import Store, default_path

Answer = TypeVar("Answer")
Revision = tuple[tuple[int, ...] | None, ...]

_READ_FILES = "read_files"


def store() -> Store:
    """The store of this server, at ``DRAMATURG_DB`` or its default place."""
    return _store(str(default_path()))


@st.cache_resource(show_spinner=False, max_entries=8)
def _store(path: str) -> Store:
    return Store(path, guard=identity.require_admin_to_write)


def revision() -> Revision:
    """Changes whenever the database does: which file it and its write-ahead log are, their sizes and times."""
    path = default_path()
    return tuple(_stamp(place) for place in (path, Path(f"{path}.wal")))


def _stamp(path: Path) -> tuple[int, ...] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def _key(function: Callable[..., Any], arguments: tuple[Hashable, ...]) -> tuple[Hashable, ...]:
    return str(default_path()), revision(), time_zone(), function.__module__, function.__qualname__, arguments


def read(query: Callable[..., Answer], *arguments: Hashable) -> Answer:
    """``query(store, *arguments)``, of a method ``query(*arguments)``, from the cache while the database is unchanged.

    Args:
        query: A function of a module, or a method of a part of the store; told apart by its name.
        arguments: What else it takes.
    """
    given = arguments if ismethod(query) else (store(), *arguments)
    answer: Answer = _cached(_key(query, arguments), partial(query, *given))
    return answer


@st.cache_data(show_spinner=False, max_entries=64)
def _cached(key: tuple[Hashable, ...], _query: Callable[[], Any]) -> Any:  # noqa: ARG001 - Streamlit hashes the key
    return _query()


def share(query: Callable[..., Answer], *arguments: Hashable) -> Answer:
    """Like ``read``, for large results that no caller changes: all sessions get the same object, not a copy each."""
    answer: Answer = _shared(_key(query, arguments), partial(query, store(), *arguments))
    return answer


def once(make: Callable[..., Answer], key: tuple[Hashable, ...], *arguments: Any) -> Answer:
    """``make(*arguments)``, made once while the database is unchanged; nobody changes the answer.

    Args:
        make: A function of a module, told apart by its name.
        key: Tells the arguments from others that it is called with.
        arguments: What it takes; read from the store, and from nowhere else that may change.
    """
    answer: Answer = _made(_key(make, key), partial(make, *arguments))
    return answer


@st.cache_resource(show_spinner=False, max_entries=64)
def _made(key: tuple[Hashable, ...], _make: Callable[[], Any]) -> Any:  # noqa: ARG001 - Streamlit hashes the key
    return _make()


@st.cache_resource(show_spinner=False, max_entries=8)
def _shared(key: tuple[Hashable, ...], _query: Callable[[], Any]) -> Any:  # noqa: ARG001 - Streamlit hashes the key
    return _query()


def read_files(
    files: Sequence[tuple[str, bytes]],
    limits: Limits,
    columns: Mapping[tuple[str, ...], ColumnMapping],
    answers: Answers,
    progress: ProgressCallback = no_progress,
) -> list[ReadResult]:
    """The games in files uploaded together, as name and content; the same files are read once.

    Only the latest files of a session are remembered, and only while it lasts: games may be hundreds of megabytes.

    Args:
        files: Name and content of each.
        limits: How large they may be.
        columns: For tables with the columns in a key, which of them holds what.
        answers: To what files leave open about who speaks, to whom and when.
        progress: Told how far it is, unless they are read already.
    """
    hashes = tuple((name, hashlib.sha256(data).hexdigest()) for name, data in files)
    key = (hashes, repr(limits), repr(columns), repr(answers))
    # Not in one of Streamlit's caches: what draws progress must not be called inside of them.
    held: tuple[Hashable, list[ReadResult]] | None = st.session_state.get(_READ_FILES)
    if held is None or held[0] != key:
        forget_files()
        held = (key, read_uploads(files, limits, columns.get, progress, answers))
        st.session_state[_READ_FILES] = held
    return held[1]


def forget_files() -> None:
    """Lets go of the games that ``read_files`` remembers for this session."""
    st.session_state.pop(_READ_FILES, None)
