from evaluation.files.bundled import sample_root
from evaluation.readers import read_path


def test_the_whole_folder_of_samples_holds_nothing_that_is_refused() -> None:
    assert [result.name for result in read_path(sample_root()) if result.error] == []
