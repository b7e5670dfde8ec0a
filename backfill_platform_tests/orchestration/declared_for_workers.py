"""What `test_run_launcher` lets workers carry out; copied beside a `words.py` that changes."""

import os
import signal
import sqlite3
import tempfile
from pathlib import Path

import dagster as dg
from words import WORD  # pyright: ignore[reportMissingImports]

if Path(__file__).with_name("deadly").exists():
    os._exit(1)


@dg.op
def say(context: dg.OpExecutionContext) -> None:
    context.log.info(f"The word is {WORD}.")


@dg.op
def wait(context: dg.OpExecutionContext) -> None:
    signal.pause()


@dg.op
def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


@dg.op
def use_libraries() -> None:
    """Those that bring threads or a runtime of their own, which a fork does not take along."""
    import deltalake
    import grpc
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    import sqlalchemy as sa

    rows = pa.table({"number": list(range(100_000))})
    with tempfile.TemporaryDirectory() as folder:
        deltalake.write_deltalake(f"{folder}/table", rows)
        assert deltalake.DeltaTable(f"{folder}/table").to_pyarrow_table().equals(rows)
        pq.write_table(rows, f"{folder}/rows.parquet")
        assert pq.read_table(f"{folder}/rows.parquet").to_pandas()["number"].sum() == 4999950000
        with sa.create_engine(f"sqlite:///{folder}/ledger.db").connect() as connection:
            assert connection.scalar(sa.text("select sqlite_version()")) == sqlite3.sqlite_version
    square = np.ones((500, 500))
    assert (square @ square)[0, 0] == 500
    grpc.insecure_channel("127.0.0.1:1").close()


@dg.job(executor_def=dg.in_process_executor)
def saying() -> None:
    say()


@dg.job(executor_def=dg.in_process_executor)
def waiting() -> None:
    wait()


@dg.job(executor_def=dg.in_process_executor)
def dying() -> None:
    die()


@dg.job(executor_def=dg.in_process_executor)
def using_libraries() -> None:
    use_libraries()


@dg.job(executor_def=dg.multiprocess_executor)
def saying_in_processes() -> None:
    say()


defs = dg.Definitions(jobs=[saying, waiting, dying, using_libraries, saying_in_processes])
