"""Scores, money and errors in the words of pages, and drafts that come back."""

import pytest

from dashboard.shared.formatting import (
    SIGNS,
    label_with_unit,
    look,
    score_text,
    share_text,
    spread_text,
    usd_text,
    verdict_color,
    without_unit,
)
from dashboard.shared.notices import words_of
from dashboard.shared.status_table import holds_figures
from evaluation.errors import InputError, LimitError
from evaluation.iterations.checklist import CheckState
from evaluation.iterations.keep_or_revert import Choice
from evaluation.ratings import Rating
from evaluation.rubric.verdict import VerdictStatus
from evaluation.score import LIKERT, PERCENT, RowVerdict, Status
from evaluation.store import Store
from tests.games import game_of

NBSP = "\N{NO-BREAK SPACE}"


def plain(text: str) -> str:
    """Numbers stand beside their units with a no-break space; here the plain one reads better."""
    return text.replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("score", "scale", "threshold", "words"),
    [
        (82.44, PERCENT, 80.0, "82.4 %"),
        (3.5, LIKERT, 3.0, "3.5 of 5"),
        (None, PERCENT, 80.0, "no score"),
        (float("nan"), PERCENT, None, "no score"),
        # 79.97 failed: "80.0 %" beside "at least 80 %, failed" would look like a mistake.
        (79.97, PERCENT, 80.0, "79.97 %"),
        (79.9996, PERCENT, 80.0, "79.9996 %"),
        (2.96, LIKERT, 3.0, "2.96 of 5"),
        (80.0, PERCENT, 80.0, "80.0 %"),
    ],
)
def test_scores_carry_their_unit_and_the_digits_that_tell(score: float, scale, threshold, words: str) -> None:
    assert plain(score_text(score, scale, threshold)) == words


def test_a_column_has_its_unit_in_the_heading_and_its_figures_to_the_right() -> None:
    assert [label_with_unit(name) for name in ("strategic_depth", "engagement")] == ["Depth, %", "Engagement, of 5"]
    assert [without_unit(f"✓ 84.0{NBSP}%"), without_unit("… 4.3 of 5")] == ["✓ 84.0", "… 4.3"]
    for texts, is_number in (
        (["✓ 84.0", "≈ 100.0", "– not applicable"], True),
        (["+2.6 to +20.7", "no interval", "\u22128.1 to +17.2"], True),
        (["more than 100", "8", "4"], True),
        (["2 of 7", ""], True),
        (["2026-11-28 12:52", "2026-11-28 12:53"], False),
        (["… pending", "✓ passed"], False),
        ([""], False),
    ):
        assert holds_figures(texts) is is_number, texts


def test_a_spread_needs_two_values() -> None:
    assert spread_text([71.0], PERCENT) == ""
    assert plain(spread_text([88.21, 71.0, 80.0], PERCENT)) == "71.0 to 88.2 %"
    assert spread_text([3.0, 4.0], LIKERT) == "3.0 to 4.0"
    assert plain(spread_text([100.0, 99.99], PERCENT)) == "all 100.0 %"


def test_unknown_money_and_shares_are_unknown_not_zero() -> None:
    assert (plain(usd_text(None)), plain(share_text(None))) == ("unknown", "unknown")
    assert (plain(usd_text(1.754)), plain(share_text(0.768))) == ("1.75 USD", "77 %")
    # Two dollar signs in one caption would be set as a formula.
    assert "$" not in usd_text(3.0)


@pytest.mark.parametrize("kind", [Status, RowVerdict, VerdictStatus, CheckState, Choice])
def test_every_status_has_a_symbol_and_a_word(kind) -> None:
    assert all(look(one).symbol in SIGNS for one in kind), "the Guide says what each sign means"
    for status in kind:
        appearance = look(status)
        assert appearance.symbol
        assert appearance.word
        assert "_" not in appearance.label


def test_a_verdict_has_the_colour_of_its_sign_and_amber_says_that_it_is_held_with_care() -> None:
    colors = {one: look(one).color for one in ("kept", "counts", "failed_at_chance", "pending", "excluded", "unheard")}
    assert colors == dict(zip(colors, ("green", "green", "red", "blue", "gray", "gray"), strict=True))
    assert {look(f"{one}_low_evidence").color for one in ("passed", "failed")} == {"orange"}
    assert [verdict_color(words) for words in ("on low evidence", "could be luck", "▼ worse")] == [
        "orange",
        "gray",
        "red",
    ]


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (InputError("No game.", remedy="See them with: dramaturg list."), "No game."),
        (
            InputError("None", remedy="Choose from: a, b. Import one with: dramaturg agents import."),
            "None. Choose from: a, b.",
        ),
        (
            InputError("Gone", remedy="Restore the file, or make it again with `dramaturg persona baseline`."),
            "Gone. Restore the file.",
        ),
        (
            LimitError.beyond("file", "Too large", advice="Split it"),
            "Too large. Split it, or raise limit.file (Settings, Import limits).",
        ),
        (
            InputError(
                "Old", remedy="Export it, with dramaturg export x -o games.zip and dramaturg export y -o r.csv."
            ),
            "Old. Export it.",
        ),
        (InputError(r"No 'a\u202eb'."), "No 'a\N{REPLACEMENT CHARACTER}b'."),
        (
            InputError("Too long", place="name", remedy="Shorten it; it is kept."),
            "name: Too long. Shorten it; it is kept.",
        ),
    ],
)
def test_an_error_on_a_page_names_no_command_and_no_escape(error: InputError, words: str) -> None:
    assert words_of(error) == words


GAME = game_of([("Alpha", "Hello")])


def token_of(store: Store) -> str:
    store.transcripts.add(GAME, source_name="g.json")
    return store.ratings.token("Ada", GAME.id)


def test_a_draft_comes_back(store: Store) -> None:
    token = token_of(store)
    assert store.drafts.load(token) is None
    assert store.drafts.save(token, 1, {"score": 3, "comment": "half a thou"})
    draft = store.drafts.load(token)
    assert (draft.revision, draft.body) == (1, {"score": 3, "comment": "half a thou"})


def test_the_newer_draft_wins_whatever_comes_last(store: Store) -> None:
    token = token_of(store)
    assert store.drafts.save(token, 7, {"score": 4})
    assert not store.drafts.save(token, 6, {"score": 1})
    assert not store.drafts.save(token, 7, {"score": 1})
    assert store.drafts.save(token, 8, {"score": 5})
    draft = store.drafts.load(token)
    assert draft.body == {"score": 5}


def test_a_draft_that_comes_late_is_refused(store: Store) -> None:
    token = token_of(store)
    store.drafts.save(token, 1, {"score": 3})
    store.ratings.add(Rating(GAME.id, "Ada", 4, token=token))
    assert store.drafts.load(token) is None
    assert not store.drafts.save(token, 2, {"score": 3})
    assert store.drafts.load(token) is None


def test_nobody_can_store_under_a_token_that_was_never_given_out(store: Store) -> None:
    assert not store.drafts.save("made-up", 1, {"score": 3})
