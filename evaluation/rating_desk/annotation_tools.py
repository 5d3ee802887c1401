"""Exchange games and ratings with annotation tools: tasks of Label Studio and records of Argilla, both ways.

What comes back becomes a sheet of ratings, so that the same checks hold for it: all of its rows are stored or none.
"""

from __future__ import annotations

import csv
import io
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal

from evaluation.errors import BrokenTranscriptError
from evaluation.escaping import is_formula
from evaluation.rating_desk.sheet_format import COLUMNS, QUESTION_COLUMNS
from evaluation.ratings import Rating
from evaluation.transcript import Transcript

_SCORE, _COMMENT = "score", "comment"
_NO_RATINGS = "Expected tasks of Label Studio with annotations, or records of Argilla with responses."


def annotation_export(
    tool: Literal["argilla", "label-studio"], transcripts: Iterable[Transcript], ratings: Sequence[Rating]
) -> list[dict[str, Any]]:
    """The games with the ratings that they have, as plain data for JSON.

    Label Studio gets one task a game and one annotation a rating. Argilla gets one record a game; its responses hold
    one answer a rater, so of revised ratings the latest.
    """
    by_game: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_game.setdefault(rating.transcript_id, []).append(rating)
    make = _task if tool == "label-studio" else _record
    return [make(number, one, by_game.get(one.id, [])) for number, one in enumerate(transcripts, start=1)]


def _task(number: int, transcript: Transcript, ratings: Sequence[Rating]) -> dict[str, Any]:
    dialogue = [{"author": message.speaker, "text": message.text} for message in transcript.discussion]
    return {
        "id": number,
        "data": {"transcript_id": transcript.id, "game": transcript.game_id, "dialogue": dialogue},
        "annotations": [_annotation(rating) for rating in ratings],
    }


def _annotation(rating: Rating) -> dict[str, Any]:
    result = [_result(_SCORE, "rating", {"rating": rating.score})]
    for name, answer in _answers(rating):
        result.append(_result(name, "choices", {"choices": [answer]}))
    if rating.comment:
        result.append(_result(_COMMENT, "textarea", {"text": [rating.comment]}))
    return {
        "completed_by": {"email": rating.rater},
        "unique_id": rating.token,
        "created_at": rating.created_at.isoformat(),
        "result": result,
    }


def _result(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"from_name": name, "to_name": "dialogue", "type": kind, "value": value}


def _record(number: int, transcript: Transcript, ratings: Sequence[Rating]) -> dict[str, Any]:
    latest = {rating.rater: rating for rating in sorted(ratings, key=lambda one: one.created_at)}
    responses: dict[str, list[dict[str, Any]]] = {}
    for rating in latest.values():
        answers: list[tuple[str, Any]] = [(_SCORE, rating.score), *_answers(rating)]
        answers += [(_COMMENT, rating.comment)] if rating.comment else []
        for name, value in answers:
            responses.setdefault(name, []).append({"value": value, "user_id": rating.rater})
    chat = [{"role": message.speaker, "content": message.text} for message in transcript.discussion]
    return {
        "id": transcript.id,
        "fields": {"chat": chat},
        "metadata": {"transcript_id": transcript.id, "game": transcript.game_id, "number": number},
        "responses": responses,
    }


def _answers(rating: Rating) -> Iterator[tuple[str, str]]:
    for name, answer in zip(QUESTION_COLUMNS, rating.answers, strict=True):
        if answer is not None:
            yield name, "yes" if answer else "no"


def is_annotation_export(data: bytes) -> bool:
    """Whether a file begins as JSON does, and not as a sheet."""
    return data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"[", b"{"))


def sheet_of_annotations(value: Any) -> bytes:
    """The annotations in a JSON export as a sheet of ratings; a game without any gives no row.

    Args:
        value: The parsed JSON: tasks of Label Studio, or records of Argilla, version 1 or 2.

    Raises:
        BrokenTranscriptError: It is neither.
    """
    items = value if isinstance(value, list) else [value]
    out = io.StringIO(newline="")
    writer = csv.DictWriter(out, COLUMNS, restval="", quoting=csv.QUOTE_ALL, lineterminator="\n")
    writer.writeheader()
    for position, item in enumerate(items):
        if not isinstance(item, dict):
            raise BrokenTranscriptError("The entry is not an object.", place=f"$[{position}]", remedy=_NO_RATINGS)
        if isinstance(item.get("data"), dict):
            writer.writerows(map(_escaped, _rows_of_task(item)))
        elif "responses" in item:
            writer.writerows(map(_escaped, _rows_of_record(item)))
        else:
            raise BrokenTranscriptError(
                "The entry is neither a task nor a record.", place=f"$[{position}]", remedy=_NO_RATINGS
            )
    return out.getvalue().encode()


def _escaped(row: Mapping[str, str]) -> dict[str, str]:
    """A row as sheets are written: reading takes an apostrophe before a formula away."""
    return {key: f"'{cell}" if is_formula(cell.lstrip("'")) else cell for key, cell in row.items()}


def _whose_game(held: Mapping[str, Any]) -> dict[str, str]:
    return {"transcript_id": _cell(held.get("transcript_id")), "game": _cell(held.get("game"))}


def _rows_of_task(task: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    annotations = task.get("annotations")
    for annotation in annotations if isinstance(annotations, list) else []:
        if not isinstance(annotation, dict) or annotation.get("was_cancelled"):
            continue
        row = _whose_game(task["data"]) | {
            "rater": _rater(annotation.get("completed_by")),
            "rated_at": _cell(annotation.get("created_at")),
            "token": _token(annotation.get("unique_id")),
        }
        results = annotation.get("result")
        for result in results if isinstance(results, list) else []:
            value = result.get("value") if isinstance(result, dict) else None
            name = result.get("from_name") if isinstance(result, dict) else None
            if isinstance(value, dict) and name in (_SCORE, _COMMENT, *QUESTION_COLUMNS):
                row[name] = _cell(next(iter(value.values()), ""))
        yield row


def _rater(value: Any) -> str:
    if isinstance(value, dict):
        return next((_cell(value[key]) for key in ("email", "username", "id") if value.get(key)), "")
    return _cell(value)


def _token(value: Any) -> str:
    """A token as Dramaturg writes it, where the tool kept it or wrote it as a UUID."""
    written = _cell(value)
    try:
        return uuid.UUID(written).hex
    except ValueError:
        return written


def _rows_of_record(record: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    metadata = record.get("metadata")
    game = _whose_game(metadata if isinstance(metadata, dict) else {})
    game["transcript_id"] = game["transcript_id"] or _cell(record.get("id"))
    rows: dict[str, dict[str, str]] = {}
    for name, value, rater, status in _responses(record["responses"]):
        if name in (_SCORE, _COMMENT, *QUESTION_COLUMNS) and status in (None, "submitted"):
            rows.setdefault(rater, game | {"rater": rater})[name] = _cell(value)
    yield from rows.values()


def _responses(held: Any) -> Iterator[tuple[str, Any, str, Any]]:
    """Question, value, user and status of each response, in the shapes of both versions of Argilla."""
    if isinstance(held, dict):
        pairs = [(name, one) for name, answers in held.items() if isinstance(answers, list) for one in answers]
        for name, one in pairs:
            if isinstance(one, dict):
                yield name, one.get("value"), _cell(one.get("user_id")), one.get("status")
    for one in held if isinstance(held, list) else []:
        values = one.get("values") if isinstance(one, dict) else None
        for name, answer in values.items() if isinstance(values, dict) else ():
            value = answer.get("value") if isinstance(answer, dict) else answer
            yield name, value, _cell(one.get("user_id")), one.get("status")
        if isinstance(one, dict) and isinstance(one.get("question_name"), str):
            yield one["question_name"], one.get("value"), _cell(one.get("user_id")), one.get("status")


def _cell(value: Any) -> str:
    """A value as a cell: the first of a list, whole numbers without a fraction."""
    if isinstance(value, list):
        return _cell(value[0]) if value else ""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(value)
