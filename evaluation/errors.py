"""One exception tree; every error names the value, the place and the remedy."""

from __future__ import annotations

# Control characters that a value in a message may hold act on terminals; line ends and tabs stay.
_CONTROLS = {number: f"\\x{number:02x}" for number in (*range(32), *range(127, 160)) if chr(number) not in "\n\t"}


class DramaturgError(Exception):
    """Base of every error that Dramaturg raises on purpose.

    Args:
        message: What is wrong, with the offending value.
        place: Where it is: ``file:line``, a JSON path, a table or an option. Empty when the message says it.
        remedy: What the person can do about it.
    """

    def __init__(self, message: str, *, place: str = "", remedy: str = "") -> None:
        super().__init__(message)
        self.message = message.translate(_CONTROLS)
        self.place = place.translate(_CONTROLS)
        self.remedy = remedy

    def __str__(self) -> str:
        where = f"{self.place}: " if self.place else ""
        # Words of a server or another library seldom end like a sentence.
        stop = "" if self.message.rstrip(" )]\"'").endswith((".", "!", "?", ":", ";")) else "."
        what_to_do = f"{stop} {self.remedy}" if self.remedy else ""
        return f"{where}{self.message}{what_to_do}"


class InputError(DramaturgError):
    """Input from a person cannot be used (exit code 2)."""


class UnknownFormatError(InputError):
    """No reader recognises the file."""


class BrokenTranscriptError(InputError):
    """A reader recognises the format, but the content is damaged or contradicts itself."""


def own_words(message: str) -> str:
    """The message of a ``ValueError`` that was raised in a check, without what pydantic and typer put before it."""
    return message.removeprefix("Value error, ")


class OpenQuestionError(InputError):
    """A file can be read in two ways, and a person has to say which.

    Attributes:
        asked: Topic of each question, and its name or else its words: the same for files that ask alike.
    """

    asked: frozenset[tuple[str, str]] = frozenset()


class UnreadableFileError(InputError):
    """A file or archive cannot be opened, unpacked or decoded to text."""


class LimitError(InputError):
    """A file, archive or transcript is larger than the configured limit."""

    @classmethod
    def beyond(cls, setting: str, message: str, *, advice: str, place: str = "") -> LimitError:
        """The refusal of what is beyond a limit that can be set; the remedy names the setting behind the advice."""
        raised = f"or raise limit.{setting} (Settings, Import limits, or dramaturg settings --set)."
        return cls(message, place=place, remedy=f"{advice}, {raised}")


class NotFoundError(InputError):
    """The store holds nothing under that name or id."""


class ConflictError(InputError):
    """The request contradicts what is already stored (a name taken, a draft for a submitted rating)."""


class NotAllowedError(InputError):
    """The person does not have the role for the action."""


class InfrastructureError(DramaturgError):
    """Something outside the input failed: a disk, a server, another process (exit code 3)."""


class StoreError(InfrastructureError):
    """The database cannot be used."""


class StoreBusyError(StoreError):
    """Another process holds the database file and did not let go within the time allowed."""


class StoreMovedError(StoreError):
    """The database file was moved, deleted or replaced while it was in use."""


class NewerSchemaError(StoreError):
    """The database was written by a newer version of Dramaturg."""


class JudgeError(InfrastructureError):
    """A judge could not be asked, or refused to answer."""


class JSONParseError(JudgeError):
    """A model did not give the JSON that was asked for, however often it was told what is wrong.

    Args:
        message: What is wrong with the last answer.
        raw: Everything that the model wrote, word for word.
    """

    def __init__(self, message: str, *, raw: str = "", place: str = "", remedy: str = "") -> None:
        super().__init__(message, place=place, remedy=remedy)
        self.raw = raw
