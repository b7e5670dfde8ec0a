"""One step in a process of its own, so that its peak of memory is nobody else's.

`list` tells the looks, `make HOME TABLES DAYS` makes a world, `prepare HOME LOOK` prepares a look
in it, and `measure HOME LOOK` prints one line of JSON.
"""

import json
import sys
from pathlib import Path

from backfill_platform.domain.identity import RunId
from benchmarks.scale.looks import LOOKS, Look
from benchmarks.scale.measuring import measure
from benchmarks.scale.night import leave_open
from benchmarks.scale.shapes import Size, find_place
from benchmarks.scale.world import make_world, open_place


def main(verb: str, *words: str) -> None:
    match verb:
        case "list":
            known = [
                {"area": look.area, "name": look.name, "is_prepared": look.prepare is not None}
                for look in LOOKS
            ]
            print(json.dumps(known))  # noqa: T201
        case "make":
            home, tables, days = words
            _make(Path(home), Size(tables=int(tables), days=int(days)))
        case "prepare":
            _prepare(Path(words[0]), _named(words[1]))
        case _:
            _measure(Path(words[0]), _named(words[1]))


def _named(name: str) -> Look:
    return next(look for look in LOOKS if look.name == name)


def _make(home: Path, size: Size) -> None:
    place = make_world(home, size)
    leave_open(open_place(place), place)


def _prepare(home: Path, look: Look) -> None:
    place = find_place(home)
    if look.prepare is not None:
        _run_file(home, look.name).write_text(look.prepare(open_place(place), place))


def _measure(home: Path, look: Look) -> None:
    place = find_place(home)
    platform = open_place(place)
    kept = _run_file(home, look.goes_on_after or look.name)
    run_id = RunId(kept.read_text() if kept.exists() else "")
    taken = measure(lambda: look.call(platform, place, run_id), again=look.again)
    print(json.dumps(taken.to_plain()))  # noqa: T201


def _run_file(home: Path, look: str) -> Path:
    return home / f"{look.replace(' ', '-')}.run"


if __name__ == "__main__":
    main(*sys.argv[1:])
