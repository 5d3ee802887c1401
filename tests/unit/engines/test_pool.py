"""Processes that compute: they leave nothing behind, however the one that started them ends."""

from __future__ import annotations

import signal
import subprocess
import sys

import psutil
import pytest

# Answers the process ids of the workers, then waits until it is ended.
PARENT = """
import os, time
from itertools import count
from evaluation.engines.task_engines import map_tasks

def number_of(_task):
    return os.getpid()

if __name__ == "__main__":
    answers = map_tasks(number_of, count(), jobs=2)
    print(*{next(answers)[1] for _ in range(20)}, flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGTERM])
def test_no_process_outlives_its_parent(tmp_path, how: signal.Signals) -> None:
    script = tmp_path / "parent.py"
    script.write_text(PARENT, encoding="utf-8")
    with subprocess.Popen([sys.executable, script], stdout=subprocess.PIPE, text=True) as parent:
        workers = [psutil.Process(int(number)) for number in parent.stdout.readline().split()]
        assert workers
        parent.send_signal(how)
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert alive == []
