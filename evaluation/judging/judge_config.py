"""Build a judge from options, environment and settings, and check that its server can be reached."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.error import HTTPError, URLError
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from evaluation.errors import InputError, JudgeError
from evaluation.files.bundled import shipped
from evaluation.judging.answers import describe
from evaluation.judging.cached_judge import CachedJudge, CallBuffer, JudgementCache
from evaluation.judging.live_judge import LiteLLMJudge
from evaluation.judging.model_client.budget import Budget
from evaluation.judging.model_client.calls import CallLog, CallRecord, Provider
from evaluation.judging.model_client.language_model import DEFAULT_CONCURRENCY, MAX_TOKENS, TIMEOUT_SECONDS, LLMClient
from evaluation.judging.model_client.prices import Price
from evaluation.judging.model_client.provider import provider_of
from evaluation.judging.model_client.server_limits import ServerLimits, shared_limits
from evaluation.judging.protocol import LARGEST_BATCH, Judge, JudgeKind, Judgement, JudgeRequest, Report

if TYPE_CHECKING:
    from evaluation.judging.live_judge import EstimatingJudge

SETTINGS_KEY = "judge"
"""Where the store's settings keep what a person chose; never a key of a provider."""

DEFAULT_MODEL = "gpt-4o-mini"

_MODE_VARIABLE = "DRAMATURG_JUDGE"
_MODEL_VARIABLE = "DRAMATURG_MODEL"
_ADDRESS_VARIABLE = "OPENAI_BASE_URL"
_PRICES_VARIABLE = "DRAMATURG_PRICING"
_REMEDY = "Correct the option, the environment variable or the setting."


class JudgeConfig(BaseModel):
    """All settings that decide how judgements are made.

    Attributes:
        mode: ``live``, ``recorded`` or ``offline``; when left out, live with a key or an address, else offline.
        model: The model asked, or the one whose recordings are played.
        base_url: The address of an OpenAI-compatible server.
        concurrency: The most calls under way at the same time.
        batch_size: Questions in a call; 1 for the accuracy of asking each alone.
        timeout_seconds: How long the server may be silent in a call.
        max_tokens: The most that the model may write for an answer, its reasoning included.
        max_usd: What may be spent, in US dollars.
        max_calls: How many calls may be made.
        pricing: A file with prices per model, see ``prices``.
        recordings: A file or folder with recordings; those that come with Dramaturg when left out.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    mode: Literal["live", "recorded", "offline"] | None = None
    model: str = Field(default=DEFAULT_MODEL, min_length=1, max_length=200)
    base_url: str | None = None
    concurrency: int = Field(default=DEFAULT_CONCURRENCY, ge=1, le=1_000)
    batch_size: int = Field(default=LARGEST_BATCH, ge=1, le=LARGEST_BATCH)
    timeout_seconds: float = Field(default=TIMEOUT_SECONDS, gt=0, le=3_600)
    max_tokens: int = Field(default=MAX_TOKENS, ge=100, le=1_000_000)
    max_usd: float | None = Field(default=None, ge=0, allow_inf_nan=False)
    max_calls: int | None = Field(default=None, ge=0)
    pricing: Path | None = None
    recordings: Path | None = None

    @field_validator("base_url")
    @classmethod
    def _is_address(cls, value: str | None) -> str | None:
        if value is None:
            return None
        parts = urlsplit(value)
        if parts.scheme not in {"http", "https"} or not parts.hostname or parts.port == 0:
            raise ValueError("is not an address of a server; give one such as http://localhost:8080/v1")
        if parts.username or parts.password:
            raise ValueError("must not hold a user name or a password; keys come from the environment")
        return value.rstrip("/")


def judge_config(
    options: Mapping[str, Any] | None = None,
    stored: Mapping[str, Any] | None = None,
    environment: Mapping[str, str] | None = None,
) -> JudgeConfig:
    """The configuration in force: ``options`` before the environment before what is ``stored`` before the defaults.

    The environment's names are ``DRAMATURG_JUDGE`` (mode), ``DRAMATURG_MODEL``, ``OPENAI_BASE_URL`` and
    ``DRAMATURG_PRICING``; keys of providers (``OPENAI_API_KEY``, ...) are looked at, never read.

    Args:
        options: Fields of ``JudgeConfig`` from the command line or a page; ``None`` for those not given.
        stored: The same from the store's settings or a file.
        environment: The process's own when left out.

    Raises:
        InputError: A value is not usable; names the field.
    """
    environment = os.environ if environment is None else environment
    fields = {**_given(stored), **_given(_from_environment(environment)), **_given(options)}
    try:
        config = JudgeConfig.model_validate(fields)
    except ValidationError as error:
        raise InputError(f"{describe(error)}.", place="judge", remedy=_REMEDY) from None
    if config.mode is not None:
        return config
    is_reachable = config.base_url is not None or has_key(config.model, environment)
    return config.model_copy(update={"mode": "live" if is_reachable else "offline"})


def has_key(model: str, environment: Mapping[str, str] | None = None) -> bool:
    """Whether the environment holds a key for the model's provider."""
    environment = os.environ if environment is None else environment
    provider, slash, _ = model.partition("/")
    return bool(environment.get(f"{provider.upper() if slash else 'OPENAI'}_API_KEY"))


def _given(fields: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: value for name, value in (fields or {}).items() if value is not None and value != ""}


def _from_environment(environment: Mapping[str, str]) -> dict[str, Any]:
    return {
        "mode": environment.get(_MODE_VARIABLE),
        "model": environment.get(_MODEL_VARIABLE),
        "base_url": environment.get(_ADDRESS_VARIABLE),
        "pricing": environment.get(_PRICES_VARIABLE),
    }


@dataclass(frozen=True, slots=True)
class ChosenJudge:
    """A judge with what people want to know of it.

    Attributes:
        kind: Which kind of judge it is, as scores say on screen.
        model: Whom judgements are filed under.
        budget: What may be spent, what was, and the switch that stops the run.
        client: The connection to the model; ``None`` without one.
    """

    inner: Judge
    kind: JudgeKind
    model: str
    budget: Budget
    client: LLMClient | None = None

    async def judge(self, requests: Sequence[JudgeRequest], *, report: Report | None = None) -> list[Judgement]:
        """One judgement per request, in order."""
        return await self.inner.judge(requests, report=report)

    @asynccontextmanager
    async def session(self) -> AsyncIterator[None]:
        """Keeps connections open over several rounds of requests."""
        async with self.client.session() if self.client else nullcontext():
            yield

    async def prepare(self) -> None:
        """Loads what the first call needs, so that it does not count as the judge's time."""
        if self.client is not None:
            await self.client.prepare()


def build_judge(
    config: JudgeConfig,
    *,
    cache: JudgementCache | None = None,
    budget: Budget | None = None,
    run_id: str | None = None,
    log: CallLog | None = None,
    provider: Provider | None = None,
    server: str | None = None,
    is_cache_quick: bool = False,
) -> ChosenJudge:
    """The judge that ``config`` describes.

    Args:
        config: As ``judge_config`` gives it.
        cache: Where a live judge's answers are looked up and kept (``store.judgements``).
        budget: Shared with others; made of the configuration's limits when left out.
        run_id: The evaluation run that calls are logged under.
        log: Told of every call of a live judge; the cache stores them, too.
        provider: Takes the place of litellm, in simulations and tests.
        server: What the keys of answers call the server, where its address changes; the address when left out.
        is_cache_quick: Whether the cache is called in the event loop, as it waits for nothing.

    Raises:
        InputError: Recordings or prices cannot be read.
    """
    budget = budget or Budget(usd=config.max_usd, calls=config.max_calls)
    if config.mode != "live":
        return _without_model(config, budget)
    calls = CallBuffer()

    def record(call: CallRecord) -> None:
        if cache is not None:
            calls.add(call)
        if log is not None:
            log(call)

    client = build_client(config, budget=budget, log=record, run_id=run_id, provider=provider)
    # Two servers may give one name to two models.
    server = config.base_url or "" if server is None else server
    judge: Judge = LiteLLMJudge(client, batch_size=config.batch_size, server=server, max_tokens=config.max_tokens)
    if cache is not None:
        judge = CachedJudge(judge, cache, model=config.model, server=server, calls=calls, is_quick=is_cache_quick)
    return ChosenJudge(judge, JudgeKind.LIVE, config.model, budget, client)


def _without_model(config: JudgeConfig, budget: Budget) -> ChosenJudge:
    # Imported here, so that judges that are not chosen cost nothing.
    from evaluation.judging.judges_without_model import OFFLINE_MODEL, OfflineJudge, RecordedJudge, read_recordings

    if config.mode == "recorded":
        played = RecordedJudge(read_recordings(config.recordings or shipped("data/recordings")), model=config.model)
        return ChosenJudge(played, JudgeKind.RECORDED, config.model, budget)
    return ChosenJudge(OfflineJudge(), JudgeKind.OFFLINE, OFFLINE_MODEL, budget)


def build_client(
    config: JudgeConfig,
    *,
    budget: Budget | None = None,
    log: CallLog | None = None,
    run_id: str | None = None,
    provider: Provider | None = None,
) -> LLMClient:
    """The connection to the model that ``config`` names, for whatever else asks a model.

    Raises:
        InputError: The file with prices cannot be read.
    """
    prices = own_prices(config)
    # A provider of a simulation's or a test's own is a server of its own, unless an address is named.
    is_own = provider is not None and config.base_url is None
    limits = ServerLimits(config.model) if is_own else shared_limits(config.model, config.base_url or "")
    return LLMClient(
        provider or provider_of(config.model, config.base_url),
        timeout_seconds=config.timeout_seconds,
        budget=budget,
        log=log,
        prices=prices,
        run_id=run_id,
        server=limits,
        concurrency=config.concurrency,
    )


def build_estimate(config: JudgeConfig, cache: JudgementCache | None = None) -> EstimatingJudge:
    """The judge that counts the calls which the live judge of ``config`` would make; other judges make none.

    Raises:
        InputError: The file with prices cannot be read.
    """
    from evaluation.judging.live_judge import EstimatingJudge

    return EstimatingJudge(
        config.model,
        server=config.base_url or "",
        cache=cache,
        batch_size=config.batch_size,
        price=price_of(config),
    )


def own_prices(config: JudgeConfig) -> dict[str, Price]:
    """The prices in the user's price list by model; none if there is no list.

    Raises:
        InputError: The file cannot be read.
    """
    if config.pricing is None:
        return {}
    from evaluation.judging.model_client.prices import read_prices

    return dict(read_prices(config.pricing))


def price_of(config: JudgeConfig) -> Price | None:
    """The price of the model's tokens: from the user's list, else from the price map that ships with litellm.

    Raises:
        InputError: The file cannot be read.
    """
    from evaluation.judging.model_client.prices import listed_price

    return own_prices(config).get(config.model) or listed_price(config.model)


PROBE_SECONDS = 4.0
"""How long a server may be silent."""

_OPENAI = "https://api.openai.com/v1"
# What a gateway says whose server is away. Any other status is a server that talks.
_AWAY = frozenset({502, 503, 504})


def probe(config: JudgeConfig, *, seconds: float = PROBE_SECONDS, environment: Mapping[str, str] | None = None) -> None:
    """Returns once the judge's server gave any answer at all; asks no model and costs nothing.

    Of providers other than OpenAI the first call will tell.

    Args:
        config: Of a live judge.
        seconds: How long to wait.
        environment: Where keys are looked for; the process's own when left out.

    Raises:
        JudgeError: There is neither a key nor an address, or nothing answers.
    """
    if config.base_url is None and "/" in config.model:
        return
    if config.base_url is None and not has_key(config.model, environment if environment is not None else os.environ):
        raise JudgeError(
            f"There is no key for {config.model} in the environment.",
            remedy="Set the provider's key (for example OPENAI_API_KEY), or give --base-url.",
        )
    address = config.base_url or _OPENAI
    if problem := _problem(f"{address}/models", seconds):
        raise JudgeError(
            f"The judge cannot be reached: {problem}.",
            place=address.partition("?")[0],
            remedy="Look at the network and at --base-url: is the server running?",
        )


def _problem(url: str, seconds: float) -> str:
    try:
        with urlopen(Request(url, headers={"User-Agent": "dramaturg"}), timeout=seconds):
            return ""
    except HTTPError as error:
        error.close()
        return f"HTTP {error.code}" if error.code in _AWAY else ""
    except TimeoutError:
        return f"no answer within {seconds:g} s"
    except URLError as error:
        return str(error.reason)
    except (HTTPException, OSError):
        # Somebody took the connection, and speaks another way than expected here.
        return ""
    except ValueError as error:
        return str(error)
