"""Hand changed inputs to every parser: ``python -m tests.faults.fuzz [--inputs 10000] [--seed 1] [--only NAME]``.

Each parser takes an input or refuses it with an error of Dramaturg's; anything else is a finding. Also a finding: a
message that speaks of a parser's own words, and an input that takes longer than ten seconds of the processor. What was
found is made as short as possible, printed, and kept in ``test-results/fuzz``. The exit code is 1 when anything was
found.
"""

import argparse
import hashlib
import json
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from random import Random
from typing import Any
from unicodedata import category

from dashboard.app_pages.overview.why_messages_fail import read_reason
from dashboard.app_pages.rate.rating_desk import read_discard, read_form, read_token
from dashboard.shared.chat.conversation import read_open
from dashboard.shared.clicked_marks import read_mark
from evaluation.access import read_access
from evaluation.corrections.config import CorrectionConfig, read_config
from evaluation.errors import DramaturgError
from evaluation.experiments.ab_runner import ABConfig
from evaluation.files.yaml_files import parse_model
from evaluation.harness.pull_request_comment import comparison_markdown
from evaluation.harness.regression import read_baselines
from evaluation.judging.answers import AnswerError, ScoreAnswer, parse_answer, parse_items
from evaluation.judging.judges_without_model import read_recordings
from evaluation.judging.model_client.prices import read_prices
from evaluation.judging.proposition_library import check_text
from evaluation.persona.agents import read_agent_file, read_persona_text
from evaluation.readers import read_upload
from evaluation.store import Store
from evaluation.store.answer_journal import JournalFile
from evaluation.transcript import Transcript
from evaluation.workflows.ab_tests import iterations_test
from evaluation.workflows.ratings import import_ratings
from tests.faults.bad_files import canonical, game, native
from tests.faults.bad_inputs import ALL
from tests.faults.mutation import minimised, mutate

ROOT = Path(__file__).parents[2]
KEPT = ROOT / "test-results" / "fuzz"
LONGEST_SECONDS = 10.0
LONGEST_SEED = 50_000
PARSER_WORDS = ("Traceback", "NoneType", "object at 0x", "codec can't")

Parse = Callable[[bytes], object]


@dataclass(frozen=True, slots=True)
class Target:
    """A parser and inputs that it takes.

    Attributes:
        parse: Takes the bytes, or raises an error of Dramaturg's.
        weight: How many inputs it gets beside the others.
    """

    name: str
    parse: Parse
    seeds: Sequence[bytes]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Finding:
    """An input that was neither taken nor refused as it should be."""

    target: str
    content: bytes
    problem: str


@dataclass
class Counts:
    """How many inputs a parser was given, and how many of them it refused."""

    inputs: int = 0
    refused: int = 0
    slowest_seconds: float = 0.0
    findings: list[Finding] = field(default_factory=list)


def _files(*patterns: str, most: int = 12) -> list[bytes]:
    found = [path for pattern in patterns for path in sorted(ROOT.glob(pattern)) if path.is_file()]
    small = [path.read_bytes() for path in found if path.stat().st_size <= LONGEST_SEED]
    assert small, patterns
    return small[:most]


def _upload(name: str) -> Parse:
    def parse(content: bytes) -> None:
        for result in read_upload(name, content):
            if result.error is not None:
                _check_message(result.error)
            elif result.transcript is not None:
                assert Transcript.from_json(result.transcript.to_json()) == result.transcript

    return parse


@cache
def _place() -> tempfile.TemporaryDirectory[str]:
    """A folder that goes when the process ends."""
    return tempfile.TemporaryDirectory(prefix="dramaturg-fuzz-")


def _from_file(name: str, read: Callable[[Path], object]) -> Parse:
    """Gives a reader of paths its bytes in a file of that name, which is alone in its folder."""

    def parse(content: bytes) -> object:
        folder = Path(_place().name, name)
        folder.mkdir(exist_ok=True)
        (folder / name).write_bytes(content)
        return read(folder / name)

    return parse


def _from_value(read: Callable[[Any], object]) -> Parse:
    """Gives a reader of what a browser sent the value of the JSON; what is no JSON never reaches it."""

    def parse(content: bytes) -> object:
        try:
            value = json.loads(content)
        except (ValueError, RecursionError):
            return None
        return read(value)

    return parse


def _answers(content: bytes) -> None:
    text = content.decode("utf-8", "replace")
    parse_items(text, [ScoreAnswer] * 3)
    with suppress(AnswerError):
        parse_answer(text, ScoreAnswer.model_validate)


def _journal(path: Path) -> None:
    for left in JournalFile.left(path.with_name("a")):
        left.close(is_stored=True)


def _sheet() -> Parse:
    store = Store(":memory:")
    transcript = read_upload("g.json", native())[0].transcript
    assert transcript is not None
    store.transcripts.add(transcript, source_name="g.json")
    return lambda content: import_ratings(store, content)


def _dumped(*values: object) -> list[bytes]:
    return [json.dumps(value).encode() for value in values]


_GAME = read_upload("g.json", native())[0].transcript
assert _GAME is not None
_FORM = {"token": "t", "score": 4, "answers": [True, None, False, None, True], "comment": "x", "rev": 2}
_DISCARD = {"token": "t", "reason": "other", "note": "why"}
_ANSWER = {"reason": "because", "score": 7, "confidence": 0.5, "citations": [1], "data_missing": False}
_TABLE = b'game,speaker,text,round\ng1,Ann,Hello there,1\ng1,Ben,"Hi, Ann",2\n'
_CAPTIONS = b"""WEBVTT

1
00:00:01.000 --> 00:00:04.000 align:start
<v Ann>Good evening, Ben.

2
00:00:05.250 --> 00:00:07.000
Ben: I vote for Cleo.

00:01:05,250 --> 00:01:07,000
- Cleo: Why me?
- Ann: You were quiet.
"""
_NESTED = (
    {
        "players": [{"name": "Ann", "role": "Seer"}, {"name": "Ben", "role": "Werewolf"}, "Cleo"],
        "rounds": [
            {
                "round": 1,
                "night": {"kill": {"by": "Ben", "target": "Cleo"}, "wolf_chat": [{"speaker": "Ben", "text": "Cleo?"}]},
                "day": {
                    "discussion": [["Ann", "I checked Ben last night."], ["Ben", "You did not."]],
                    "votes": {"Ann": "Ben", "Ben": "Ann"},
                    "eliminated": "Ben",
                },
            }
        ],
        "winner": "Village",
    },
    [
        {"event": "speech", "actor": {"id": 1, "name": "Ann"}, "content": "Hello all.", "reasoning": "Be calm."},
        {"event": "speech", "actor": {"id": 2, "name": "Ben"}, "content": '{"speech": "Hi.", "thought": "Lie."}'},
        {"event": "vote", "actor": {"id": 1, "name": "Ann"}, "target": "Ben", "round": 1},
    ],
    {
        "Ann": [{"turn": 1, "response": "Yes."}, {"turn": 2, "response": "No."}],
        "Ben": [{"turn": 1, "response": "Why?"}],
    },
)
_SHEET = b"game,rater,score,q1,q2,q3,q4,q5,comment\ng,Ada,4,y,n,,y,n,good\n"
_ACCESS = b"""[auth]
redirect_uri = "http://localhost:8501/oauth2callback"
cookie_secret = "0123456789abcdef0123456789abcdef"
client_id = "d"
client_secret = "s"
server_metadata_url = "http://localhost:9/.well-known/openid-configuration"
[access]
admins = ["ada@example.org", "sub:1"]
raters = ["*@example.org", "claim:groups=raters"]
"""
_COMPARISON = {"verdict": "equal", "rows": [{"agent": "a", "dimension": "fluency", "score": 5, "baseline": 6}]}


def targets() -> list[Target]:
    """Every parser, in the order in which they are given inputs."""
    return [*_games(), *_other_files(), *_kept_files(), *_received()]


def _games() -> list[Target]:
    """Files and texts that games are read from."""
    tables = [_TABLE, _TABLE.replace(b",", b";"), _TABLE.replace(b",", b"\t")]
    odd = [case.make() for case in ALL if not case.is_large]
    return [
        Target("native JSON", _upload("g.json"), [native(), *_files("data/samples/native/*/*.json")], 2),
        Target("own JSON", _upload("g.json"), [canonical()]),
        Target("agents' traces", _upload("t.json"), _files("tests/data/traces/*/*.json"), 2),
        Target("lines of JSON", _upload("t.jsonl"), [native() + b"\n" + native(), *_dumped(game())]),
        Target("logs of AIWolf", _upload("g.log"), _files("tests/data/aiwolf/*.log")),
        Target(
            "Markdown games", _upload("g.md"), _files("tests/data/werewolf_gpt/*.md", "data/samples/werewolf_gpt/*.md")
        ),
        Target("plain text", _upload("g.txt"), _files("tests/unit/readers/plain/[0-3]*.txt", most=40), 4),
        Target("captions", _upload("c.vtt"), [_CAPTIONS]),
        Target("nested JSON", _upload("n.json"), [*_dumped(*_NESTED), *_files("tests/unit/readers/cases/*.json")], 3),
        Target("tables", _upload("t.csv"), [*tables, *_files("tests/unit/readers/cases/*.csv")], 2),
        Target("zips and other files", _upload("x.zip"), odd),
    ]


def _other_files() -> list[Target]:
    """Files that people hand in beside games."""
    return [
        Target("rating sheets", _sheet(), [_SHEET, *_files("data/samples/ratings.csv")]),
        Target(
            "agent files",
            lambda content: read_agent_file(content, "a.json"),
            _files("tests/data/tinytroupe/agents/*.json"),
        ),
        Target(
            "persona texts",
            lambda content: read_persona_text(content, "a.txt"),
            [b"You are Ann, a baker.", *_files("tests/data/tinytroupe/agents/*.json")],
        ),
        Target("propositions", lambda content: check_text(content, "p.yaml"), _files("propositions/*/*.yaml")),
        Target("A/B tests", lambda content: parse_model(content, ABConfig, "a"), [iterations_test("a", "b").encode()]),
        Target("prices", _from_file("pricing.yaml", read_prices), [b"m: {input: 1.5, output: 2, cached: 0.1}\n"]),
    ]


def _kept_files() -> list[Target]:
    """Files that Dramaturg or an administrator has written."""
    return [
        Target(
            "stored transcripts",
            lambda content: Transcript.from_json(content.decode("utf-8", "replace")),
            [_GAME.to_json().encode()],
        ),
        Target("recordings", _from_file("r.jsonl", read_recordings), _first_lines("data/recordings/*.jsonl"), 0.5),
        Target(
            "baselines", _from_file("b.json", lambda path: read_baselines(path.parent)), _files("data/baselines/*.json")
        ),
        Target(
            "journals", _from_file("a.1.answers", _journal), _dumped({"generations": [], "answers": [], "calls": []})
        ),
        Target("secrets files", _from_file("secrets.toml", lambda path: read_access([path], {})), [_ACCESS]),
        Target(
            "comparisons",
            _from_value(lambda value: comparison_markdown(value) if isinstance(value, dict) else ""),
            _dumped(_COMPARISON),
        ),
    ]


def _received() -> list[Target]:
    """Bodies that a model or a browser sends."""
    return [
        Target("judges' answers", _answers, _dumped(_ANSWER, {"answers": [_ANSWER | {"item": 1}]}), 2),
        Target(
            "gate settings",
            _from_value(lambda value: read_config(value) if isinstance(value, dict) else ""),
            _dumped(CorrectionConfig().model_dump()),
            2,
        ),
        Target("event: rating form", _from_value(read_form), _dumped(_FORM), 3),
        Target("event: discard", _from_value(read_discard), _dumped(_DISCARD), 3),
        Target("event: token", _from_value(read_token), _dumped({"token": "t"}), 3),
        Target(
            "event: chat",
            _from_value(lambda value: read_open(value, _GAME)),
            _dumped({"message": "m1", "metric": "coherence"}),
            3,
        ),
        Target(
            "event: picture",
            _from_value(lambda value: read_mark(value, [{"metric": ["x"]}])),
            _dumped({"row": 0, "kind": "metric", "index": 0}),
            3,
        ),
        Target(
            "event: reason", _from_value(lambda value: read_reason(value, 3)), _dumped({"kind": "reason", "row": 1}), 3
        ),
    ]


def _first_lines(pattern: str) -> list[bytes]:
    return [b"\n".join(path.read_bytes().splitlines()[:3]) for path in sorted(ROOT.glob(pattern))[:4]]


def _check_message(error: DramaturgError) -> None:
    said = str(error)
    if word := next((word for word in PARSER_WORDS if word in said), None):
        raise AssertionError(f"the message speaks of {word}: {said[:200]}")
    if any(category(letter) in {"Cc", "Cs", "Zl", "Zp"} and letter not in "\n\t" for letter in said):
        raise AssertionError(f"the message cannot be printed: {said[:200]!r}")


def problem_of(target: Target, content: bytes, counts: Counts | None = None) -> str:
    """What is wrong with how the input was handled; empty where nothing is."""
    counts = counts or Counts()
    # Of the processor: on a busy machine a clock on the wall finds nothing but the wait.
    start = time.process_time()
    try:
        target.parse(content)
    except DramaturgError as error:
        counts.refused += 1
        try:
            _check_message(error)
        except AssertionError as fault:
            return str(fault)
    except Exception as error:  # noqa: BLE001 - whatever else comes is what is looked for
        return f"{type(error).__name__}: {error}"[:300]
    seconds = time.process_time() - start
    counts.slowest_seconds = max(counts.slowest_seconds, seconds)
    return f"it took {seconds:.0f} s" if seconds > LONGEST_SECONDS else ""


def fuzz(
    chosen: Sequence[Target], inputs: int, seed: int, done: Callable[[str, Counts], None] = lambda *_: None
) -> dict[str, Counts]:
    """Gives the parsers so many inputs together, as their weights say; stops at the third finding of a parser.

    ``done`` is told of each parser that has had its inputs.
    """
    total = sum(target.weight for target in chosen)
    counted: dict[str, Counts] = {}
    for target in chosen:
        counts = counted[target.name] = Counts()
        random = Random(f"{seed} {target.name}")
        for _ in range(round(inputs * target.weight / total)):
            content = mutate(target.seeds, random)
            counts.inputs += 1
            if problem := problem_of(target, content, counts):
                counts.findings.append(_shortest(target, content, problem))
                if len(counts.findings) == 3:
                    break
        done(target.name, counts)
    return counted


def _shortest(target: Target, content: bytes, problem: str) -> Finding:
    kind = problem.split(":")[0]
    if not problem.startswith("it took"):
        content = minimised(content, lambda shorter: problem_of(target, shorter).split(":")[0] == kind)
    return Finding(target.name, content, problem)


def keep(finding: Finding, folder: Path = KEPT) -> Path:
    """Writes the input of a finding to a file."""
    folder.mkdir(parents=True, exist_ok=True)
    name = "".join(letter if letter.isalnum() else "-" for letter in finding.target)
    path = folder / f"{name}-{hashlib.sha256(finding.content).hexdigest()[:12]}.bin"
    path.write_bytes(finding.content)
    return path


def _print_row(name: str, counts: Counts) -> None:
    # At once: a run of a million inputs takes hours, and may be ended before.
    figures = f"{counts.inputs:,} | {counts.refused:,} | {counts.slowest_seconds:.2f} | {len(counts.findings)}"
    print(f"| {name} | {figures} |", flush=True)


def main() -> int:
    """Prints the table; 1 when anything was found."""
    listed = targets()
    parser = argparse.ArgumentParser(prog="python -m tests.faults.fuzz", description=__doc__)
    parser.add_argument("--inputs", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=[target.name for target in listed])
    given = parser.parse_args()
    start = time.monotonic()
    chosen = [target for target in listed if given.only in (None, target.name)]
    print("| parser | inputs | refused | slowest (s) | findings |\n| --- | --- | --- | --- | --- |")
    counted = fuzz(chosen, given.inputs, given.seed, _print_row)
    findings = [finding for counts in counted.values() for finding in counts.findings]
    print(f"| together | {sum(counts.inputs for counts in counted.values()):,} | | | {len(findings)} |")
    print(f"\nSeed {given.seed}, {time.monotonic() - start:.0f} s.")
    for finding in findings:
        print(f"{finding.target}: {finding.problem}\n  {finding.content[:200]!r}\n  {keep(finding)}")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
