"""Exchange games and ratings with annotation tools: tasks of Label Studio and records of Argilla, both ways.

What comes back becomes a sheet of ratings, so that the same checks hold for it: all of its rows are stored or none.
"""

from __future__ import annotations

import csv
import hashlib
import io
import json
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any, Literal
from xml.etree import ElementTree

from evaluation.errors import BrokenTranscriptError, InputError
from evaluation.escaping import is_formula
from evaluation.rating_desk.sheet_format import COLUMNS, QUESTION_COLUMNS
from evaluation.ratings import HIGHEST_SCORE, LOWEST_SCORE, SCORES, Rating
from evaluation.rubric.rating_guide import QUESTIONS, SCALE_POINTS
from evaluation.transcript import Transcript

Tool = Literal["argilla", "label-studio"]

_SCORE, _COMMENT, _RATER, _DIALOGUE, _CHAT = "score", "comment", "rater", "dialogue", "chat"
_RATINGS = "ratings"
_ANSWERS = (_SCORE, *QUESTION_COLUMNS, _COMMENT)
_TITLES = ("How interesting was the conversation?", *QUESTIONS, "Comment")
# What Argilla's server refuses to exceed (argilla-server 2.8.0).
_LONGEST_ROLE, _LONGEST_CONTENT, _MOST_ENTRIES = 20, 20_000, 500
_USERS = uuid.UUID("0f6a3f0e-6c0e-5a53-9c0b-3c1d1c0a7e52")
_SAVED_AT_ONCE = timedelta(seconds=1)
_NO_RATINGS = "Expected tasks of Label Studio with annotations, or records of Argilla with responses."


def annotation_export(tool: Tool, transcripts: Iterable[Transcript], ratings: Sequence[Rating]) -> list[dict[str, Any]]:
    """The games with the ratings that they have, as plain data for JSON.

    Label Studio gets one task a game and one annotation a rating. Argilla gets one record a game; its responses hold
    one answer a rater, so of revised ratings the latest. Both must be set up as :func:`annotation_settings` says.

    Label Studio refuses annotations of people who are not members of it, and forgets times and identifiers. So the
    rater's name is an answer of its own, and the rating's time stands in what it keeps as it is. Argilla knows
    people by UUID: a rater's is made from the name, the name stands in the record's metadata.

    Raises:
        InputError: A game has more messages than Argilla takes in a record.
    """
    by_game: dict[str, list[Rating]] = {}
    for rating in ratings:
        by_game.setdefault(rating.transcript_id, []).append(rating)
    make = _task if tool == "label-studio" else _record
    return [make(number, one, by_game.get(one.id, [])) for number, one in enumerate(transcripts, start=1)]


def annotation_settings(tool: Tool) -> str:
    """Settings that a tool needs to show the games and ask the questions.

    Returns:
        The labelling configuration of a project of Label Studio (XML), or the settings of a dataset of Argilla (JSON,
        as ``argilla.Settings.from_json`` reads them).
    """
    return _labelling_configuration() if tool == "label-studio" else json.dumps(_argilla_settings(), indent=2)


def _labelling_configuration() -> str:
    view = ElementTree.Element("View")
    shown = {"value": f"${_DIALOGUE}", "layout": "dialogue", "nameKey": "author", "textKey": "text"}
    ElementTree.SubElement(view, "Paragraphs", {"name": _DIALOGUE, **shown})
    for name, title in (*zip(_ANSWERS, _TITLES, strict=True), (_RATER, "Rater, where it is not your account")):
        ElementTree.SubElement(view, "Header", {"value": title, "size": "4"})
        asked = {"name": name, "toName": _DIALOGUE}
        if name == _SCORE:
            limits = {"min": str(LOWEST_SCORE), "max": str(HIGHEST_SCORE), "step": "0.5"}
            ElementTree.SubElement(view, "Number", asked | limits | {"required": "true"})
        elif name in QUESTION_COLUMNS:
            choices = ElementTree.SubElement(view, "Choices", asked | {"choice": "single", "showInline": "true"})
            for word in ("yes", "no"):
                ElementTree.SubElement(choices, "Choice", {"value": word})
        else:
            ElementTree.SubElement(view, "TextArea", asked | {"maxSubmissions": "1", "editable": "true"})
    ElementTree.indent(view)
    return ElementTree.tostring(view, encoding="unicode")


def _argilla_settings() -> dict[str, Any]:
    scale = "\n".join(f"{point.score}: {point.name}. {point.summary}." for point in SCALE_POINTS)
    # Argilla's own rating takes whole numbers only.
    scores, words = (
        [{"value": word, "text": word, "description": None} for word in labels]
        for labels in (map(str, SCORES), ("yes", "no"))
    )
    questions = []
    for name, title in zip(_ANSWERS, _TITLES, strict=True):
        if name == _SCORE:
            asked: dict[str, Any] = {"type": "label_selection", "options": scores}
        elif name == _COMMENT:
            asked = {"type": "text", "use_markdown": False}
        else:
            asked = {"type": "label_selection", "options": words}
        questions.append({"name": name, "title": title, "required": name == _SCORE, "settings": asked})
    chat = {"type": "chat", "use_markdown": False}
    return {
        "guidelines": f"Rate the whole conversation from {LOWEST_SCORE} to {HIGHEST_SCORE}.\n{scale}",
        "fields": [{"name": _CHAT, "title": "Conversation", "required": True, "settings": chat}],
        "questions": questions,
        "metadata": [],
        "vectors": [],
        "allow_extra_metadata": True,
    }


def _task(number: int, transcript: Transcript, ratings: Sequence[Rating]) -> dict[str, Any]:
    dialogue = [{"author": message.speaker, "text": message.text} for message in transcript.discussion]
    return {
        "id": number,
        "data": {"transcript_id": transcript.id, "game": transcript.game_id, _DIALOGUE: dialogue},
        "annotations": [_annotation(rating) for rating in ratings],
    }


def _annotation(rating: Rating) -> dict[str, Any]:
    result = [_result(_SCORE, "number", {"number": rating.score}) | {"meta": _origin(rating)}]
    for name, answer in _answers(rating):
        result.append(_result(name, "choices", {"choices": [answer]}))
    if rating.comment:
        result.append(_result(_COMMENT, "textarea", {"text": [rating.comment]}))
    result.append(_result(_RATER, "textarea", {"text": [rating.rater]}))
    return {"ground_truth": False, "result": result}


def _result(name: str, kind: str, value: dict[str, Any]) -> dict[str, Any]:
    return {"id": name, "from_name": name, "to_name": _DIALOGUE, "type": kind, "value": value}


def _record(number: int, transcript: Transcript, ratings: Sequence[Rating]) -> dict[str, Any]:
    latest = {rating.rater: rating for rating in sorted(ratings, key=lambda one: one.created_at)}
    responses: dict[str, list[dict[str, Any]]] = {}
    origins = {}
    for rating in latest.values():
        user = str(uuid.uuid5(_USERS, rating.rater))
        origins[user] = {"rater": rating.rater, **_origin(rating)}
        answers: list[tuple[str, Any]] = [(_SCORE, str(rating.score)), *_answers(rating)]
        answers += [(_COMMENT, rating.comment)] if rating.comment else []
        for name, value in answers:
            answer = {"value": value, "user_id": user, "status": "submitted"}
            responses.setdefault(name, []).append(answer)
    metadata = {"transcript_id": transcript.id, "game": transcript.game_id, "number": number}
    return {
        "id": transcript.id,
        "fields": {_CHAT: _chat(transcript)},
        # As text: Argilla's metadata holds texts and numbers.
        "metadata": metadata | ({_RATINGS: json.dumps(origins)} if origins else {}),
        "responses": responses,
        "suggestions": {},
    }


def _chat(transcript: Transcript) -> list[dict[str, str]]:
    chat: list[dict[str, str]] = []
    for message in transcript.discussion:
        role, text = message.speaker, message.text
        if len(role) > _LONGEST_ROLE:
            role, text = f"{role[: _LONGEST_ROLE - 1]}…", f"{role}: {text}"
        parts = range(0, len(text), _LONGEST_CONTENT)
        chat += [{"role": role, "content": text[start : start + _LONGEST_CONTENT]} for start in parts]
    if len(chat) > _MOST_ENTRIES:
        raise InputError(
            f"The game has {len(chat)} messages; a record of Argilla holds at most {_MOST_ENTRIES}.",
            place=transcript.game_id,
            remedy="Export it for Label Studio, or rate it on the Rate page.",
        )
    return chat


def _origin(rating: Rating) -> dict[str, str]:
    """Identity of a rating that a tool hands back with the answers, to know ratings again that nobody changed."""
    row = {_SCORE: str(rating.score), **dict(_answers(rating)), _COMMENT: rating.comment, _RATER: rating.rater}
    return {"rated_at": rating.created_at.isoformat(), "said": _digest(row)}


def _digest(row: Mapping[str, str]) -> str:
    said = json.dumps([row.get(name, "") for name in (*_ANSWERS, _RATER)])
    return hashlib.sha256(said.encode()).hexdigest()[:16]


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
        row = _whose_game(task["data"]) | {_RATER: _rater(annotation.get("completed_by"))}
        origin = None
        results = annotation.get("result")
        for result in results if isinstance(results, list) else []:
            value = result.get("value") if isinstance(result, dict) else None
            name = result.get("from_name") if isinstance(result, dict) else None
            if isinstance(value, dict) and name in (*_ANSWERS, _RATER):
                # Nobody fills in a name that is the account's.
                row[name] = _cell(next(iter(value.values()), "")) or row.get(name, "")
                origin = result.get("meta") if name == _SCORE else origin
        yield row | (_known(row, origin) or _time(annotation))


def _known(row: Mapping[str, str], origin: Any) -> dict[str, str]:
    """Time of a rating that comes back as it went out; nothing where its answers were changed."""
    if not isinstance(origin, dict) or origin.get("said") != _digest(row):
        return {}
    return {"rated_at": _cell(origin.get("rated_at"))}


def _time(annotation: Mapping[str, Any]) -> dict[str, str]:
    """Time at which a person gave or last changed it; an annotation that was changed is another rating."""
    made, changed = _cell(annotation.get("created_at")), _cell(annotation.get("updated_at"))
    return {"rated_at": changed if changed and _is_later(changed, made) else made}


def _is_later(changed: str, made: str) -> bool:
    try:
        return datetime.fromisoformat(changed) - datetime.fromisoformat(made) > _SAVED_AT_ONCE
    except (ValueError, TypeError):
        return False


def _rater(value: Any) -> str:
    if isinstance(value, dict):
        return next((_cell(value[key]) for key in ("email", "username", "id") if value.get(key)), "")
    return _cell(value)


def _rows_of_record(record: Mapping[str, Any]) -> Iterator[dict[str, str]]:
    metadata = record.get("metadata")
    game = _whose_game(metadata if isinstance(metadata, dict) else {})
    game["transcript_id"] = game["transcript_id"] or _cell(record.get("id"))
    origins = _origins(metadata)
    rows: dict[str, dict[str, str]] = {}
    for name, value, user, status in _responses(record["responses"]):
        if name in _ANSWERS and status in (None, "submitted"):
            rater = _cell(origins[user].get(_RATER)) if user in origins else user
            rows.setdefault(user, game | {_RATER: rater})[name] = _cell(value)
    for user, row in rows.items():
        yield row | _known(row, origins.get(user))


def _origins(metadata: Any) -> dict[str, dict[str, Any]]:
    """Origin of each user's rating, by the user's UUID."""
    try:
        held = json.loads(metadata[_RATINGS])
    except (KeyError, TypeError, ValueError, RecursionError):
        return {}
    return {user: one for user, one in held.items() if isinstance(one, dict)} if isinstance(held, dict) else {}


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
