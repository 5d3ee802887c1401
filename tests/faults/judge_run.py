"""A run of judgements in a process of its own, to be killed: ``python -m tests.faults.judge_run URL DATABASE COUNT``.

Prints the subject of every judgement as soon as it is reported, and to standard error which modules were imported after
the client was prepared.
"""

import asyncio
import sys

from evaluation.judging.judge_config import build_judge, judge_config
from evaluation.judging.protocol import Judgement
from evaluation.store import Store
from tests.judge_questions import claims


def main(url: str, database: str, count: str) -> None:
    """Judges, keeping every answer in the database."""
    asked = claims(int(count))

    def report(position: int, judgement: Judgement) -> None:
        print(asked[position].subject, judgement.status, judgement.is_cached, sep=";", flush=True)

    config = judge_config({"base_url": url, "model": "local-model", "concurrency": 10}, environment={})
    judge = build_judge(config, cache=Store(database).judgements)
    prepared: set[str] = set()

    async def run() -> None:
        assert judge.client is not None
        await judge.client.prepare()
        prepared.update(sys.modules)
        await judge.judge(asked, report=report)

    asyncio.run(run())
    print(*sorted(set(sys.modules) - prepared), file=sys.stderr)


if __name__ == "__main__":
    main(*sys.argv[1:])
