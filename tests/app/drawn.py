"""What a page draws and leaves behind."""

import json
import re
import threading
from collections.abc import Iterator, Sequence
from typing import Any

import pandas as pd
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Block


def drawn(app: AppTest) -> Sequence[Any]:
    """All but tables and the one of the frame that speaks to the browser's history and shows nothing."""
    names = ("history", "text_table")
    return [one for one in app.get("bidi_component") if not any(name in one.proto.component_name for name in names)]


def tables(app: AppTest) -> list[pd.DataFrame]:
    """The tables of the page as texts, in their order."""
    held = [json.loads(one.proto.json) for one in app.get("bidi_component") if "text_table" in one.proto.component_name]
    return [
        pd.DataFrame(
            [[cell[0].replace("\u00a0", " ") for cell in row] for row in one["rows"]],
            columns=[column["label"] for column in one["columns"]],
        )
        for one in held
    ]


def data_of(app: AppTest, name: str) -> dict[str, Any]:
    """What the one component of the page whose name holds ``name`` is drawn with."""
    (component,) = [one for one in app.get("bidi_component") if name in one.proto.component_name]
    return dict(json.loads(component.proto.json))


def sent(app: AppTest) -> list[str]:
    """Everything that the page sends to a browser, one text an element; downloads have a new address each time."""
    return [re.sub("deferred_file_id.*", "", text) for text in _sent(app._tree)]


def _sent(block: Block) -> Iterator[str]:
    for child in block.children.values():
        yield str(getattr(child, "proto", ""))
        if isinstance(child, Block):
            yield from _sent(child)


def assert_inert(app: AppTest) -> None:
    """Nothing that Markdown is read in holds the address of the hostile text."""
    assert not app.exception
    kinds = (app.title, app.header, app.subheader, app.markdown, app.caption, app.button, app.expander, app.metric)
    kinds += (app.info, app.success, app.warning, app.error)
    assert [one.proto for kind in kinds for one in kind if "evil.example" in str(one.proto)] == []


def wait_for_jobs() -> None:
    """Returns once no job runs any more; one that ends may start another."""
    while threads := [one for one in threading.enumerate() if one.name.startswith("job-")]:
        threads[0].join(120)
