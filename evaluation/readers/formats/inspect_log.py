"""Reads the logs of Inspect: ``.json``, and ``.eval``, a zip with one file a sample. A sample's epoch is a transcript.

Texts that a log keeps once and refers to ("attachment://...") are put back where they were said. What the log says of
the whole run and of the sample, its scores too, is in the metadata; events are left out. Inspect writes NaN where a
score could not be computed; it reads as null.

Providers differ in whether cached tokens count among the input; the total less the output does not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from functools import partial
from typing import Any

from evaluation.errors import BrokenTranscriptError, InputError
from evaluation.files.strict_json import shorten
from evaluation.readers._who_speaks import BROKEN_OFF
from evaluation.readers.document import ArchiveReader, Document, FileReader, Games, Limits, Node
from evaluation.readers.formats.chat import chat_transcript
from evaluation.readers.traces.calls import CallUsage, summed_cost
from evaluation.transcript import Cost, Transcript

FORMAT = "inspect"

_HEADERS = ("header.json", "_journal/start.json")
_SAMPLES = "samples/"
_ATTACHMENT = "attachment://"
_HEAD = 2000
_ORDINARY_LIMITS = frozenset({"message", "turn", "turns", "messages"})
_RUN = ("task", "model", "created", "dataset")
_SAMPLE = ("target", "scores", "metadata", "error", "limit", "total_time", "working_time")

_WITH_SAMPLES = "Run the evaluation with log_samples=True."


def _recognises(document: Document) -> bool:
    content = document.json
    if isinstance(content, dict):
        return isinstance(content.get("eval"), dict) and ("samples" in content or "plan" in content)
    # A log with NaN is not JSON; its beginning tells enough.
    head = document.text[:_HEAD]
    return document.json_error is not None and all(f'"{key}"' in head for key in ("version", "status", "eval", "task"))


def _read(document: Document) -> Games:
    log = Node(document.json_ignoring_nan)
    if log["samples"].size == 0:
        raise BrokenTranscriptError("The log holds no samples.", place="$.samples", remedy=_WITH_SAMPLES)
    for sample in log["samples"].entries():
        sample_id, epoch = _sample_id(sample)
        yield f"{sample_id}_epoch_{epoch}", partial(_transcript, log, sample, document.limits)


def _recognises_archive(paths: Set[str]) -> bool:
    return any(header in paths for header in _HEADERS) and any(map(_is_sample, paths))


def _is_sample(path: str) -> bool:
    return path.startswith(_SAMPLES) and path.endswith(".json")


def _read_archive(files: Mapping[str, Callable[[], Document]]) -> Games:
    header = next(path for path in _HEADERS if path in files)
    log = _content(header, files[header]())
    for path in sorted(filter(_is_sample, files), key=_by_number):
        # Each sample is unpacked when it is its turn, so that they need not all fit into memory.
        yield (path.removeprefix(_SAMPLES).removesuffix(".json"), partial(_packed_sample, log, path, files[path]))


def _by_number(path: str) -> tuple[int, str]:
    number = path.removeprefix(_SAMPLES).partition("_")[0]
    return (int(number) if number.isdecimal() and len(number) < 10 else 10**10, path)


def _content(path: str, document: Document) -> Node:
    try:
        content = Node(document.json_ignoring_nan, f"{path}: $")
    except InputError as error:
        place = f"{path}: {error.place}" if error.place else path
        raise type(error)(error.message, place=place, remedy=error.remedy) from None
    content.fields()
    return content


def _packed_sample(log: Node, path: str, load: Callable[[], Document]) -> Transcript:
    document = load()
    return _transcript(log, _content(path, document), document.limits)


def _sample_id(sample: Node) -> tuple[str, int]:
    sample_id = sample["id"].identifier_or_none()
    if sample_id is None:
        raise sample["id"].wrong("the sample's id")
    return sample_id, sample["epoch"].count_or_none() or 1


def _transcript(log: Node, sample: Node, limits: Limits) -> Transcript:
    run = log["eval"]
    sample_id, epoch = _sample_id(sample)
    run_id = run["run_id"].identifier_or_none() or run["task_id"].identifier_or_none() or "run"
    metadata = {key: run[key].value for key in _RUN} | {"status": log["status"].value}
    metadata |= {key: sample[key].value for key in _SAMPLE} | {"sample": sample_id, "epoch": epoch}
    reason = _broken_off(sample)
    if reason and not sample["messages"].size:
        raise BrokenTranscriptError(
            f"The run ended before anybody spoke: {reason}.", place=sample.path, remedy="Run the sample again."
        )
    metadata |= {BROKEN_OFF: reason} if reason else {}
    return chat_transcript(
        FORMAT,
        _messages(sample),
        limits,
        f"{run_id[:100]}-{sample_id[:80]}-{epoch}",
        run["model"].text_or_none(),
        started_at=sample["started_at"].time_or_none() or run["created"].time_or_none(),
        cost=_cost(sample["model_usage"]),
        metadata=metadata,
    )


def _broken_off(sample: Node) -> str:
    """Why the run of a sample ended before its end; empty where it did not. A limit of messages is an ordinary end."""
    error = sample["error"]
    if error.value is not None:
        message = error["message"].value if isinstance(error.value, dict) else error.value
        return f"an error ({shorten(str(message))})"
    limit = sample["limit"]
    kind = limit["type"].value if isinstance(limit.value, dict) else limit.value
    return "" if kind is None or kind in _ORDINARY_LIMITS else f"a limit ({shorten(str(kind))})"


def _messages(sample: Node) -> Iterator[Node]:
    attachments = sample["attachments"].fields()
    for message in sample["messages"].entries():
        yield Node({key: _put_back(value, attachments) for key, value in message.fields().items()}, message.path)


def _put_back(value: Any, attachments: Mapping[str, Any]) -> Any:
    """A message's value with texts in the place of references, in the parts of its content too."""
    if isinstance(value, str) and value.startswith(_ATTACHMENT):
        return attachments.get(value.removeprefix(_ATTACHMENT), value)
    if isinstance(value, list):
        return [
            {key: _put_back(inner, attachments) if isinstance(inner, str) else inner for key, inner in part.items()}
            if isinstance(part, dict)
            else part
            for part in value
        ]
    return value


def _cost(usage: Node) -> dict[str, Any] | None:
    """The sum over the models of a sample."""
    cost = summed_cost([_usage(node) for _, node in usage.members()])
    return cost if cost and Cost.model_validate(cost).is_known else None


def _usage(node: Node) -> CallUsage:
    written, output, total = (node[f"{key}_tokens"].count_or_none() for key in ("input", "output", "total"))
    given = max((total or 0) - (output or 0), written or 0)
    cached, dollars = node["input_tokens_cache_read"].count_or_none(), node["total_cost"].number_or_none()
    return {"input_tokens": given, "cached_tokens": cached, "output_tokens": output, "total_usd": dollars}


READER = FileReader(FORMAT, _recognises, _read)
ARCHIVE_READER = ArchiveReader(FORMAT, _recognises_archive, _read_archive)
