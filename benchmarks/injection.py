"""False alarms of the flag for text addressed to the judge: ``python -m benchmarks.injection``.

Prints how many messages of the real games in ``tests/data`` are flagged, and each place. At most 1 % may be.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evaluation.judging.guard.fencing import Flag, flags
from evaluation.readers import read_path
from evaluation.transcript import Message

DATA = Path(__file__).parents[1] / "tests" / "data"
LARGEST_SHARE = 0.01
_LONGEST_PLACE = 60


@dataclass(frozen=True, slots=True)
class Alarms:
    """The flagged messages of one source.

    Attributes:
        source: The folder's name.
        messages: How many messages its games hold, private ones too.
        flagged: Those with a flag, each with its flags.
    """

    source: str
    messages: int
    flagged: tuple[tuple[Message, tuple[Flag, ...]], ...]


def alarms(data: Path = DATA) -> list[Alarms]:
    """The flagged messages of every folder of games in ``data``."""
    found = []
    for folder in sorted(path for path in data.iterdir() if path.is_dir()):
        messages = list(_messages(folder))
        flagged = tuple((message, raised) for message in messages if (raised := flags(message.text)))
        found.append(Alarms(folder.name, len(messages), flagged))
    return found


def _messages(folder: Path) -> Iterator[Message]:
    for result in read_path(folder):
        if result.transcript is not None:
            yield from result.transcript.messages


def share(found: list[Alarms]) -> float:
    """The share of flagged messages among all, 0 to 1."""
    return sum(len(one.flagged) for one in found) / max(sum(one.messages for one in found), 1)


def main() -> int:
    """Prints the table and the places; 1 when more than 1 % of the messages are flagged."""
    found = alarms()
    print(f"{'source':<16}{'messages':>10}{'flagged':>10}{'share':>9}")
    for one in found:
        print(
            f"{one.source:<16}{one.messages:>10}{len(one.flagged):>10}{len(one.flagged) / max(one.messages, 1):>9.2%}"
        )
    total = sum(one.messages for one in found)
    print(f"{'all':<16}{total:>10}{sum(len(one.flagged) for one in found):>10}{share(found):>9.2%}  (at most 1 %)\n")
    for one in found:
        for message, raised in one.flagged:
            places = ", ".join(
                f"{flag.kind} {message.text[flag.start : flag.end][:_LONGEST_PLACE]!a}" for flag in raised
            )
            print(f"{one.source}: {places}")
    return int(share(found) > LARGEST_SHARE)


if __name__ == "__main__":
    sys.exit(main())
