"""What a narrow screen does otherwise than a wide one."""

from __future__ import annotations

from playwright.sync_api import expect


def test_the_reason_opens_in_a_dialog_on_a_narrow_screen(sample_server, visit) -> None:
    store = sample_server.store
    summaries = store.transcripts.summaries()
    first = summaries.loc[summaries["iteration"].notna(), "transcript_id"].iloc[-1]
    store.close()
    seen = visit(f"{sample_server.url}/transcripts?transcript={first}", width=390, height=844)
    seen.page.locator(".badge", has_text="Depth").first.click()
    expect(seen.page.get_by_role("dialog").get_by_text("decided by the rule").first).to_be_visible()
