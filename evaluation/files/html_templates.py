"""Render HTML from the templates beside the code; every value is escaped."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from evaluation.escaping import safe_lines

if TYPE_CHECKING:
    from jinja2 import Environment

_ROOT = Path(__file__).parents[1]


def render(template: str, **values: object) -> str:
    """A whole document.

    Args:
        template: Its file, relative to the folder of ``evaluation``: "report/templates/report.html.j2".
        values: What its names stand for. Text may be of unknown origin.

    Raises:
        jinja2.UndefinedError: The template uses a name that has no value.
    """
    return environment().get_template(template).render(values)


@cache
def environment() -> Environment:
    """The settings of all templates: values are escaped, and unknown names are errors."""
    # Imported here: most commands render no template.
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    return Environment(
        loader=FileSystemLoader(_ROOT),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_without_control_characters,
        trim_blocks=True,
        lstrip_blocks=True,
    )


def _without_control_characters(value: object) -> object:
    """Text of unknown origin without what steers a terminal or reorders text; the environment escapes it next."""
    return value if isinstance(value, int | float) or hasattr(value, "__html__") else safe_lines(value)
