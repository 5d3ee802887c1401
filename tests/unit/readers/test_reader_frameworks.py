"""Files of agent frameworks and simulators, and sides of roles."""

from __future__ import annotations

from typing import Any

import pytest

from evaluation.readers import alignment_of
from tests.unit.readers.reading import lines, read, refusal, told
from tests.unit.readers.trace_samples import SAMPLES, thread


def test_langgraph_history_is_newest_first_and_a_message_streamed_in_pieces_is_one() -> None:
    asked = {"type": "human", "content": "Who?", "id": "1"}
    pieces = [{"type": "AIMessageChunk", "content": text, "id": "2", "name": "ann"} for text in ("Bo", "b.")]
    history = [
        {"values": {"messages": [asked, *pieces]}, "next": [], "created_at": "2026-01-01T00:00:02+00:00"},
        {"values": {"messages": [asked]}, "next": ["ann"], "created_at": "2026-01-01T00:00:01+00:00"},
    ]
    transcript = read(lines(history))
    assert [(m.speaker, m.text) for m in transcript.messages] == [("user", "Who?"), ("ann", "Bob.")]
    assert [m.sent_at.second for m in transcript.messages if m.sent_at] == [1, 2]


def test_autogen_team_state_reads_the_managers_thread() -> None:
    transcript = read(SAMPLES["autogen, team"][1])
    assert [(m.channel, m.speaker, m.recipients, m.text) for m in transcript.messages] == [
        ("public", "user", (), "Who is it?"),
        ("private", "Ann", (), "Bob was silent."),
        ("public", "Ann", (), "Bob."),
        ("private", "Ann", ("Ben",), "Your turn, Ben."),
        ("public", "Ben", (), "Bob."),
    ]
    assert transcript.cost.input_tokens == 4


def test_autogen_summary_of_a_tool_is_not_said_again() -> None:
    messages = [
        thread("user", "Weather?"),
        thread("Ann", [{"id": "1", "name": "w", "arguments": "{}"}], "ToolCallRequestEvent"),
        thread("Ann", [{"call_id": "1", "content": "Rain", "name": "w"}], "ToolCallExecutionEvent"),
        thread("Ann", "Rain", "ToolCallSummaryMessage"),
    ]
    said = [("public", "user", "Weather?"), ("system", "Ann", "w({})"), ("system", "w", "Rain")]
    assert told(read(lines(*messages))) == said


def test_a_crewai_log() -> None:
    found = told(read(SAMPLES["crewai"][1]))
    assert found == [("public", "manager", "Find the wolf."), ("public", "Seer", "It is Bob.")]


def test_concordia_json() -> None:
    assert told(read(SAMPLES["concordia, json"][1])) == [
        ("system", "game master", "It is night."),
        ("public", "Ann", "Shall we?"),
        ("public", "Ben", "Let us go."),
    ]


@pytest.mark.parametrize(
    ("tool", "content"),
    [
        ("Autobox", [{"id": "r1", "workers": [], "orchestrator": {}}]),
        ("Autobox", {"r1": [{"is_system_trace": True}]}),
        ("CAMEL", {"message_1": {"content": "Sort them."}, "role_1": "Actor", "num_messages": 1}),
        ("CAMEL", {"request_timestamp": "2026-01-01T00:00:00", "request": {"messages": []}}),
        ("Character.AI", {"histories": {"histories": [{"msgs": []}]}}),
        ("ConvoKit", {"Ann": {"meta": {}, "vectors": []}}),
        ("Generative Agents", {"12": {"Isabella": {"movement": [1, 2], "description": "sleeping"}}}),
        ("sotopia", {"social_interactions": "Ann said: ...", "social_goals": {}}),
        ("Phoenix with spans of its own shape", {"context.span_id": "a", "context.trace_id": "t", "parent_id": None}),
        ("Phoenix with spans of its own shape", {"name": "x", "context": {"span_id": "a"}, "span_kind": "LLM"}),
    ],
)
def test_a_tool_without_a_reader_is_told_by_name_with_the_way_that_is_left(tool: str, content: Any) -> None:
    told = f"This is a file of {tool}, a format that Dramaturg does not read. "
    remedy = "Export the spans as" if "Phoenix" in tool else "Write its messages as a table"
    assert told + remedy in refusal(lines(content))


@pytest.mark.parametrize(
    ("text", "name", "remedy"),
    [
        ("---------- user ----------\nWho?\n---------- TextMessage (Ann) ----------\nBob.\n", "AutoGen", "save_state"),
        (
            '2026-01-01 10:00:00: task_name="hunt", task="Find it.", agent="Seer", status="started"\n',
            "CrewAI",
            "output_log_file",
        ),
        ("<ann> Hi: all\n<bob> Ho\n", "IRC", "[12:03] Name: text"),
    ],
)
def test_a_log_of_a_tool_as_text_is_told_by_name_with_what_to_hand_in(text: str, name: str, remedy: str) -> None:
    told = refusal(text)
    assert name in told
    assert remedy in told


def test_dashes_around_a_day_are_a_heading_of_plain_text() -> None:
    found = told(read("---------- Day 1 ----------\nAnn: Hello, Bob.\nBob: Hello, Ann.\n", "plain-text"))
    assert found == [("public", "Ann", "Hello, Bob."), ("public", "Bob", "Hello, Ann.")]


SIDES = {
    "mafia": "MAFIA,mafia,Werewolf,POSSESSED,Minion,Impostor,evil,wolf,traitor,werewolves,Alpha-Werewolf,"
    "Mafia_Godfather,minion of Mordred,Evil Villager,The werewolves win.,Fascist,Hitler,Undercover,Assassin,Imp,"
    "Poisoner,Consigliere,Role.FASCIST",
    "town": "VILLAGER,Seer,doctor,Crewmate,loyal,Mason,bystander,BODYGUARD,medium,non-mafia,werewolf-hunter,"
    "Loyal Servant of Arthur,Bystanders win!,town doctor,Liberal,Civilian,Merlin,Empath,Jailor",
    None: ",Facilitator,serial killer,Tanner,玩家,42",
}


@pytest.mark.parametrize(("role", "side"), [(role, side) for side, roles in SIDES.items() for role in roles.split(",")])
def test_the_side_of_a_role(role: str, side: str | None) -> None:
    assert alignment_of(role) == side


def test_no_role_has_no_side() -> None:
    assert alignment_of(None) is None


RULE = "-" * 80


def test_autogen_on_the_console_takes_names_inside_a_message_for_its_text() -> None:
    turns = [
        "Nora (to chat_manager):\n\nLet us write a play.",
        "\nNext speaker: Sven\n\nSven (to chat_manager):\n\n**Nora:** Who goes there?\n**Olga:** I do.",
        f"\n>>>>>>>> EXECUTING CODE BLOCK 0\nOlga (to chat_manager):\n\nNora: fine.\n\n{RULE}\n\nThe end.",
        "\nNext speaker: Nora\n\nNora (to Sven):\n\nBetween us: it is poor.",
    ]
    transcript = read("".join(f"{turn}\n\n{RULE}\n" for turn in turns))
    assert [(one.speaker, one.channel, one.text.count("\n")) for one in transcript.messages] == [
        ("Nora", "public", 0),
        ("Sven", "public", 1),
        ("Olga", "public", 4),
        ("Nora", "private", 0),
    ]
