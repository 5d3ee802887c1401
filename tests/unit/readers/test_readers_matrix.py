"""Every file of every format is taken for its own format, and for none of the others."""

import io
import json
from collections.abc import Callable
from pathlib import Path
from zipfile import ZipFile

import pytest

from evaluation.escaping import json_text
from evaluation.readers import Limits, read_path, read_upload
from evaluation.readers._format_detection import ARCHIVE_READERS, BINARY_READERS, FILE_READERS, FOLDER_READERS
from evaluation.readers.document import Document
from evaluation.transcript import Transcript
from evaluation.writers import csv_text, message_rows, message_table
from tests.unit.readers.trace_samples import SAMPLES

DATA = Path(__file__).parents[2] / "data"
FOLDERS = {
    "aiwolf": "aiwolf",
    "inspect_logs": "inspect",
    "llm_werewolf": "llm-werewolf",
    "llmafia": "llmafia",
    "tinytroupe": "tinytroupe",
    "werewolf_gpt": "werewolf-gpt",
}
TRACES = {
    "autogen": {"autogen"},
    "concordia": {"concordia"},
    "crewai": {"opentelemetry"},
    "langfuse": {"langfuse"},
    "langgraph": {"langgraph", "langfuse"},
    "openinference": {"opentelemetry", "phoenix"},
    "otel_genai": {"opentelemetry"},
}
(GAME,) = [result.transcript for result in read_path(DATA / "aiwolf" / "game9.log") if result.transcript]
CHAT = [{"role": "user", "content": "Hi, Bob"}, {"role": "assistant", "name": "Bob", "content": "player, text"}]
NATIVE = {"gameId": "g", "players": [{"name": "Ann"}], "messages": [{"playerName": "Ann", "message": "a,b,c"}]}
TURNS = [{"from": "human", "value": "Hi"}, {"from": "gpt", "value": "Ho"}]

SAID = {"id": 1, "type": "message", "date": "2024-06-01T10:00:00", "from": "Ann", "text": "Hi"}
TELEGRAM = {"name": "Game", "type": "private_group", "id": 7, "messages": [SAID]}
POST = {"id": "5", "type": "Default", "timestamp": "2024-06-01T10:00:00+00:00", "content": "Hi"}
DISCORD = {
    "guild": {"id": "1", "name": "Games"},
    "channel": {"id": "2", "name": "day-chat"},
    "messages": [POST | {"author": {"id": "9", "name": "ann"}}],
}


def parquet(game: Transcript) -> bytes:
    buffer = io.BytesIO()
    message_table([game]).to_parquet(buffer, index=False)
    return buffer.getvalue()


def dumped(*values: object) -> bytes:
    return "\n".join(map(json.dumps, values)).encode()


MADE: dict[str, tuple[str, bytes]] = {
    "canonical": ("dramaturg-transcript", GAME.to_json().encode()),
    "native": ("native", dumped(NATIVE)),
    "chat": ("openai-chat", dumped({"messages": CHAT})),
    "chat as a list": ("openai-chat", dumped(CHAT)),
    "chat as lines": ("openai-chat", dumped(*CHAT)),
    "chats as lines": ("openai-chat", dumped({"messages": CHAT}, {"messages": CHAT})),
    "sharegpt": ("sharegpt", dumped({"conversations": TURNS})),
    "sharegpt as lines": ("sharegpt", dumped({"conversations": TURNS}, {"conversations": TURNS})),
    "plain": ("plain-text", b"Ann: Good morning, Bob.\nBob: Is it?\n"),
    "plain with times": ("plain-text", b"[12:03] Ann: Hi\n[12:04] Bob: Ho\n"),
    "telegram": ("telegram", dumped(TELEGRAM)),
    "discord": ("discord", dumped(DISCORD)),
    "captions": ("captions", b"WEBVTT\n\n00:01.000 --> 00:02.000\nAnn: Hi\n\n00:02.000 --> 00:03.000\nBob: Ho\n"),
    "csv": ("table", csv_text(message_table([GAME])).encode()),
    "tsv": ("table", csv_text(message_table([GAME])).replace('","', '"\t"').encode()),
    "table as lines": ("table", "".join(f"{json_text(row, indent=None)}\n" for row in message_rows([GAME])).encode()),
    "table as a list": ("table", dumped([{"from": "Ann", "value": "Hi"}, {"from": "Bob", "value": "Ho"}])),
    "parquet": ("table", parquet(GAME)),
    "a talk in a text": ("talk-in-text", dumped({"conversation": "Ann: Hi\nBob: Ho\nAnn: So?\nBob: So.\n"})),
} | SAMPLES


def claims() -> dict[str, Callable[[Document], bool]]:
    """Whether a file is claimed, by each reader that looks at one file; folders' readers are asked for parts."""
    binary = {f"binary {reader.format}": reader.recognises for reader in BINARY_READERS}
    parts = {f"part of {reader.format}": reader.recognises_part for reader in FOLDER_READERS}
    return {reader.format: reader.recognises for reader in FILE_READERS} | binary | parts


def claimants(data: bytes) -> set[str]:
    document = Document(data, Limits())
    found = {name for name, recognises in claims().items() if name.startswith("binary") and recognises(document)}
    if found:
        # Nobody else is asked: what is not text cannot be looked at.
        return found
    found = {name for name, recognises in claims().items() if recognises(document)}
    # Tables and plain text are asked last, for what nobody else knows.
    return found - {"table", "plain-text"} or found - {"plain-text"} or found


@pytest.mark.parametrize(("expected", "data"), MADE.values(), ids=MADE)
def test_files_made_for_the_purpose(expected: str, data: bytes) -> None:
    assert claimants(data) == {f"binary {expected}" if data.startswith(b"PAR1") else expected}
    assert {result.format for result in read_upload("x", data)} == {expected}


def single_files() -> list[Path]:
    """Every real file that is not part of a zip and no licence."""
    paths = [path for path in sorted(DATA.rglob("*")) if path.is_file()]
    paths = [path for path in paths if not path.name.startswith(("LICENSE", "NOTICE", "README"))]
    return [path for path in paths if path.suffix != ".eval"]


def test_every_real_file_is_claimed_by_its_own_reader_at_most() -> None:
    for path in single_files():
        document = path.read_bytes()
        if not document.strip():
            continue
        folder, name = path.relative_to(DATA).parts[:2]
        own = TRACES[name] if folder == "traces" else {FOLDERS[folder], f"part of {FOLDERS[folder]}"}
        assert claimants(document) <= own, path


def test_only_logs_of_inspect_are_read_as_a_whole_zip() -> None:
    for path in sorted((DATA / "inspect_logs").glob("*.eval")):
        with ZipFile(path) as archive:
            assert [reader.format for reader in ARCHIVE_READERS if reader.recognises(set(archive.namelist()))] == [
                "inspect"
            ]
    assert not any(reader.recognises({"a.log", "samples/x.log", "header.json"}) for reader in ARCHIVE_READERS)


def test_each_format_is_in_the_test() -> None:
    # Of Slack there is only a zip (test_messenger_json).
    tested = {expected for expected, _ in MADE.values()} | set(FOLDERS.values()) | {"slack"}
    assert tested == {reader.format for reader in (*FILE_READERS, *FOLDER_READERS, *BINARY_READERS, *ARCHIVE_READERS)}
