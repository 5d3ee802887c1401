"""A verdict overridden, and a message that the judge cites, in a real browser."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from evaluation.rubric_judge.reading_decisions import RowDecision
from evaluation.score import RowVerdict
from tests.browser.hands import settle

METRIC = "strategic_depth"


def test_a_click_on_a_citation_goes_to_the_message_and_a_verdict_is_overridden(stored_server, visit) -> None:
    store = stored_server.store
    transcript_id = str(store.transcripts.summaries()["transcript_id"].iloc[0])
    said = store.transcripts.get(transcript_id).discussion
    row = next(row for row in store.results.load(transcript_id)[METRIC].ledger if row.message_id == said[0].id)
    cited = said[-1]
    store.decisions.save(
        [
            RowDecision(
                transcript_id=transcript_id,
                metric=METRIC,
                row_id=row.id,
                verdict=RowVerdict.COUNTS,
                label="strategic",
                reason="A plan for the vote.",
                confidence=0.75,
                citations=(cited.id,),
                judge="live",
                model="small-model",
                key="a" * 64,
            )
        ]
    )
    store.close()
    page = visit(f"{stored_server.url}/games?transcript={transcript_id}&message={said[0].id}&metric={METRIC}").page
    expect(page.get_by_text("A plan for the vote.").first).to_be_visible()

    depth = page.get_by_text("Strategic depth").first
    before = depth.inner_text()
    page.get_by_text("Override this verdict").first.click()
    settle(page)
    page.get_by_role("radiogroup", name="This should be").get_by_text("counts against").click()
    page.get_by_role("textbox", name="Why").fill("Only a greeting.")
    page.get_by_role("textbox", name="Your name").fill("Grace")
    page.get_by_role("button", name="Override", exact=True).click()
    expect(page.get_by_text(re.compile(r"Saved\. .+ (→|stays at) [0-9.]+")).first).to_be_visible()
    expect(page.get_by_text("UTC: counts against. Only a greeting.").first).to_be_visible()
    expect(page.get_by_text("A plan for the vote.").first).to_be_visible()
    expect(depth).not_to_have_text(before)
    assert [(one.author, one.row_id) for one in stored_server.store.overrides.list(transcript_id)] == [
        ("Grace", row.id)
    ]

    settle(page)
    page.get_by_role("button", name=f"Cites message {cited.index + 1}").click()
    expect(page.locator(".message").filter(has_text=cited.text[:40]).last).to_be_in_viewport()

    page.goto(f"{stored_server.url}/games?transcript={transcript_id}&message={said[0].id}&metric={METRIC}")
    name = page.get_by_role("textbox", name="Your name")
    name.fill("Ada")
    name.press("Enter")
    page.get_by_role("button", name="Undo", exact=True).click()
    expect(page.get_by_text(re.compile(r"Taken back\. .+ (→|stays at) [0-9.]+")).first).to_be_visible()
    # Without a reload: the scores above the conversation are those of today.
    expect(page.get_by_text("Strategic depth").first).to_have_text(before)
