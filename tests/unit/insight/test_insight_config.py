"""The configuration: the ADR's values, a sample that is them, and faults with their lines."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest

from evaluation.errors import InputError
from evaluation.files.yaml_files import parse_model, read_model
from evaluation.insight.config import EvaluationConfig


def test_the_defaults_are_those_of_the_adr() -> None:
    config = EvaluationConfig()
    assert (config.use_separate_evaluation_model, config.evaluation_model) == (True, "gpt-4o-mini")
    assert (config.max_validation_calls, config.max_extraction_calls, config.validation_sampling_rate) == (100, 50, 0.3)
    assert (config.persona_adherence_threshold, config.consistency_threshold, config.coherence_threshold) == (
        *(0.7, 0.6),
        0.5,
    )
    assert (config.default_runs_per_variant, config.significance_threshold) == (3, 0.1)
    checks = config.validation()
    assert (checks.sampling_rate, checks.use_separate_model, checks.max_validations_per_run) == (0.3, True, 100)


def test_the_shipped_sample_holds_the_defaults() -> None:
    content = (files("evaluation.insight") / "evaluation.yaml").read_bytes()
    assert parse_model(content, EvaluationConfig, "evaluation.yaml") == EvaluationConfig()
    named = [name for name in EvaluationConfig.model_fields if f"{name}:".encode() in content]
    assert named == list(EvaluationConfig.model_fields)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (
            "seed: 1\ncoherence_treshold: 0.5",
            "f:2: coherence_treshold: This field is not known. Do you mean 'coherence_threshold'?",
        ),
        (
            "seed: 1\n\ncoherence_threshold: 1.5",
            "f:3: coherence_threshold: It should be less than or equal to 1, not 1.5.",
        ),
        ('max_validation_calls: "100"', "f:1: max_validation_calls: It should be a valid integer, not '100'."),
        ("use_separate_evaluation_model: 1", "f:1: use_separate_evaluation_model: It should be a valid boolean"),
        ("seed: 1\nseed: 2", "f:2: seed: This field stands here twice."),
        ("seed: [1", "f:2: syntax: This is not YAML"),
        ("coherence_threshold: .nan", "coherence_threshold: It should be a finite number"),
    ],
)
def test_a_fault_names_file_line_and_field(text: str, fault: str) -> None:
    with pytest.raises(InputError) as error:
        parse_model(text.encode(), EvaluationConfig, "f")
    assert fault in str(error.value)


def test_every_fault_is_named_at_once(tmp_path: Path) -> None:
    path = tmp_path / "evaluation.yaml"
    path.write_text("seed: -1\nmax_usd: no\nwhat: ever\n", encoding="utf-8")
    with pytest.raises(InputError) as error:
        read_model(path, EvaluationConfig)
    assert len(str(error.value).splitlines()) == 3
    with pytest.raises(InputError, match="cannot be read"):
        read_model(tmp_path / "nothing.yaml", EvaluationConfig)
