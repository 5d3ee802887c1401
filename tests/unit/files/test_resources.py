from evaluation.files.bundled import sample_root
from evaluation.readers import read_path
from evaluation.workflows.samples import load_manifest


def test_every_shipped_game_is_read() -> None:
    manifest = load_manifest()
    paths = [*manifest.games, *(path for iteration in manifest.iterations for path in iteration.games)]
    assert len(paths) >= 9
    for path in paths:
        (result,) = read_path(path)
        assert result.error is None, path


def test_the_whole_folder_of_samples_holds_nothing_that_is_refused() -> None:
    assert [result.name for result in read_path(sample_root()) if result.error] == []
