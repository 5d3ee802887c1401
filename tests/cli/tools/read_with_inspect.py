"""Prints what Inspect reads of a log, and of its data frames; run in the environment of ``readers.txt``."""

import json
import sys

from inspect_ai.analysis import evals_df, samples_df
from inspect_ai.log import read_eval_log

log = read_eval_log(sys.argv[1])
figures = {score.name: {name: metric.value for name, metric in score.metrics.items()} for score in log.results.scores}
evals, samples = evals_df(sys.argv[1]), samples_df(sys.argv[1])
columns = [name for name in samples.columns if name.startswith("score_")]
told = {
    "status": log.status,
    "messages": [[message.metadata["speaker"], message.text] for message in log.samples[0].messages],
    "figures": figures,
    "evals": json.loads(evals.to_json(orient="records", double_precision=15)),
    "samples": json.loads(samples[["id", *columns]].to_json(orient="records", double_precision=15)),
}
print(json.dumps(told, default=str))
