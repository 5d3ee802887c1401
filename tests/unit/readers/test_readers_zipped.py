"""A zip of any format holds the same games as the folder that it was made of."""

import io
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZipFile

import pytest

from evaluation.readers import ReadResult, read_path, read_upload, read_uploads

DATA = Path(__file__).parents[2] / "data"
FOLDERS = ("aiwolf", "inspect_logs", "llm_werewolf", "llmafia", "tinytroupe", "werewolf_gpt")


def zipped(folder: Path, *, below: str = "") -> bytes:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w", ZIP_DEFLATED) as archive:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                archive.writestr(below + path.relative_to(folder).as_posix(), path.read_bytes())
    return buffer.getvalue()


def games(results: list[ReadResult]) -> list[tuple[str | None, str | None]]:
    found = [(result.format, result.transcript.id if result.transcript else None) for result in results]
    return sorted(found, key=repr)


@pytest.mark.parametrize("folder", FOLDERS)
def test_the_same_games_as_in_the_folder(folder: str) -> None:
    expected = games(read_path(DATA / folder))
    assert games(read_upload("games.zip", zipped(DATA / folder, below="downloads/games/"))) == expected


def test_a_zip_of_zips_one_deep() -> None:
    buffer = io.BytesIO()
    with ZipFile(buffer, "w") as archive:
        for folder in ("aiwolf", "werewolf_gpt"):
            archive.writestr(f"{folder}.zip", zipped(DATA / folder))
    expected = sorted(games(read_path(DATA / "aiwolf")) + games(read_path(DATA / "werewolf_gpt")), key=repr)
    assert games(read_upload("all.zip", buffer.getvalue())) == expected


def test_reading_tells_how_far_it_is_game_by_game_also_within_a_zip() -> None:
    told: list[tuple[int, int]] = []
    archive = zipped(DATA / "werewolf_gpt")
    count = len(read_upload("games.zip", archive))
    read_uploads(
        [("broken.json", b"{"), ("games.zip", archive)], progress=lambda done, found: told.append((done, found))
    )
    # Nothing yet; the refusal of the first file, then that file; each game of the zip, then the zip.
    within = [(1, 1 + number) for number in range(1, count + 1)]
    assert told == [(0, 0), (0, 1), (1, 1), *within, (2, 1 + count)]


def test_reading_stops_when_nobody_waits_any_more() -> None:
    def leave(done: int, found: int) -> None:
        if found:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        read_uploads([("games.zip", zipped(DATA / "werewolf_gpt"))], progress=leave)
