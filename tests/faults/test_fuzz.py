"""Two thousand changed inputs for the parsers; ``make test-long`` takes as many as it is told, and pages too."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.faults.fuzz import Finding, Target, fuzz, keep, problem_of, targets

INPUTS = 2_000


def test_every_parser_takes_or_refuses_whatever_it_is_given() -> None:
    counted = fuzz(targets(), INPUTS, seed=1)
    assert sum(counts.inputs for counts in counted.values()) > 0.95 * INPUTS
    assert [finding for counts in counted.values() for finding in counts.findings] == []


def test_every_parser_takes_what_it_is_made_for() -> None:
    for target in targets():
        target.parse(target.seeds[0])


# What a million inputs found, which ten thousand rarely do.
_ODD = {
    "endless nesting": b"[" * 100_000,
    "a nested value": b'{"a": ' * 100_000,
    "a long number": b"[a]\nb = " + b"9" * 5_000,
    "a long number of JSON": b'{"a": ' + b"9" * 5_000 + b"}",
}


@pytest.mark.parametrize("content", _ODD.values(), ids=_ODD)
def test_every_parser_takes_or_refuses_odd_inputs(content: bytes) -> None:
    assert [problem for target in targets() if (problem := problem_of(target, content))] == []


def test_a_fault_is_found_made_short_and_kept(tmp_path: Path) -> None:
    def parse(content: bytes) -> None:
        if b"NaN" in content:
            raise KeyError("NaN")

    counted = fuzz([Target("planted", parse, [b'{"a": 1, "b": [2, 3]}'])], 2_000, seed=1)
    found: list[Finding] = counted["planted"].findings
    assert len(found) == 3
    assert {finding.content for finding in found} == {b"NaN"}
    assert "KeyError" in found[0].problem
    assert keep(found[0], tmp_path).read_bytes() == b"NaN"
