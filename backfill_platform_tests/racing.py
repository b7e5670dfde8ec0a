"""Runs functions at the same moment, each in a process of its own, and hands back what they say.

Forked and not spawned: what is raced has been imported already, and imports take longer than it.
"""

import multiprocessing
from collections.abc import Callable, Sequence
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from typing import Any

PATIENCE_SECONDS = 60


def run_together(functions: Sequence[Callable[[], Any]]) -> list[Any]:
    """The results in the order of the functions; what a function raised is its result."""
    forking = multiprocessing.get_context("fork")
    barrier = forking.Barrier(len(functions))
    pipes = [forking.Pipe(duplex=False) for _ in functions]
    runners = [
        forking.Process(target=_run, args=(function, barrier, answers))
        for function, (_, answers) in zip(functions, pipes, strict=True)
    ]
    for runner in runners:
        runner.start()
    results = [questions.recv() for questions, _ in pipes]
    for runner in runners:
        runner.join()
    return results


def _run(function: Callable[[], Any], barrier: Barrier, answers: Connection) -> None:
    barrier.wait(PATIENCE_SECONDS)
    try:
        answers.send(function())
    except Exception as failure:  # noqa: BLE001 - the outermost edge of this process
        answers.send(failure)
