"""Exit codes, and the conversion of errors to a line on standard error and a code.

0 done; 1 a gate that was asked for failed, or an agent's score fell below its baseline; 2 wrong usage or bad input;
3 something outside the input failed (a disk, a database, a judge, a fault of Dramaturg, such as a metric that could not
be computed). Where several apply, the highest of them: a broken tool is the most important to know. As is usual, 130
stands for an interruption, and 141 for a reader that closed the pipe.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any

import typer
from typer.core import TyperGroup

from evaluation.cli.terminal import note
from evaluation.errors import DramaturgError, InfrastructureError, own_words
from evaluation.text.display import counted

GATE_FAILED = 1
BAD_INPUT = 2
INFRASTRUCTURE = 3
INTERRUPTED = 130
PIPE_CLOSED = 141

TRACEBACK_VARIABLE = "DRAMATURG_TRACEBACK"


def finish_scoring(*, incomplete: int, refused: int = 0, gate_failed: int = 0) -> None:
    """Says what failed when games were scored, and ends with the exit code for the worst of it.

    Args:
        incomplete: How many games lack a metric that could not be computed.
        refused: How many files could not be read.
        gate_failed: How many games failed the gate.
    """
    code = GATE_FAILED if gate_failed else 0
    if refused:
        note(f"{refused} could not be read, or waits for an answer; see above.")
        code = BAD_INPUT
    if incomplete:
        note(f"error: {counted(incomplete, 'game')} could not be scored on every metric.")
        code = INFRASTRUCTURE
    if code:
        raise typer.Exit(code)


class CommandGroup(TyperGroup):
    """Runs a command so that no error reaches the person as a traceback."""

    def invoke(self, ctx: Any) -> Any:
        with exit_codes():
            result = super().invoke(ctx)
            # A full disk or a closed pipe shows here, not after everything seemed to have gone well.
            sys.stdout.flush()
            return result


def command_group(description: str) -> typer.Typer:
    """An empty group of commands; called alone, it prints its help."""
    return typer.Typer(cls=CommandGroup, rich_markup_mode=None, no_args_is_help=True, help=description)


@contextmanager
def exit_codes() -> Iterator[None]:
    """Turns errors into a message and an exit code."""
    try:
        yield
    except DramaturgError as error:
        note(f"error: {error}")
        raise typer.Exit(INFRASTRUCTURE if isinstance(error, InfrastructureError) else BAD_INPUT) from None
    except typer.BadParameter as error:
        error.message = own_words(error.message)
        raise
    except KeyboardInterrupt:
        note("Interrupted. What was stored until now is kept.")
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        _drop_what_cannot_be_written()
        raise typer.Exit(PIPE_CLOSED) from None
    except OSError as error:
        place = f"{error.filename}: " if error.filename else ""
        note(f"error: {place}{error.strerror or error}.")
        _drop_what_cannot_be_written()
        raise typer.Exit(INFRASTRUCTURE) from None


def _drop_what_cannot_be_written() -> None:
    """Lets Python end with our exit code: it would try once more to write what is still buffered, and fail again."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def report_fault(kind: type[BaseException], fault: BaseException, trace: TracebackType | None) -> None:
    """For ``sys.excepthook``: an error that nobody foresaw, as one line; its traceback only when asked for."""
    if os.environ.get(TRACEBACK_VARIABLE):
        import traceback

        traceback.print_exception(kind, fault, trace)
    else:
        note(f"error: This is a fault in Dramaturg: {kind.__name__}: {fault}")
        note(f"To see where it happened, set {TRACEBACK_VARIABLE}=1 and run the command again.")
    sys.exit(INFRASTRUCTURE)
