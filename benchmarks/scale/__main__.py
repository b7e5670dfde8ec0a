"""Measures at growing sizes, prints the tables of docs/benchmarks.md and draws its picture.

`python -m benchmarks.scale` takes a quarter of an hour and 4 GB of disk; it starts no Spark. What
was measured is kept in a file, size by size: the same call goes on where it was stopped, and prints
once more what is complete.
"""

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.scale.curves import Curve, Point, markdown

OVER_TABLES = ((5, 3_650), (50, 3_650), (500, 3_650))
OVER_DAYS = ((50, 365), (50, 1_095), (50, 3_650))
IMAGE = Path(__file__).parents[2] / "docs" / "images" / "scale.png"

Sizes = Sequence[tuple[int, int]]
Measured = dict[str, list[dict[str, Any]]]  # by size, as "tables x days"


def main() -> None:
    asked = _arguments()
    measured = _measure_what_lacks(asked.kept, asked.below)
    curves = [*_curves(measured, OVER_TABLES, "tables"), *_curves(measured, OVER_DAYS, "days")]
    for axis in ("tables", "days"):
        _print("", *markdown([curve for curve in curves if curve.axis == axis]))
    if asked.image is not None:
        # Here, because drawing is for people who publish figures, and needs a library of its own.
        from benchmarks.scale.plot import draw

        draw(curves, asked.image)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__)
    parser.add_argument("--kept", type=Path, default=Path("scale.json"), metavar="FILE")
    parser.add_argument("--below", type=Path, metavar="FOLDER", help="where worlds are made")
    parser.add_argument("--image", type=Path, nargs="?", const=IMAGE, metavar="FILE")
    return parser.parse_args()


def _measure_what_lacks(kept: Path, below: Path | None) -> Measured:
    measured: Measured = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    with tempfile.TemporaryDirectory(prefix="backfill-scale-", dir=below) as folder:
        for size in dict.fromkeys((*OVER_TABLES, *OVER_DAYS)):
            if _name(size) not in measured:
                measured[_name(size)] = _measure(Path(folder), size)
                kept.write_text(json.dumps(measured, indent=1), encoding="utf-8")
                shutil.rmtree(Path(folder) / _name(size))
    return measured


def _measure(folder: Path, size: tuple[int, int]) -> list[dict[str, Any]]:
    """Each look in a process of its own."""
    home, (tables, days) = folder / _name(size), size
    _print(f"{tables:,} tables of {days:,} days")
    _run("make", str(home), str(tables), str(days))
    return [*_look_at(home)]


def _look_at(home: Path) -> Iterator[dict[str, Any]]:
    for look in json.loads(_run("list")):
        if look["is_prepared"]:
            _run("prepare", str(home), look["name"])
        taken = json.loads(_run("measure", str(home), look["name"]).splitlines()[-1])
        _print(f"  {look['name']}: {taken['wall_seconds']:.3f} s")
        yield {"area": look["area"], "look": look["name"], **taken}


def _run(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "benchmarks.scale.point", *words],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return done.stdout


def _curves(measured: Measured, sizes: Sizes, axis: str) -> Iterator[Curve]:
    names = [_name(size) for size in sizes]
    along = [size[0 if axis == "tables" else 1] for size in sizes]
    for column in zip(*(measured[name] for name in names), strict=True):
        points = (Point(size=size, taken=one) for size, one in zip(along, column, strict=True))
        first = column[0]
        yield Curve(area=first["area"], look=first["look"], axis=axis, points=tuple(points))


def _name(size: tuple[int, int]) -> str:
    return "x".join(map(str, size))


def _print(*lines: str) -> None:
    for line in lines:
        print(line, flush=True)  # noqa: T201


if __name__ == "__main__":
    main()
