"""Reads simulations of TinyTroupe from the notebook that ran them, out of what it shows on the screen.

An agent that acts is a player. What it says (TALK) is public; what it thinks and any other action (THINK, DONE,
REACH_OUT) is private, in a channel of that name. What comes from outside (the user, the world) is in the system
channel. TinyTroupe shows a talk again for each who hears it: these become its recipients, not messages. It wraps lines
and cuts long texts short with "(...)"; lines are joined again, and what was cut has ``metadata["is_cut"]``. The rounds
are the steps of the simulation. Trajectories printed afterwards repeat it and are passed over.
"""

from __future__ import annotations

import re
from collections import defaultdict, deque
from collections.abc import Iterator
from typing import Any, NamedTuple

from evaluation.errors import BrokenTranscriptError
from evaluation.readers._draft import Roster, TranscriptDraft
from evaluation.readers.document import Document, FileReader, Node
from evaluation.transcript import Transcript

FORMAT = "tinytroupe"

_COLOURS = re.compile(r"\x1b\[[0-9;]*m")
_STEP = re.compile(r"\u2500+ .{1,200} step \d{1,6} of \d{1,6} \u2500+")
_MODEL = re.compile(r"^model = (\S{1,100})$", re.MULTILINE)
_ACTS = " acts: ["
_STIMULUS = ": ["
_TO = " --> "
_TRAJECTORY = "BEGIN SIMULATION TRAJECTORY"
_CUT = "(...)"
# How many talks of an agent may still be waiting to be heard.
_REMEMBERED = 50
_TALK, _HEARD, _THINK = "TALK", "CONVERSATION", "THINK"


class _Shown(NamedTuple):
    """One block on the screen: an action (no target), a stimulus, or a step (no kind)."""

    source: str
    target: str | None
    kind: str
    text: str


def _recognises(document: Document) -> bool:
    notebook = document.json
    if not isinstance(notebook, dict) or "nbformat" not in notebook or not isinstance(notebook.get("cells"), list):
        return False
    # Colours may stand between any two words, but not inside one.
    return "acts: " in document.text and any(kind in document.text for kind in (_TALK, _THINK))


def _read(document: Document) -> Transcript:
    blocks = [block for screen in _screens(document) for block in _blocks(screen)]
    agents = dict.fromkeys(block.source for block in blocks if block.kind and block.target is None)
    if not agents:
        remedy = "Run it again and save its output."
        raise BrokenTranscriptError("The notebook shows no agent that acts.", remedy=remedy)
    draft = TranscriptDraft(Roster(agents), document.limits)
    screen = _Screen(draft)
    for block in blocks:
        screen.add(block)
    model = _MODEL.search("\n".join(_outputs(document, "text")))
    players = [{"name": agent, "model": model[1] if model else None, "is_human": False} for agent in agents]
    return draft.build(FORMAT, document.game_id(FORMAT), players)


def _screens(document: Document) -> Iterator[str]:
    """Outputs of simulations in the notebook, one after the other."""
    for output in _outputs(document, "text/plain"):
        text = _COLOURS.sub("", output)
        if _TRAJECTORY not in text:
            yield text


def _outputs(document: Document, kind: str) -> Iterator[str]:
    for cell in Node(document.json)["cells"].entries():
        for output in cell["outputs"].entries():
            text = output[kind] if kind == "text" else output["data"][kind]
            yield "".join(part.text() for part in text.entries()) if isinstance(text.value, list) else _plain(text)


def _plain(node: Node) -> str:
    return node.text_or_none() or ""


def _blocks(screen: str) -> Iterator[_Shown]:
    head: tuple[str, str | None, str] | None = None
    lines: list[str] = []
    for line in screen.split("\n"):
        quoted = line.strip()
        if head and quoted.startswith(">"):
            lines.append(quoted[1:].strip())
            continue
        if head:
            yield _Shown(*head, _joined(lines))
        head, lines = _head(quoted), []
        if _STEP.match(quoted):
            yield _Shown("", None, "", "")
    if head:
        yield _Shown(*head, _joined(lines))


def _head(line: str) -> tuple[str, str | None, str] | None:
    """Source, target and kind when the line begins a block: ``Ann acts: [TALK]``, ``Ann --> Bob: [CONVERSATION]``."""
    if not line.endswith("]"):
        return None
    agent, acts, kind = line[:-1].rpartition(_ACTS)
    if acts and agent and _is_kind(kind):
        return agent, None, kind
    ends, colon, kind = line[:-1].rpartition(_STIMULUS)
    source, arrow, target = ends.partition(_TO)
    return (source, target, kind) if colon and arrow and source and target and _is_kind(kind) else None


def _is_kind(word: str) -> bool:
    return 0 < len(word) <= 40 and word.replace("_", "").isalpha() and word.isupper()


def _joined(lines: list[str]) -> str:
    """The text before it was wrapped: at spaces, and behind the hyphens of compound words."""
    text = ""
    for line in lines:
        is_inside_word = len(text) > 1 and text[-1] == "-" and text[-2].isalnum()
        text += line if not text or is_inside_word else f" {line}"
    return text


class _Screen:
    """Follows what is shown, block by block."""

    def __init__(self, draft: TranscriptDraft) -> None:
        self._draft = draft
        self._said: defaultdict[str, deque[tuple[int, str]]] = defaultdict(lambda: deque(maxlen=_REMEMBERED))
        self._stimuli: dict[tuple[str, str, str], int] = {}

    def add(self, block: _Shown) -> None:
        """Adds one block."""
        if not block.kind:
            self._draft.round = (self._draft.round or 0) + 1
            self._stimuli.clear()
        elif block.target is None:
            self._act(block)
        elif not self._is_heard(block):
            self._receive(block, block.target)

    def _act(self, block: _Shown) -> None:
        if block.kind == _TALK:
            index = self._draft.say(block.source, block.text, "public", metadata=_metadata(block.text))
            self._said[block.source].appendleft((index, _essence(block.text)))
        else:
            name = "thoughts" if block.kind == _THINK else block.kind.casefold()
            self._draft.say(block.source, block.text, "private", channel_name=name, metadata=_metadata(block.text))

    def _is_heard(self, block: _Shown) -> bool:
        """Whether the block only shows that somebody hears what an agent said."""
        if block.kind != _HEARD or block.source not in self._said:
            return False
        heard = _essence(block.text)
        for index, essence in self._said[block.source]:
            length = min(len(essence), len(heard))
            if essence == heard or (length and essence[:length] == heard[:length]):
                self._reach(index, block.target or "")
                return True
        return False

    def _receive(self, block: _Shown, target: str) -> None:
        """A stimulus from outside, once for all whom it reaches; an agent's own goal is a thought."""
        key = (block.source, block.kind, block.text)
        if key in self._stimuli:
            self._reach(self._stimuli[key], target)
            return
        is_own = block.source == target and self._draft.roster.find(target) is not None
        self._stimuli[key] = self._draft.say(
            block.source,
            block.text,
            "private" if is_own else "system",
            channel_name=block.kind.casefold(),
            recipients=[] if is_own else [target],
            metadata=_metadata(block.text),
        )

    def _reach(self, index: int, target: str) -> None:
        message = self._draft.messages[index]
        if target not in message["recipients"]:
            message["recipients"] += (target,)


def _metadata(text: str) -> dict[str, Any]:
    return {"is_cut": True} if text.endswith(_CUT) else {}


def _essence(text: str) -> str:
    """The text without spaces and the mark of a cut: wrapping and cutting differ from one showing to the next."""
    return "".join(text.removesuffix(_CUT).split())


READER = FileReader(FORMAT, _recognises, _read)
