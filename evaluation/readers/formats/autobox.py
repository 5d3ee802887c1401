"""Reads the runs of Autobox: a list of runs with their workers, and the traces of each run by its id, in two files.

A run is a transcript. The workers are its players; what they say is public. The orchestrator, planner, evaluator and
reporter run the simulation as a moderator does, so what they say, and every trace marked as the system's, is in the
system channel. Names are matched without regard to case, as Autobox writes them both ways. Traces are put into the
order of their times. A run that has not begun has no trace and is refused.

A worker's role ("practical planner") is a profession and takes no side, whatever its words mean in a game.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Set
from functools import partial
from typing import Any

from evaluation.errors import BrokenTranscriptError
from evaluation.files.strict_json import shorten
from evaluation.readers.base.document import Document
from evaluation.readers.base.limits import Limits
from evaluation.readers.base.node import Node
from evaluation.readers.base.reader import FileGame, FolderReader
from evaluation.readers.base.roster import Roster
from evaluation.readers.base.transcript_draft import TranscriptDraft
from evaluation.transcript import Transcript

FORMAT = "autobox"

_STAFF = ("orchestrator", "planner", "evaluator", "reporter")
_WORKER = ("name", "role", "description", "backstory", "llm")
_TRACE = ("from", "to", "content", "is_system_trace", "created_at")
_BOTH = "Hand in runs.json and traces.json of the same export."


def _takes(name: str) -> bool:
    return _is_named(name, "runs") or _is_named(name, "traces")


def _is_named(name: str, word: str) -> bool:
    stem, dot, suffix = name.casefold().rpartition(".")
    return bool(dot) and suffix == "json" and word in stem


def _recognises(names: Set[str]) -> bool:
    return any(_is_named(name, "runs") for name in names) and any(_is_named(name, "traces") for name in names)


def _are_runs(content: Any) -> bool:
    return (
        isinstance(content, list)
        and bool(content)
        and isinstance(content[0], dict)
        and "workers" in content[0]
        and "orchestrator" in content[0]
    )


def _are_traces(content: Any) -> bool:
    if not isinstance(content, dict):
        return False
    first = next((trace for traces in content.values() if isinstance(traces, list) for trace in traces), None)
    return isinstance(first, dict) and "is_system_trace" in first


def _recognises_part(document: Document) -> bool:
    return _are_runs(document.json) or _are_traces(document.json)


def _confirms(files: Mapping[str, Document]) -> bool:
    kinds = [(_are_runs(document.json), _are_traces(document.json)) for document in files.values()]
    return all(map(any, kinds)) and all(any(kind) for kind in zip(*kinds, strict=True))


def _read(files: Mapping[str, Document]) -> Iterator[FileGame]:
    limits = next(iter(files.values())).limits
    traces: dict[str, Node] = {}
    for name, document in files.items():
        if _are_traces(document.json):
            traces |= dict(Node(document.json, f"{name}: $").members())
    for name, document in files.items():
        if _are_runs(document.json):
            for run in Node(document.json, f"{name}: $").entries():
                run_id = _run_id(run)
                yield FileGame(run_id, partial(_transcript, run_id, run, traces.get(run_id), limits))


def _run_id(run: Node) -> str:
    run_id = run["id"].identifier_or_none()
    if run_id is None:
        raise run["id"].wrong("the run's id")
    return run_id


def _transcript(run_id: str, run: Node, traces: Node | None, limits: Limits) -> Transcript:
    if traces is None:
        raise BrokenTranscriptError(f"The traces do not name the run {shorten(run_id)}.", remedy=_BOTH)
    if traces.size == 0:
        status = run["status"].text_or_none() or "unknown"
        remedy = "Export it again once it has run."
        raise BrokenTranscriptError(f"The run has no trace yet; its status is {shorten(status)}.", remedy=remedy)
    players = [_player(worker) for worker in run["workers"].entries()]
    draft = TranscriptDraft(Roster(player["name"] for player in players), limits)
    limits.check_messages(traces.size)
    staff = Roster(name for kind in _STAFF if (name := run[kind]["name"].name_or_none()))
    for trace in sorted(traces.entries(), key=_time_of):
        _add(trace, draft, staff)
    return draft.build(
        game_id=run_id,
        source_format=FORMAT,
        players=players,
        winner=None,
        metadata=run.rest("id", "workers", "started_at"),
        started_at=run["started_at"].time_or_none(),
    )


def _player(worker: Node) -> dict[str, Any]:
    persona = {key: text for key in ("description", "backstory") if (text := worker[key].text_or_none())}
    return {
        "name": worker["name"].name(),
        "role": worker["role"].text_or_none(),
        "persona": persona or None,
        "model": worker["llm"]["model"].text_or_none(),
        "is_human": False,
        "metadata": worker.rest(*_WORKER),
    }


def _time_of(trace: Node) -> float:
    time = trace["created_at"].time_or_none()
    if time is None:
        raise trace["created_at"].wrong("a time as in 2025-01-31T18:05:00Z")
    return time.timestamp()


def _add(trace: Node, draft: TranscriptDraft, staff: Roster) -> None:
    written = trace["from"].name()
    worker = draft.roster.find(written)
    if worker is None and staff.find(written) is None:
        raise trace["from"].wrong(f"one of the workers ({draft.roster}) or of the staff ({staff})")
    is_public = worker is not None and not trace["is_system_trace"].flag_or_none()
    speaker = worker or staff.find(written) or written
    target = trace["to"].name_or_none()
    draft.say(
        speaker,
        trace["content"].text(),
        "public" if is_public else "system",
        recipients=[draft.roster.find(target) or staff.find(target) or target] if target else [],
        sent_at=trace["created_at"].time_or_none(),
        metadata=trace.rest(*_TRACE),
    )


READER = FolderReader(FORMAT, _takes, _recognises, _recognises_part, _read, _confirms)
