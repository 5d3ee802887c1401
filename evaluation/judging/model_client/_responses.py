"""Read what a server of the chat completions protocol says; the direct way and litellm both end here."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from evaluation.judging._redaction import message_without_secrets, without_secrets
from evaluation.judging.answers import AnswerError, json_objects, object_spans
from evaluation.judging.model_client.calls import (
    CallFailure,
    FailureKind,
    LLMResponse,
    Usage,
    kind_of_status,
    plausible_tokens,
)
from evaluation.text.reasoning import REASONING_TAG, ends_reasoning

_TOKEN_LIMITS = ("max_tokens", "max_completion_tokens")
"""The names of the limit of written tokens, the one that most servers know first."""


class Parameters:
    """The parameters of a run's calls: a parameter that the server refused once is not sent again."""

    def __init__(self) -> None:
        self._refused: set[str] = set()

    def fields(self, temperature: float, max_tokens: int) -> dict[str, float | int]:
        """The fields of a request: without a refused temperature, the limit of tokens under a name that is taken."""
        sent: dict[str, float | int] = {} if "temperature" in self._refused else {"temperature": temperature}
        limits = [name for name in _TOKEN_LIMITS if name not in self._refused]
        return sent | ({limits[0]: max_tokens} if limits else {})

    def read(self, body: Any, sent: Mapping[str, float | int]) -> LLMResponse:
        """The answer in ``body``, as ``read_completion``; an error in it may be about a parameter, too."""
        try:
            return read_completion(body, sent)
        except CallFailure as failure:
            raise self.failure(failure, sent) from None

    def failure(self, failure: CallFailure, sent: Collection[str]) -> CallFailure:
        """``failure``, or the one that says which of the parameters ``sent`` the server refuses, and is remembered."""
        name = _refused_parameter(failure, sent)
        if name is None:
            return failure
        self._refused.add(name)
        return CallFailure(FailureKind.PARAMETER_REFUSED, failure.message, status=failure.status)


_UNPROCESSABLE = frozenset({400, 422})
_IS_REFUSED = re.compile(
    r"\b(?:must be|unsupported|unrecogni[sz]ed|unknown|unexpected|deprecated|extra|invalid"
    r"|(?:not|n't|only|does not|no longer) (?:be )?(?:support\w*|permitted|allowed|accept\w*|the default))\b"
    r"|only .{0,40}supported",
    re.IGNORECASE,
)


def _refused_parameter(failure: CallFailure, sent: Collection[str]) -> str | None:
    """The parameter that a refusal is about: the one it names as its cause, else the first one in its words."""
    if failure.kind is not FailureKind.REFUSED or failure.status not in _UNPROCESSABLE:
        return None
    if failure.parameter in sent:
        return failure.parameter
    if not _IS_REFUSED.search(failure.message):
        return None
    named = re.findall(r"\b(?:max_completion_tokens|max_tokens|temperature)\b", failure.message)
    return next((name for name in named if name in sent), None)


def read_completion(body: Any, sent: Mapping[str, float | int]) -> LLMResponse:
    """The answer in the body of a response, without keys that the server repeats.

    Content may be a text, a list of parts, or missing. What a model wrote as its reasoning, in a field, in parts or in
    tags, is not part of the answer.

    Args:
        body: The response's JSON.
        sent: The parameters of the request.

    Raises:
        CallFailure: The body holds an error, a filtered or a refused answer, or none.
    """
    if isinstance(body, Mapping) and body.get("error"):
        raise read_error(body, None)
    choice = _first(body.get("choices")) if isinstance(body, Mapping) else None
    message = choice.get("message") if choice else None
    written = _text_of(message.get("content")) if isinstance(message, Mapping) else None
    if choice is None or not isinstance(message, Mapping) or written is None:
        is_empty = isinstance(body, Mapping) and body.get("choices") == []
        what = "the answer holds no choices" if is_empty else "the answer is not one of OpenAI's protocol"
        raise CallFailure(FailureKind.BROKEN_RESPONSE, what)
    finish = str(_extra(choice).get("native_finish_reason") or choice.get("finish_reason") or "").lower()
    if finish in _FILTERED_FINISHES:
        raise CallFailure(FailureKind.FILTERED, "the provider's content filter held the answer back")
    error = choice.get("error") or _extra(choice).get("error")
    if finish == "error" or error:
        raise read_error({"error": error or "the provider ended the answer with an error"}, None)
    raw = without_secrets(written)
    content = without_reasoning(raw)
    refusal = _refusal_in(message)
    if (refusal and not _has_object(content)) or (finish == "refusal" and not content.strip()):
        raise CallFailure(FailureKind.DECLINED, message_without_secrets(refusal or "it gave no reason"))
    if not content.strip() and finish in _TOOL_FINISHES:
        raise CallFailure(FailureKind.DECLINED, "it called a tool instead of answering")
    usage = _mapping(body.get("usage"))
    cached = _mapping(usage.get("prompt_tokens_details")).get("cached_tokens", 0)
    counts = (usage.get("prompt_tokens", 0), cached, usage.get("completion_tokens", 0))
    return LLMResponse(
        content=content,
        model=without_secrets(str(body.get("model") or ""))[:_LONGEST_NAME],
        usage=Usage(*map(plausible_tokens, counts)),
        is_cut_off=finish in _CUT_OFF_FINISHES,
        raw=raw,
        parameters=sent,
    )


_LONGEST_NAME = 300
_FILTERED_FINISHES = frozenset({"content_filter", "safety", "prohibited_content", "recitation"})
_CUT_OFF_FINISHES = frozenset({"length", "max_tokens"})
_TOOL_FINISHES = frozenset({"tool_calls", "function_call"})
_QUOTA_CODES = frozenset(
    {"insufficient_quota", "billing_hard_limit_reached", "billing_not_active", "quota_exceeded", "1113"}
)
_QUOTA_WORDS = re.compile(
    r"exceeded your current quota|credit balance is too low|insufficient (?:balance|credits?|funds|quota)"
    r"|credit limit exceeded|used all (?:available |of your )?credits|monthly spending limit",
    re.IGNORECASE,
)
_PAYMENT_REQUIRED = 402
_FILTER_CODES = frozenset({"content_filter", "content_policy_violation"})
_MODEL_CODES = frozenset({"model_not_found", "invalid_model", "model_not_supported"})
_KEY_CODES = frozenset({"invalid_api_key", "api_key_invalid", "authentication_error"})
_LENGTH_CODES = frozenset({"context_length_exceeded", "string_above_max_length"})
_LENGTH_WORDS = re.compile(r"maximum context length|prompt is too long|context window", re.IGNORECASE)
_TOKEN_LIMIT_WORDS = re.compile(
    r"\bmax_(?:completion_)?tokens\b.{0,60}(?:too (?:large|high|big)|at most|exceed|maximum|less than or equal)",
    re.IGNORECASE,
)
_KEY_WORDS = re.compile(r"api key (?:is )?(?:not valid|invalid)|(?:invalid|incorrect) api key", re.IGNORECASE)
_MODEL_WORDS = re.compile(r"not a valid model|(?:unknown|invalid) model|model .{1,100} does not exist", re.IGNORECASE)
_LATER_WORDS = re.compile(r"\b(?:retry|try again) (?:in|after)\b", re.IGNORECASE)


def read_error(body: Any, status: int | None, *, retry_after: float | None = None) -> CallFailure:
    """The failure that a server tells of, with its own message and without keys.

    Args:
        body: The response's JSON, or its text where it is none.
        status: The HTTP status; ``None`` for an error inside a response that says 200, whose own code counts then.
        retry_after: Seconds that the provider wants us to wait.
    """
    if isinstance(body, list) and body:
        # Google's servers put the error into a list.
        body = body[0]
    error = body.get("error", body) if isinstance(body, Mapping) else body
    fields = error if isinstance(error, Mapping) else {}
    message = fields.get("message") or (error if isinstance(error, str) else "")
    if not isinstance(message, str) or not message:
        message = json.dumps(error) if isinstance(error, Mapping | list) else str(error or "it did not say why")
    codes = {str(fields.get(name)).lower() for name in ("code", "type") if fields.get(name)}
    if status is None:
        status = _status_in(fields.get("code"))
    kind = FailureKind.SERVER_ERROR if status is None else kind_of_status(status)
    is_passing = retry_after is not None or bool(_LATER_WORDS.search(message))
    if codes & _QUOTA_CODES or status == _PAYMENT_REQUIRED or (_QUOTA_WORDS.search(message) and not is_passing):
        kind = FailureKind.QUOTA_SPENT
    elif codes & _FILTER_CODES:
        kind = FailureKind.FILTERED
    elif codes & _MODEL_CODES or (kind is FailureKind.REFUSED and _MODEL_WORDS.search(message)):
        kind = FailureKind.NOT_FOUND
    elif codes & _KEY_CODES or (kind is FailureKind.REFUSED and _KEY_WORDS.search(message)):
        kind = FailureKind.WRONG_KEY
    elif codes & _LENGTH_CODES or (kind is FailureKind.REFUSED and _LENGTH_WORDS.search(message)):
        kind = FailureKind.PROMPT_TOO_LONG
    elif kind is FailureKind.REFUSED and _TOKEN_LIMIT_WORDS.search(message):
        kind = FailureKind.TOKEN_LIMIT
    parameter = fields.get("param")
    return CallFailure(
        kind,
        message_without_secrets(message),
        status=status,
        retry_after=retry_after,
        parameter=parameter if isinstance(parameter, str) else None,
    )


_FIRST_ERROR_STATUS, _LAST_ERROR_STATUS = 400, 599


def _status_in(code: Any) -> int | None:
    """The HTTP status that a gateway puts into the error of a response that says 200."""
    try:
        status = int(code)
    except (TypeError, ValueError, OverflowError):
        return None
    return status if _FIRST_ERROR_STATUS <= status <= _LAST_ERROR_STATUS else None


def _first(choices: Any) -> Mapping[str, Any] | None:
    first = choices[0] if isinstance(choices, list) and choices else None
    return first if isinstance(first, Mapping) else None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _extra(part: Mapping[str, Any]) -> Mapping[str, Any]:
    """The fields that are not of the protocol, as litellm keeps them."""
    return _mapping(part.get("provider_specific_fields"))


def _text_of(content: Any) -> str | None:
    """The text of a message; ``None`` for what is not of the protocol. Of parts, those that are text."""
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return None
    texts = [_part_text(part) for part in content]
    return None if None in texts else "".join([text for text in texts if text])


def _part_text(part: Any) -> str | None:
    if isinstance(part, str):
        return part
    if not isinstance(part, Mapping):
        return None
    text = part.get("text")
    return text if part.get("type", "text") in {"text", "output_text"} and isinstance(text, str) else ""


def _refusal_in(message: Mapping[str, Any]) -> str:
    """The model's words of refusal, in a field of their own or in parts of the content; empty without any."""
    content = message.get("content")
    parts = [_mapping(part).get("refusal") for part in content] if isinstance(content, list) else []
    told = [_text_of(one) for one in (message.get("refusal"), _extra(message).get("refusal"), *parts)]
    return next((words.strip() for words in told if words and words.strip()), "")


def _has_object(content: str) -> bool:
    try:
        return next(json_objects(content), None) is not None
    except AnswerError:
        return False


def without_reasoning(text: str) -> str:
    """``text`` without blocks of reasoning in tags.

    A block without an end reaches to the end of the text, one without a beginning from its start. A tag inside a JSON
    object, such as in a reason that quotes a message, is text.
    """
    if not REASONING_TAG.search(text):
        return text
    outside: list[str] = []
    start = depth = 0
    for tag in _tags_between_objects(text):
        if ends_reasoning(tag):
            if depth == 0 and tag["details_end"]:
                # Other details than those of reasoning end like this, too.
                continue
            if depth == 0:
                # The server left out the first tag: all of it up to here was reasoning.
                outside = []
            depth = max(0, depth - 1)
            start = tag.end()
        else:
            if depth == 0:
                outside.append(text[start : tag.start()])
            depth += 1
    if depth == 0:
        outside.append(text[start:])
    return "".join(outside).strip()


def _tags_between_objects(text: str) -> Iterator[re.Match[str]]:
    try:
        spans = list(object_spans(text))
    except AnswerError:
        spans = []
    following = iter([*spans, (len(text), len(text))])
    begin, end = next(following)
    for tag in REASONING_TAG.finditer(text):
        while end <= tag.start() and begin < len(text):
            begin, end = next(following)
        if not begin <= tag.start() < end:
            yield tag
