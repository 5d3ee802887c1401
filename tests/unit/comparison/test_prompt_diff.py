"""Two prompts line by line, with the words that differ."""

from __future__ import annotations

from evaluation.comparison.iterations import MOST_LINES, is_cut, prompt_diff


def test_prompts_of_any_length() -> None:
    assert prompt_diff("a\nb", "a\nb") == []
    # Lines 3 and 20 change; two lines around each stay, and dots stand between.
    old = [str(number) for number in range(30)]
    new = [*old[:3], "x", *old[4:20], "y", *old[21:]]
    assert [line.text for line in prompt_diff("\n".join(old), "\n".join(new))] == [
        *("  1", "  2", "- 3", "+ x", "  4", "  5", "..."),
        *("  18", "  19", "- 20", "+ y", "  21", "  22"),
    ]
    assert not is_cut("a\n" * MOST_LINES, "")
    assert is_cut("a\n" * (MOST_LINES + 1), "")


def test_the_words_of_a_prompt_that_differ_are_marked() -> None:
    gone, come, more = prompt_diff("Play to win.", "Play hard to win.\nBe brief.")
    assert [gone.marks, more.marks] == [(), ()]
    assert [come.text[begin:end] for begin, end in come.marks] == [" hard"]
    gone, come = prompt_diff("Say 🙂 yes.", "Say 🙂 no.")
    assert [line.text[begin:end] for line in (gone, come) for begin, end in line.marks] == ["yes", "no"]
