"""What models write in simulations: every text is kept before it is used, so that nothing is paid for twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from evaluation.errors import JSONParseError
from evaluation.judging.cached import CallBuffer
from evaluation.judging.calls import CallPurpose, CallRecord, Messages
from evaluation.judging.formats import CORRECTION
from evaluation.judging.llm import MAX_TOKENS, LLMClient
from evaluation.judging.parsing import AnswerError, Validate, Value, parse_answer
from evaluation.judging.usage import Usage

WRITING_VERSION = "writing-1"

_LONGEST_ECHO = 4_000


@dataclass(frozen=True, slots=True)
class Generation:
    """A text that a model wrote.

    Attributes:
        key: The address of the question: SHA-256 (hex) of model, temperature, salt and conversation.
        scope: The experiment that it was written for.
        subject: What it is, for people: "treatment 3, step 2: Ann Lee".
    """

    key: str
    scope: str
    model: str
    purpose: str
    subject: str
    text: str
    usage: Usage


class GenerationCache(Protocol):
    """Where texts are kept; the store has one."""

    def of_scope(self, scope: str) -> Mapping[str, str]:
        """All texts of a scope by key."""
        ...

    def keep(self, generations: Sequence[Generation], calls: Sequence[CallRecord] = ()) -> None:
        """Keeps texts and the calls made meanwhile; both are safe when it returns.

        It is called in the event loop, so it must not wait for a database.
        """
        ...


class Writer:
    """Lets a model write, or gives back what it wrote when it was asked the same before.

    Args:
        client: The connection to the model.
        scope: The experiment; texts of another one are not looked at.
        cache: Where texts are kept; without one nothing outlives the writer.
        calls: Where the client logs its calls; they are stored along with the texts.
        temperature: Of what agents say.
        salt: Changes every key: the experiment's seed.
    """

    def __init__(
        self,
        client: LLMClient,
        *,
        scope: str = "",
        cache: GenerationCache | None = None,
        calls: CallBuffer | None = None,
        temperature: float = 1.0,
        salt: int = 0,
    ) -> None:
        self._client = client
        self._scope = scope
        self._cache = cache
        self._calls = calls or CallBuffer()
        self._temperature = temperature
        self._salt = salt
        self._known: dict[str, str] = dict(cache.of_scope(scope)) if cache else {}

    @property
    def model(self) -> str:
        """The model that writes."""
        return self._client.model

    async def write(
        self, messages: Messages, *, purpose: str, subject: str, temperature: float | None = None, max_tokens: int = 400
    ) -> str:
        """The model's text, kept before it is returned.

        Raises:
            JudgeError: The model cannot be asked.
            BudgetSpentError: Nothing more may be spent.
            StoreError: The text could not be kept.
        """
        heat = self._temperature if temperature is None else temperature
        key = self._key(messages, heat, max_tokens)
        if key in self._known:
            return self._known[key]
        response = await self._client.complete(messages, heat, max_tokens, purpose=CallPurpose(purpose, 0))
        found = Generation(key, self._scope, self.model, purpose, subject, response.content, response.usage)
        if self._cache is not None:
            self._cache.keep([found], self._calls.take())
        self._known[key] = found.text
        return found.text

    async def write_json(
        self, messages: Messages, validate: Validate[Value], *, purpose: str, subject: str, retries: int = 3
    ) -> Value:
        """What ``validate`` makes of the model's answer; a wrong one is asked again with its error named.

        Raises:
            JSONParseError: No try gave such an object.
            JudgeError: As ``write``.
            BudgetSpentError: As ``write``.
        """
        conversation = list(messages)
        written: list[str] = []
        problem = ""
        for _ in range(retries + 1):
            text = await self.write(conversation, purpose=purpose, subject=subject, max_tokens=4 * MAX_TOKENS)
            written.append(text)
            try:
                return parse_answer(text, validate)
            except AnswerError as error:
                problem = str(error)
            conversation += [
                {"role": "assistant", "content": text[:_LONGEST_ECHO]},
                {"role": "user", "content": CORRECTION.format(problem=problem)},
            ]
        raise JSONParseError(
            f"What the model wrote is not what was asked for ({subject}): {problem}.",
            raw="\n\n".join(written),
            place=self.model,
            remedy="Take a model that keeps to a form, or another seed.",
        )

    def _key(self, messages: Messages, temperature: float, max_tokens: int) -> str:
        said = [[message["role"], message["content"]] for message in messages]
        parts = [WRITING_VERSION, self.model, temperature, max_tokens, self._salt, said]
        return hashlib.sha256(json.dumps(parts).encode("ascii")).hexdigest()
