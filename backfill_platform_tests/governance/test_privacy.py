"""Which list a run leaves out, and when that is no longer the one of today."""

import re
from dataclasses import replace

import pytest

from backfill_platform.domain.modes import Classification
from backfill_platform.domain.privacy import ListedSubjects, Mask, PinnedDeletions, Privacy
from backfill_platform.governance.privacy import moved_list, protect
from backfill_platform_tests.declarations import make_table

PINNED = PinnedDeletions(name="landing.forgotten", digest="d", subjects=2)


def test_the_pinned_list_has_not_moved():
    assert moved_list(PINNED, replace(PINNED)) is None


def test_no_list_before_and_none_today_is_no_change():
    assert moved_list(None, None) is None


@pytest.mark.parametrize(
    ("pinned", "today", "said"),
    [
        (PINNED, replace(PINNED, digest="e", subjects=3), "named 2 subjects .* and names 3 now"),
        (PINNED, replace(PINNED, digest="e"), "and names others now"),
        (PINNED, replace(PINNED, name="landing.other"), "landing.other was declared since"),
        (None, PINNED, "landing.forgotten was declared since"),
        (PINNED, None, "landing.forgotten is no longer declared"),
    ],
    ids=["grew", "changed", "replaced", "new", "gone"],
)
def test_any_other_list_is_told(pinned, today, said):
    assert re.search(said, moved_list(pinned, today) or "")


def test_what_a_run_promises_is_named_and_counted():
    privacy = Privacy(
        subject_column="case_id",
        deletions="landing.forgotten",
        column_classes={"case_id": Classification.RESTRICTED},
        masks={"case_id": Mask.SHA256},
    )
    listed = ListedSubjects(list_name="landing.forgotten", subjects=frozenset({"C-1"}))
    given = protect(make_table(privacy=privacy), listed)
    assert given.promises == ("listed_subjects", "case_id_unmasked")


def test_a_table_that_declares_nothing_promises_nothing():
    assert protect(make_table(), None).promises == ()
