from pathlib import Path

from evaluation.files.bundled import checkout_root, sample_root
from evaluation.readers import read_path
from evaluation.workflows.samples import load_manifest

REPOSITORY = Path(__file__).parents[3]


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
