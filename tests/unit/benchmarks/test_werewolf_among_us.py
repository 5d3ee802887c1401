"""The corpus of Werewolf Among Us: a made sample in its shape is read and measured."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks import werewolf_among_us

SAID = (
    ("Mitchell", "I'm the Seer and I looked at Jane.", "Identity Declaration"),
    ("Jane", "Mitchell is definitely the werewolf!", "Accusation"),
    ("Luke", "Hm.", "No Strategy"),
    ("Luke", " ", "No Strategy"),
)
DIALOGUE = [
    {"Rec_Id": number, "speaker": speaker, "utterance": text, "annotation": [label]}
    for number, (speaker, text, label) in enumerate(SAID, start=1)
]


def test_a_sample_in_the_shape_of_the_corpus_is_measured(tmp_path: Path) -> None:
    (tmp_path / "Youtube").mkdir()
    (tmp_path / "Youtube" / "test.json").write_text(json.dumps([{"Game_ID": "Game1", "Dialogue": DIALOGUE}]))
    (game, labels), *others = werewolf_among_us.games(tmp_path, "test")
    assert not others
    assert [message.text for message in game.discussion] == [one["utterance"] for one in DIALOGUE[:3]]
    assert labels[1] == {"Accusation"}
    figures = {one.name: one for one in werewolf_among_us.measure([(game, labels)])}
    assert figures["rule: Accusation"].value == 1
    assert figures["rule: Identity Declaration"].value == 1
    assert figures["reader: mean F1"].value is not None
