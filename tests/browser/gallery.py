"""One page with all pictures that the browser tests took."""

from __future__ import annotations

import html
from collections import defaultdict
from pathlib import Path

_SIZES = ("1280-light", "1280-dark", "390-light", "390-dark")
_STYLE = (
    "body{font:16px sans-serif;margin:2rem}figure{display:inline-block;margin:0 1rem 1rem 0;vertical-align:top}"
    "img{height:22rem;border:1px solid #999}figcaption{font-size:.8rem}"
)


def write_gallery(folder: Path) -> None:
    """Writes ``index.html`` beside the pictures ``<view>-<state>-<width>-<theme>.png``, a heading for each view."""
    views: defaultdict[str, list[str]] = defaultdict(list)
    for picture in sorted(folder.glob("*.png")):
        parts = picture.stem.rsplit("-", 3)
        if len(parts) == 4 and "-".join(parts[2:]) in _SIZES:
            views[parts[0]].append(picture.name)
    sections = "".join(f"<h2>{html.escape(view)}</h2>{_figures(names)}" for view, names in views.items())
    head = f"<!doctype html><meta charset=utf-8><title>Dramaturg in pictures</title><style>{_STYLE}</style>"
    (folder / "index.html").write_text(f"{head}<h1>Every page in each state</h1>{sections}", encoding="utf-8")


def _figures(names: list[str]) -> str:
    figure = "<figure><a href='{0}'><img src='{0}' alt='{0}' loading=lazy></a><figcaption>{0}</figcaption></figure>"
    return "".join(figure.format(html.escape(name, quote=True)) for name in names)
