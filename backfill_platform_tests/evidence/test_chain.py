"""Evidence lines: what is written is read back, and any change of a line is found."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.domain.canonical import GREATEST_SAFE_INTEGER
from backfill_platform.evidence.chain import (
    EvidenceRecord,
    first_broken_line,
    follow,
    read_line,
    write_line,
)

AT = datetime(2026, 7, 4, 12, 30, tzinfo=UTC)

WHOLE = st.integers(-GREATEST_SAFE_INTEGER, GREATEST_SAFE_INTEGER)
bodies = st.dictionaries(
    st.text(max_size=5),
    st.none() | st.booleans() | WHOLE | st.text(max_size=8) | st.lists(WHOLE),
    max_size=3,
)
chains = st.lists(bodies, min_size=1, max_size=6)


def make_lines(chain: list[dict[str, object]]) -> list[str]:
    records: list[EvidenceRecord] = []
    for place, body in enumerate(chain):
        last = records[-1] if records else None
        records.append(follow(last, key=str(place), kind="step", at=AT, body=body))
    return [write_line(record) for record in records]


@given(chains)
def test_what_is_written_holds_and_is_read_back(chain: list[dict[str, object]]) -> None:
    lines = make_lines(chain)
    assert first_broken_line(lines) is None
    assert [read_line(line).body for line in lines] == chain  # type: ignore[union-attr]


@given(chains, st.data())
def test_any_tampering_with_a_record_is_found(
    chain: list[dict[str, object]], data: st.DataObject
) -> None:
    lines = make_lines(chain)
    place = data.draw(st.integers(0, len(lines) - 1))
    position = data.draw(st.integers(0, len(lines[place]) - 1))
    other = data.draw(st.characters().filter(lambda letter: letter != lines[place][position]))
    lines[place] = lines[place][:position] + other + lines[place][position + 1 :]
    assert first_broken_line(lines) == place + 1


@given(st.lists(bodies, min_size=2, max_size=6), st.data())
def test_a_record_that_is_taken_out_is_missed(
    chain: list[dict[str, object]], data: st.DataObject
) -> None:
    lines = make_lines(chain)
    place = data.draw(st.integers(0, len(lines) - 2))
    del lines[place]
    assert first_broken_line(lines) == place + 1


def test_a_record_that_is_changed_and_hashed_again_breaks_the_next() -> None:
    lines = make_lines([{"rows": 1}, {"rows": 2}])
    lines[0] = write_line(follow(None, key="0", kind="step", at=AT, body={"rows": 9}))
    assert first_broken_line(lines) == 2


@pytest.mark.parametrize("line", ["", "[]", "null", "{}", "nonsense", json.dumps({"at": 3})])
def test_a_line_that_is_no_record_is_broken(line: str) -> None:
    assert first_broken_line([line]) == 1


def test_an_instant_is_kept_in_utc() -> None:
    berlin = AT.astimezone(timezone(timedelta(hours=2)))
    assert follow(None, key="k", kind="step", at=berlin, body={}) == follow(
        None, key="k", kind="step", at=AT, body={}
    )


def test_an_instant_without_zone_is_refused() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        follow(None, key="k", kind="step", at=AT.replace(tzinfo=None), body={})
