import pytest

from tests.unit.readers.reading import read, refusal

LOG = """0,status,1,VILLAGER,ALIVE,team-x,George
0,status,2,WEREWOLF,ALIVE,team-y,Shion
0,talk,0,0,1,Hello, everyone, I am George, hi
0,talk,1,0,2,Over
1,whisper,0,0,2,Nobody hears me
1,guard,1,2
1,vote,1,2
1,vote,2,-1
1,attackVote,2,1
1,attack,1,false
2,mystery,1,2
2,execute,2,WEREWOLF
3,status,1,VILLAGER,ALIVE,team-x,George
3,status,2,WEREWOLF,DEAD,team-y,Shion
3,result,1,0,VILLAGER
"""


def test_every_kind_of_line() -> None:
    transcript = read(LOG)
    assert [(m.channel, m.phase, m.round, m.speaker) for m in transcript.messages] == [
        ("public", "day", 0, "George"),
        ("public", "day", 0, "Shion"),
        ("team", "night", 1, "Shion"),
    ]
    assert [(v.voter, v.target, v.phase) for v in transcript.votes] == [
        ("George", "Shion", "day"),
        ("Shion", None, "day"),
        ("Shion", "George", "night"),
    ]
    # The attack was warded off, so only the execution counts.
    assert [e.player for e in transcript.eliminations] == ["Shion"]
    assert transcript.metadata["guard"] == [{"round": 1, "player": "George", "target": "Shion", "result": None}]
    assert transcript.metadata["other_events"] == [{"round": 2, "kind": "mystery", "fields": "1,2"}]
    assert [p.is_alive for p in transcript.players] == [True, False]


def test_a_team_against_itself_without_characters_is_told_apart_by_index() -> None:
    log = "0,status,1,VILLAGER,ALIVE,team-x\n0,status,2,WEREWOLF,ALIVE,team-x\n0,talk,0,0,2,Hi\n"
    transcript = read(log)
    assert transcript.player_names == ("team-x 1", "team-x 2")
    assert transcript.messages[0].speaker == "team-x 2"


def test_older_logs_that_name_the_speaker() -> None:
    assert read(LOG.replace("talk,0,0,1,", "talk,0,0,George,")).messages[0].speaker == "George"


REFUSALS = [
    (
        LOG.replace("talk,1,0,2,Over", "talk,1,0,9,Over"),
        "line 4: The talk line names '9', whom no status line introduces.",
    ),
    (LOG.replace("vote,1,2", "vote,1,7"), "line 7: The vote line names '7', whom no status line introduces."),
    (LOG.replace("0,talk,1,0,2,Over", "0,talk,1"), "line 4: The talk line has 1 of 4 fields."),
    (LOG.replace("1,guard,1,2", "good night"), 'line 6: "good night" is not an event.'),
    ("0,talk,0,0,1,Hi\n", "The log has no status line, so nobody plays."),
]


@pytest.mark.parametrize(("text", "expected"), REFUSALS, ids=range(len(REFUSALS)))
def test_a_broken_log_is_refused_with_its_place(text: str, expected: str) -> None:
    assert refusal(text).startswith(expected)
