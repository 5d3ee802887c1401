"""Pages of the documentation site that are written when it is built: a hook of mkdocs.

The pages of ``docs`` stay as they are read in the repository. The reference is generated from code, and files outside
of ``docs`` that pages link to (README, CONTRIBUTING, CHANGELOG, examples) become pages, so that every link is checked.
"""

from __future__ import annotations

import ast
import posixpath
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page
from typer.main import get_command

ROOT = Path(__file__).parents[1]
PAGES = {"README.md": "readme.md", "CONTRIBUTING.md": "contributing.md", "CHANGELOG.md": "changelog.md"}
"""Files of the top folder, and their pages."""

EXAMPLES = "examples/index.md"

_LINK = re.compile(r"(\]\()([^)\s#:]+)(#[^)\s]*)?\)")
_PICTURE = re.compile(r'(src|srcset)="docs/')
# A picture of each theme: the site's own switch decides, not the system's alone.
_BOTH_PICTURES = re.compile(
    r'<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*'
    r'<img alt="([^"]*)" src="([^"]+)"[^>]*>\s*</picture>'
)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the generated pages."""
    for name, text in generated_pages().items():
        # Examples are found from their list.
        is_example = name.startswith("examples/") and name != EXAMPLES
        inclusion = InclusionLevel.NOT_IN_NAV if is_example else InclusionLevel.UNDEFINED
        files.append(File.generated(config, name, content=text, inclusion=inclusion))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Leads links out of ``docs`` to the pages that stand for the files, and shows the picture of the theme."""
    folder = posixpath.dirname(page.file.src_uri)
    inside = _LINK.sub(lambda found: _site_link(found, folder), markdown)
    return _BOTH_PICTURES.sub(r"![\2](\3#only-light)\n![\2](\1#only-dark)", inside)


def _site_link(found: re.Match[str], folder: str) -> str:
    target = posixpath.normpath(posixpath.join("docs", folder, found[2]))
    if target.startswith("docs/") or (page := page_of(target)) is None:
        return found[0]
    return f"{found[1]}{posixpath.relpath(page, folder or '.')}{found[3] or ''})"


def page_of(path: str) -> str | None:
    """The page for a file outside of ``docs``; ``None`` when it has none."""
    if path in PAGES:
        return PAGES[path]
    return path.replace(".py", ".md") if re.fullmatch(r"examples/\w+\.py", path) else None


def generated_pages() -> Mapping[str, str]:
    """Text of each generated page, by its place in the site."""
    found = {page: _moved((ROOT / name).read_text("utf-8")) for name, page in PAGES.items()}
    listed = ["# Examples", ""]
    for example in sorted((ROOT / "examples").glob("*.py")):
        text = example.read_text("utf-8")
        found[f"examples/{example.stem}.md"] = f"# {example.name}\n\n```python\n{text}```\n"
        first = (ast.get_docstring(ast.parse(text)) or example.name).partition("\n")[0]
        listed.append(f"- [{example.name}]({example.stem}.md): {first}")
    found[EXAMPLES] = "\n".join(listed)
    found["reference/cli.md"] = "\n".join(command_lines())
    found["reference/python.md"] = "\n".join(python_lines())
    found["reference/formats.md"] = "\n".join(format_lines())
    return found


def _moved(text: str) -> str:
    """A page of the top folder, as it reads inside of ``docs``."""
    within = _PICTURE.sub(r'\1="', text)

    def link(found: re.Match[str]) -> str:
        target = found[2].removeprefix("docs/") if found[2].startswith("docs/") else PAGES.get(found[2], found[2])
        return f"{found[1]}{target}{found[3] or ''})"

    return _LINK.sub(link, within)


def command_lines() -> Iterator[str]:
    """The reference of the command line: every command's own help."""
    from evaluation.cli.main import app

    yield from ("# Command line", "", "Every command prints the same with `--help`.", "")
    yield from _command(get_command(app), ("dramaturg",), None)


def _command(command: Any, path: tuple[str, ...], parent: Any) -> Iterator[str]:
    context = command.make_context(path[-1], [], parent=parent, resilient_parsing=True)
    yield from (f"{'#' * min(len(path) + 1, 4)} {' '.join(path)}", "", "```text", command.get_help(context), "```", "")
    for name, child in getattr(command, "commands", {}).items():
        yield from _command(child, (*path, name), context)


def python_lines() -> Iterator[str]:
    """The reference of the Python interface: each public name with its docstring."""
    import evaluation

    yield from ("# Python", "", "What programs use; [In Python](../python.md) shows how the parts go together.", "")
    for name in evaluation.__all__:
        value = getattr(evaluation, name)
        yield from (f"::: {value.__module__}.{value.__qualname__}", "")


def format_lines() -> Iterator[str]:
    """The reference of formats: each reader with the beginning of its module's docstring."""
    import sys

    from evaluation.readers import _format_detection as known

    groups = {
        "Files": (*known.FILE_READERS, *known.BINARY_READERS),
        "Folders of several files": known.FOLDER_READERS,
        "Archives": known.ARCHIVE_READERS,
    }
    yield from ("# Formats of transcripts", "", "A file is recognised by its content, in this order; the first that")
    yield from ("knows it reads it. [formats.md](../formats.md) tells about columns, traces and limits.", "")
    for title, readers in groups.items():
        yield from (f"## {title}", "")
        for reader in readers:
            module = sys.modules[reader.read.__module__]
            yield from _format(reader, module)


def _format(reader: Any, module: Any) -> Iterator[str]:
    yield from (f"### {reader.format}", "", str(module.__doc__ or "").strip(), "")
