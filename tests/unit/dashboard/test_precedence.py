"""Saving goes before drawing: what waits goes on when nothing urgent is left, or when it has waited long enough."""

from __future__ import annotations

import threading

from dashboard.app_pages.rate.desk_state import Precedence

LONG = 60.0


def test_what_waits_goes_on_only_when_the_last_urgent_thing_is_done() -> None:
    order: list[str] = []
    precedence = Precedence()

    def drawn() -> None:
        precedence.give_way(LONG)
        order.append("drawn")

    drawing = threading.Thread(target=drawn)
    with precedence.urgent():
        with precedence.urgent():
            drawing.start()
            order.append("first saved")
        assert not precedence.give_way(0.0)
        order.append("second saved")
    drawing.join(LONG)
    assert order == ["first saved", "second saved", "drawn"]


def test_an_urgent_thing_that_fails_holds_up_nobody() -> None:
    precedence = Precedence()
    try:
        with precedence.urgent():
            raise ValueError
    except ValueError:
        pass
    assert precedence.give_way(0.0)


def test_nobody_waits_for_good() -> None:
    precedence = Precedence()
    with precedence.urgent():
        assert not precedence.give_way(0.001)
