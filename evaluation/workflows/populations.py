"""Make personas of a population with a model, and write personas as agent files of TinyTroupe."""

from __future__ import annotations

import asyncio
import json
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from evaluation.errors import InputError
from evaluation.judging.cached_judge import CallBuffer
from evaluation.judging.judge_config import JudgeConfig, build_client
from evaluation.judging.model_client.budget import Budget
from evaluation.judging.model_client.calls import Provider
from evaluation.simulation.model_texts import Writer
from evaluation.simulation.population import NAMES_AT_ONCE, AgentFactory, Profile
from evaluation.store import Store
from evaluation.text.agent_names import require_distinct_agents, slug_of

_PLANNING_CALLS = 2


def calls_for(size: int) -> int:
    """The calls that ``generate_personas`` makes where every answer keeps to the form."""
    return size + math.ceil(size / NAMES_AT_ONCE) + _PLANNING_CALLS


def generate_personas(
    store: Store,
    profile: Profile,
    size: int,
    seed: int,
    config: JudgeConfig,
    *,
    budget: Budget,
    provider: Provider | None = None,
    advance: Callable[[int, int], None] | None = None,
) -> list[dict[str, Any]]:
    """Personas of a population, always the same for the same seed and answers.

    Every answer is stored before it is used: a run that is broken off goes on when it is started again.

    Args:
        store: Keeps the answers.
        profile: Who is in the population.
        size: How many personas.
        seed: Draws what each person is like.
        config: Of a live model.
        budget: What may be spent.
        provider: Takes the place of litellm in tests.
        advance: Told how many personas are written, and of how many.

    Raises:
        JSONParseError: The model does not keep to the form.
        JudgeError: The model cannot be asked.
        BudgetSpentError: Nothing more may be spent.
    """
    calls = CallBuffer()
    writer = Writer(
        build_client(config, budget=budget, log=calls.add, provider=provider),
        scope=f"population {profile.id}",
        cache=store.generations,
        calls=calls,
        salt=seed,
    )

    async def make() -> list[dict[str, Any]]:
        def report(_stage: str, done: int, total: int) -> None:
            if advance is not None:
                advance(done, total)

        async with writer.session():
            return await AgentFactory(writer, profile, seed=seed).make(size, report=report)

    return asyncio.run(make())


def write_agent_files(folder: Path, personas: Sequence[Mapping[str, Any]], *, overwrites: bool = False) -> list[Path]:
    """Writes one ``<name>.agent.json`` per persona, in the shape of TinyTroupe's agent files.

    Args:
        folder: Where to; it is made if need be.
        personas: Each with a ``name``.
        overwrites: Whether files that exist are replaced.

    Raises:
        InputError: A file exists already, two personas would be one agent, or the folder cannot be written to.
    """
    require_distinct_agents([str(persona["name"]) for persona in personas], str(folder))
    paths = {folder / f"{slug_of(str(persona['name']))}.agent.json": persona for persona in personas}
    if not overwrites and (taken := [path for path in paths if path.exists()]):
        raise InputError("The file exists already.", place=str(taken[0]), remedy="Name another folder, or say --force.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path, persona in paths.items():
            text = json.dumps({"type": "TinyPerson", "persona": dict(persona)}, ensure_ascii=False, indent=2)
            path.write_text(f"{text}\n", encoding="utf-8")
    except OSError as error:
        remedy = "Name a folder that you may write to."
        raise InputError(f"It cannot be written: {error.strerror}.", place=str(folder), remedy=remedy) from None
    return list(paths)
