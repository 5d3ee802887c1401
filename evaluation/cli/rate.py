"""``dramaturg rate``: a person's engagement rating of a stored transcript."""

from __future__ import annotations

from typing import Annotated

import typer

from evaluation.cli.options import Database, TranscriptReference, open_store
from evaluation.cli.pipeline import current_evaluation
from evaluation.cli.terminal import note, safe, say


def rate(
    transcript: TranscriptReference,
    rater: Annotated[str, typer.Option(metavar="NAME", show_default=False, help="Who rates.")],
    score: Annotated[int, typer.Option(min=1, max=5, show_default=False, help="From 1, boring, to 5, fascinating.")],
    answers: Annotated[
        str,
        typer.Option(
            metavar="yynyy",
            show_default=False,
            help="The five questions in order, y, n, or - for no answer: would watch 3 minutes; curious about the "
            "Mafia; an agent stood out; flowed naturally; would watch another game.",
        ),
    ],
    comment: Annotated[str, typer.Option(help="What a colleague should know.")] = "",
    db: Database = None,
) -> None:
    """Rate a stored transcript from 1 to 5.

    A later rating by the same person counts instead of the earlier one; both are kept.
    """
    from evaluation.ratings import Rating, parse_answers
    from evaluation.rubric.definitions import ENGAGEMENT
    from evaluation.rubric.wording import counted

    given = parse_answers(answers)
    store = open_store(db)
    with store.unit(write=True):
        found = store.transcripts.get(store.transcripts.resolve(transcript))
        rating = Rating(found.id, rater, score, given, comment)
        store.ratings.add(rating)
        name = store.transcripts.name(found.id)
        evaluation = current_evaluation(store, found)
    if rating.breaks_one_way_rule:
        note(
            f"warning: {rating.yes_count} of the five questions were answered with yes, which promises at least 3, but "
            f"the score is {score}. It is saved and flagged; rate again to revise it."
        )
    engagement = evaluation.metrics[ENGAGEMENT.name]
    raters = counted(int(engagement.denominator), "rater")
    say(f"{safe(rating.rater)} rated {found.id[:8]} ({safe(name)}) {score} of 5.")
    say(f"Engagement is {engagement.score:.2f} by {raters}; the verdict is {evaluation.verdict.status}.")
