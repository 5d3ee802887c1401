"""Check how well a model reads: 60 labelled messages of five sample games, beside rule and built-in reader."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from evaluation.errors import InputError
from evaluation.files.bundled import shipped
from evaluation.judging.cached_judge import JudgementCache
from evaluation.judging.judge_config import JudgeConfig, build_estimate, build_judge, has_key
from evaluation.judging.model_client.budget import spent_words
from evaluation.judging.model_client.calls import total
from evaluation.readers import read_transcripts
from evaluation.rubric_judge.game_reading import read_windows
from evaluation.rubric_judge.window_prompt import MessageWindow, windows
from evaluation.statistics.intervals import Interval, bootstrap_interval, proportion_interval
from evaluation.statistics.words import percent_interval
from evaluation.text.display import listed
from evaluation.validity import measured

QUESTIONS: Mapping[str, str] = {
    "strategic_depth": "is strategic",
    "answers": "answers what was said",
    "references": "holds a reference to the past",
    "acts": "speech acts with target (F1)",
}
_GAMES = ("llmafia/0003", "llmafia/0006", "werewolf_gpt/gpt-4-001.md", "aiwolf/game1.log", "aiwolf/game4.log")
_IMPLY_ACCUSE = frozenset({"accuse_aggressively", "build_case"})


class Seen(NamedTuple):
    """A reading of one message by somebody: the answers to the four questions, in their order."""

    is_strategic: bool
    answers: bool
    references: bool
    acts: frozenset[tuple[str, str | None]]

    @classmethod
    def of_label(cls, row: Mapping[str, Any]) -> Seen:
        """A label of ``data/labels``."""
        acts = ((one["act"], one["target"]) for one in row["acts"])
        return cls(row["is_strategic"], bool(row["answers"]), bool(row["references"]), with_accusations(acts))


def with_accusations(acts: Iterable[tuple[str, str | None]]) -> frozenset[tuple[str, str | None]]:
    """The acts with the accusations that cases and attacks are."""
    acts = frozenset(acts)
    return acts | {("accuse", target) for act, target in acts if act in _IMPLY_ACCUSE}


def agreement(pairs: Sequence[tuple[Seen, Seen]]) -> dict[str, tuple[float, Interval]]:
    """The agreement of labels with somebody's reading, by question, 0 to 1, with the interval over messages.

    Yes or no: the share of equal answers. Acts: the F1 of acts with their targets.
    """
    found = {}
    for place, question in enumerate([*QUESTIONS][:-1]):
        same = sum(label[place] == said[place] for label, said in pairs)
        found[question] = (same / len(pairs), proportion_interval(same, len(pairs)))
    right, both = np.array([(len(one.acts & two.acts), len(one.acts) + len(two.acts)) for one, two in pairs], float).T
    with np.errstate(invalid="ignore"):
        interval = bootstrap_interval(lambda weights: 2 * weights @ right / (weights @ both), len(pairs))
    found["acts"] = (2 * right.sum() / both.sum() if both.any() else 1.0, interval)
    return found


@dataclass(frozen=True, slots=True)
class ReaderCheck:
    """The outcome of a check.

    Attributes:
        rows: Each question with the model, the rule and the built-in reader, as cells by heading.
        words: The answer in sentences: where the model reads better than the others, what was not read, what it cost.
        read: How many of the messages it said anything usable of.
    """

    rows: list[dict[str, str]]
    words: str
    read: int


def shipped_labels() -> list[dict[str, Any]]:
    """The lines of ``data/labels`` on twelve messages in a row of five games that rule and reader were made on."""
    held = (files("evaluation.rubric_judge") / "labelled.jsonl").read_text("utf-8")
    return [json.loads(line) for line in held.splitlines()]


@cache
def _labelled() -> tuple[list[MessageWindow], list[dict[str, Seen]]]:
    """The windows that are asked about, and for each the labels by message id."""
    labels: dict[str, dict[int, Seen]] = {}
    for row in shipped_labels():
        labels.setdefault(row["game"], {})[row["message"]] = Seen.of_label(row)
    found, seen = [], []
    for path in _GAMES:
        (game,) = read_transcripts(shipped("data/samples") / path)
        held = labels[game.game_id]
        window = next(one for one in windows(game) if one.messages[0].index in held)
        asked = tuple(message for message in window.messages if message.index in held)
        found.append(replace(window, messages=asked))
        seen.append({message.id: held[message.index] for message in asked})
    return found, seen


def require_model(config: JudgeConfig) -> None:
    """Returns where there is a model to ask.

    Raises:
        InputError: There is neither a key nor an address.
    """
    if config.mode != "live" or (config.base_url is None and not has_key(config.model)):
        raise InputError(
            f"No model can be asked: there is no key for {config.model} and no address.",
            place="judge",
            remedy="Set OPENAI_API_KEY (or the key of --model's provider), or give --base-url.",
        )


def estimate_check(config: JudgeConfig, cache: JudgementCache) -> str:
    """The calls of a check and what they would cost, in a sentence."""
    counting = build_estimate(config, cache)
    asyncio.run(read_windows(_labelled()[0], counting))
    return counting.words


def check_reader(config: JudgeConfig, cache: JudgementCache) -> ReaderCheck:
    """Has a model read the labelled messages, with the prompts that it gets about games; keeps its answers.

    Raises:
        InputError: There is no model to ask.
    """
    require_model(config)
    chosen = build_judge(config, cache=cache)
    asked, labels = _labelled()
    read = asyncio.run(read_windows(asked, chosen))
    pairs = [
        (held[key], Seen(one.is_strategic, bool(one.answers), bool(one.references), with_accusations(one.acts)))
        for held, said in zip(labels, read.said, strict=True)
        for key, (one, _) in said.items()
    ]
    usage = total(one.usage for one in read.judgements if not one.is_cached)
    cost = f"{spent_words(chosen.budget)}; {usage.input_tokens:,.0f} tokens read, {usage.output_tokens:,.0f} written"
    count = sum(map(len, labels))
    unread = "".join(f" {number} not read: {why.rstrip('.')}." for why, number in read.unread.items())
    told = f"{len(pairs)} of {count} labelled messages read.{unread} {cost}."
    if not pairs:
        return ReaderCheck([], told, 0)
    found, others = agreement(pairs), measured()["check"]
    rows = [
        {
            "Question": QUESTIONS[question],
            chosen.model: f"{100 * share:.0f} % ({percent_interval(interval)})",
            "Rule": f"{100 * others[question]['rule']:.0f} %",
            "Built-in reader": f"{100 * others[question]['reader']:.0f} %",
        }
        for question, (share, interval) in found.items()
    ]
    return ReaderCheck(rows, f"{_verdict(found)} {told}", len(pairs))


def _verdict(found: Mapping[str, tuple[float, Interval]]) -> str:
    """At which questions the model is better or worse than the better one of rule and built-in reader."""
    sides: dict[str, list[str]] = {
        side: [] for side in ("Better than rule and built-in reader", "Worse than the better of them", "Could be luck")
    }
    for name, (share, interval) in found.items():
        best = max(measured()["check"][name].values())
        low, high = (share, share) if interval.low is None or interval.high is None else (interval.low, interval.high)
        side = 0 if low > best else 1 if high < best else 2
        sides[[*sides][side]].append(QUESTIONS[name])
    return " ".join(f"{side}: {listed(names)}." for side, names in sides.items() if names)
