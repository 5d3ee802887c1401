"""Write the files that a project starts with: its configuration, a folder for games, and jobs for CI."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from jinja2 import Environment, StrictUndefined

from evaluation.errors import InputError
from evaluation.rubric.definitions import DEFINITIONS, ENGAGEMENT
from evaluation.workflows.projects.configuration import FILE_NAME, ProjectConfiguration

_TEMPLATES = Path(__file__).parent / "starting_files"
_UNNAMED_ACTION = "OWNER/dramaturg@VERSION"
_UNNAMED_REQUIREMENT = "dramaturg==VERSION"


class CISystem(StrEnum):
    """Systems for which a job is written."""

    GITHUB = "github"
    GITLAB = "gitlab"
    NONE = "none"


class StartingFile(NamedTuple):
    """A file of a new project, and whether it was written now or had been there."""

    path: Path
    is_new: bool


def write_starting_files(
    folder: Path, configuration: ProjectConfiguration, ci: CISystem = CISystem.GITHUB, *, action: str | None = None
) -> list[StartingFile]:
    """Writes what is missing; a file that is there stays as it is.

    Args:
        folder: The project; created where it is missing.
        configuration: What ``dramaturg.toml`` says.
        ci: For which system a job is written.
        action: ``OWNER/REPOSITORY@REF`` of the GitHub action; a place holder when left out.

    Raises:
        InputError: A file or folder cannot be written; ``action`` cannot be used.
    """
    if action is not None and not (action.isascii() and action.isprintable() and "@" in action and " " not in action):
        raise InputError(f"{action!r} is not OWNER/REPOSITORY@REF.", place="--action")
    texts = {
        FILE_NAME: configuration_text(configuration),
        # git keeps no empty folders.
        f"{configuration.games}/.gitkeep": "",
        **_job(ci, action),
    }
    written = []
    for name, text in texts.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("x", encoding="utf-8") as file:
                file.write(text)
            written.append(StartingFile(path, True))
        except FileExistsError:
            if not path.is_file():
                raise InputError("There is something else than a file.", place=str(path)) from None
            written.append(StartingFile(path, False))
        except OSError as error:
            raise InputError(f"It cannot be written: {error.strerror or error}.", place=str(path)) from None
    return written


def configuration_text(configuration: ProjectConfiguration) -> str:
    """The configuration as TOML, from which :func:`read_configuration` reads it again."""
    rubric = [f"{name} {one.threshold:g}" for name, one in DEFINITIONS.items() if name != ENGAGEMENT.name]
    environment = Environment(undefined=StrictUndefined, autoescape=False, keep_trailing_newline=True)
    return environment.from_string((_TEMPLATES / "dramaturg.toml.j2").read_text("utf-8")).render(
        games=_quoted(configuration.games),
        gate=_quoted(str(configuration.gate)),
        max_drop=configuration.max_drop,
        base=_quoted(configuration.iterations.base),
        proposed=_quoted(configuration.iterations.proposed),
        rubric="\n# " + ", ".join(rubric[:3]) + ",\n# " + ", ".join(rubric[3:]) + ".",
        thresholds=list(configuration.thresholds.items()),
    )


def _quoted(text: str) -> str:
    """Text as a basic string of TOML, which escapes as JSON does."""
    return json.dumps(text, ensure_ascii=False)


def _job(ci: CISystem, action: str | None) -> Mapping[str, str]:
    version = metadata.version("dramaturg")
    if ci is CISystem.GITHUB:
        text = (_TEMPLATES / "github-workflow.yml").read_text("utf-8")
        chosen = action or _UNNAMED_ACTION.replace("VERSION", f"v{version}")
        return {".github/workflows/games.yml": text.replace(_UNNAMED_ACTION, chosen)}
    if ci is CISystem.GITLAB:
        text = (_TEMPLATES / "gitlab-ci.yml").read_text("utf-8")
        return {".gitlab/dramaturg.yml": text.replace(_UNNAMED_REQUIREMENT, f"dramaturg=={version}")}
    return {}
