from pathlib import Path

import pytest

from evaluation.errors import InputError
from evaluation.files.bundled import checkout_root, sample_root
from evaluation.readers import read_path
from evaluation.workflows.samples import load_manifest

REPOSITORY = Path(__file__).parents[3]


def write_manifest(folder: Path, text: str) -> Path:
    (folder / "manifest.yaml").write_text(text, encoding="utf-8")
    return folder


def test_the_samples_of_a_checkout() -> None:
    assert checkout_root() == REPOSITORY
    assert sample_root() == REPOSITORY / "data" / "samples"


def test_every_shipped_game_is_read() -> None:
    manifest = load_manifest()
    paths = [*manifest.games, *(path for iteration in manifest.iterations for path in iteration.games)]
    assert len(paths) >= 9
    for path in paths:
        (result,) = read_path(path)
        assert result.error is None, path


def test_the_whole_folder_of_samples_holds_nothing_that_is_refused() -> None:
    assert [result.name for result in read_path(sample_root()) if result.error] == []


def test_a_licence_lies_beside_every_set_of_real_games() -> None:
    sets = {path.relative_to(sample_root()).parts[0] for path in load_manifest().games}
    assert {name for name in sets if not (sample_root() / name / "LICENSE").is_file()} == set()


def test_an_iteration_has_its_games_in_their_order(tmp_path: Path) -> None:
    for name in ("b.json", "a.json"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    text = (
        "iterations:\n- {name: v1, baseline: true, change: none yet, target_metric: coherence, games: [b.json, a.json]}"
    )
    (iteration,) = load_manifest(write_manifest(tmp_path, text)).iterations
    assert [path.name for path in iteration.games] == ["b.json", "a.json"]
    assert iteration.is_baseline
    assert (iteration.parent, iteration.prompt_text, iteration.target_metric) == (None, "", "coherence")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("games: [gone.json]", "manifest.yaml:1: games[0]: There is no 'gone.json'. Correct the path."),
        ("games: gone.json", "manifest.yaml:1: games: 'gone.json' is not a list. Begin each entry with '- '."),
        ("- a", "manifest.yaml:1: file: This is not a mapping. Begin it with 'iterations: ...'. See the manifest"),
        ("iterations: [{parent: x}]", "manifest.yaml:1: iterations[0].name: It is missing. Add 'name: ...'."),
        ("iterations: [{name: 7}]", "manifest.yaml:1: iterations[0].name: 7 is not text. Put it in quotes."),
        (
            "iterations:\n- {name: v1, chnage: x}",
            "2: iterations[0].chnage: This field is not known. Do you mean 'change'?",
        ),
        ("a: [", "manifest.yaml:2: syntax: This is not YAML"),
    ],
)
def test_a_wrong_manifest_is_refused(tmp_path: Path, text: str, expected: str) -> None:
    with pytest.raises(InputError) as caught:
        load_manifest(write_manifest(tmp_path, text))
    assert expected in str(caught.value)
