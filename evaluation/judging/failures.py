"""What a call that failed means for people, and what they can do about it."""

from __future__ import annotations

from evaluation.errors import JudgeError
from evaluation.judging.retry import CallFailure, FailureKind

WRONG_FOR_ALL_CALLS = frozenset({401, 404})
"""What is refused for the key, or for the model's name or the address: any other call would be, too."""

_BY_STATUS = {
    400: "Look at the message: the prompt may be too long, or the model's name wrong.",
    401: "Put the right key into the environment (for example OPENAI_API_KEY).",
    403: "Ask the provider whether this key may use the model.",
    404: "Look at the model's name and at --base-url.",
    429: "Lower --concurrency, or try again later: what is done is kept.",
}
_BY_KIND = {
    FailureKind.CONNECTION: "Look at the network and at --base-url: is the server running?",
    FailureKind.TIMEOUT: "Give the model more time, or lower --concurrency.",
    FailureKind.SERVER_ERROR: "Try again later: what is done is kept.",
    FailureKind.BROKEN_RESPONSE: "Look at --base-url: does the server speak OpenAI's protocol?",
}


def explained(failure: CallFailure, model: str, attempts: int) -> JudgeError:
    """The error that tells what failed, how often it was tried, and the remedy."""
    times = f", {attempts} times" if attempts > 1 else ""
    status = f" (HTTP {failure.status})" if failure.status else ""
    return JudgeError(
        f"The model did not answer{times}: {failure.kind.value.replace('_', ' ')}{status}: {failure.message}",
        place=model,
        remedy=_BY_STATUS.get(failure.status or 0) or _BY_KIND.get(failure.kind, ""),
    )
