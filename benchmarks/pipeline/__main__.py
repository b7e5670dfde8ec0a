"""Runs the contest at the shapes that are asked for."""

import argparse
import tempfile
from pathlib import Path

from backfill_platform.enforcement.landing.files import land_days
from benchmarks.pipeline import contest
from benchmarks.pipeline.shapes import SHAPES


def main():
    asked = argparse.ArgumentParser()
    asked.add_argument("shape", choices=SHAPES)
    asked.add_argument("--rounds", type=int, default=2)
    asked.add_argument("--only", default="")
    asked.add_argument("--folder", type=Path, default=None)
    given = asked.parse_args()
    shape = SHAPES[given.shape]
    folder = given.folder or Path(tempfile.mkdtemp(prefix="bench-"))
    landing = folder / "landing"
    land_days(landing, shape.range, seed=1, events_per_day=shape.events_a_day)
    print("landed", flush=True)
    only = given.only.split(",")
    import time

    stamp = str(int(time.time()))
    if "raw-cold" in only:
        for one in contest.raw(
            "raw cold", landing, folder / stamp / "raw-cold", shape.range, rounds=1
        ):
            print(one, flush=True)
    if "raw" in only:
        for one in contest.raw(
            "raw", landing, folder / stamp / "raw", shape.range, rounds=given.rounds + 1
        ):
            print(one, flush=True)
    if "ours-cold" in only:
        with contest.our_dagster(folder / stamp / "ours-cold", landing, None) as place:
            print(
                contest.launched(
                    "ours cold",
                    place,
                    contest.OUR_ASSETS,
                    shape.range,
                    {"backfill/reason": "a benchmark"},
                ),
                flush=True,
            )
    if "plain-cold" in only:
        with contest.plain_dagster(
            folder / stamp / "plain-cold", landing, None, "range_run"
        ) as place:
            print(
                contest.launched("plain cold", place, contest.PLAIN_ASSETS, shape.range, {}),
                flush=True,
            )
    if "ours" in only or "plain" in only:
        with contest.warm_spark(folder) as spark:
            for number in range(given.rounds + 1):
                if "ours" in only:
                    with contest.our_dagster(
                        folder / stamp / f"ours-{number}", landing, spark
                    ) as place:
                        print(
                            contest.launched(
                                "ours",
                                place,
                                contest.OUR_ASSETS,
                                shape.range,
                                {"backfill/reason": "a benchmark"},
                            ),
                            flush=True,
                        )
                if "plain" in only:
                    with contest.plain_dagster(
                        folder / stamp / f"plain-{number}", landing, spark, "range_run"
                    ) as place:
                        print(
                            contest.launched("plain", place, contest.PLAIN_ASSETS, shape.range, {}),
                            flush=True,
                        )


main()
