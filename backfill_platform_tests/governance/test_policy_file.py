"""A policy that leaves a change without an answer is refused, with its line, rule and field."""

from datetime import UTC, datetime
from decimal import Decimal

import pytest

from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.governance.policy_file import read_policy
from backfill_platform_tests.governance.samples import POLICY, POLICY_TEXT, policy_with

ASK = "ask: {roles: [manager, lead], before: STAGING, signed: true, valid_hours: 24}"

SECOND = """\
  - name: {name}
    when: {when}
    ask: nobody
rates:"""


def refusal(old: str, new: str) -> str:
    with pytest.raises(DeclarationInvalid) as refused:
        policy_with(old, new)
    return str(refused.value)


def with_rule_below(first_when: str, name: str, when: str) -> str:
    below = SECOND.format(name=name, when=when)
    text = POLICY_TEXT.replace("when: otherwise", f"when: {first_when}").replace("rates:", below)
    with pytest.raises(DeclarationInvalid) as refused:
        read_policy(text, origin="governance.yaml")
    return str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (
            "roles: [manager, lead], b",
            "roles: [boss], b",
            "governance.yaml, line 10: rule 'all': ask.roles: no principal that is not revoked has "
            "the role 'boss'; add one, or correct it",
        ),
        (
            "cleo: {roles: [manager]}",
            "cleo: {roles: [manager], revoked: true}\n  eve: {roles: [other]}\n"
            "  ben: {roles: [other]}",
            "governance.yaml, line 7: text: 'ben' stands here twice; keep one of them",
        ),
        (
            "[manager, lead], b",
            "[lead, lead], b",
            "governance.yaml, line 10: rule 'all': ask.roles: a role is named twice; each is asked "
            "for once",
        ),
        (
            "notify: [owners]",
            "tell: [owners]",
            "governance.yaml, line 11: rule 'all': tell: is not known here; correct it, or remove "
            "it",
        ),
        (
            "when: otherwise",
            "when: {partitions: {above: 3}}",
            "governance.yaml, line 9: rule 'all': when.partitions.above: is not known here; "
            "correct it, or remove it",
        ),
        (
            "when: otherwise",
            "when: {layers: [gold]}",
            "governance.yaml, line 9: rule 'all': when: the last rule has to match everything; end "
            "with a rule `when: otherwise`",
        ),
        (
            "when: otherwise",
            "when: {partitions: {over: 6, under: 7}}",
            "governance.yaml, line 9: rule 'all': when.partitions: no whole number is over the one "
            "bound and under the other",
        ),
        (
            "when: otherwise",
            "when: {}",
            "governance.yaml, line 9: rule 'all': when: is empty; say `otherwise` if that is what "
            "is meant (it is {})",
        ),
        (
            "when: otherwise",
            "when: {kinds: [REDO]}",
            "governance.yaml, line 9: rule 'all': when.kinds.0: Input should be 'BACKFILL', "
            "'REPLAY', 'REPROCESSING', 'RESTATEMENT', 'REPAIR', 'MIGRATION', 'BOOTSTRAP', "
            "'ROLLBACK' or 'LIVE' (it is 'REDO')",
        ),
        (
            "when: otherwise",
            "when: {layers: []}",
            "governance.yaml, line 9: rule 'all': when.layers: Tuple should have at least 1 item "
            "after validation, not 0 (it is [])",
        ),
        (
            ASK,
            "ask:",
            "governance.yaml, line 10: rule 'all': ask: is empty; say `nobody` if that is what is "
            "meant (it is None)",
        ),
        (
            "valid_hours: 24",
            "valid_hours: 0",
            "governance.yaml, line 10: rule 'all': ask.valid_hours: Input should be greater than "
            "or equal to 1 (it is 0)",
        ),
        (
            ", valid_hours: 24",
            "",
            "governance.yaml, line 10: rule 'all': ask.valid_hours: is missing",
        ),
        (
            "signed: true",
            "signed: yes",
            "governance.yaml, line 10: rule 'all': ask.signed: Input should be a valid boolean (it "
            "is 'yes')",
        ),
        (
            "before: STAGING",
            "before: LUNCH",
            "governance.yaml, line 10: rule 'all': ask.before: Input should be 'STAGING' or "
            "'PUBLICATION' (it is 'LUNCH')",
        ),
        (
            "  - name: all\n    when",
            "  - when",
            "governance.yaml, line 8: rule number 1: name: is missing",
        ),
        (
            "ben: {roles: [lead]}",
            "ben: {roles: []}",
            "governance.yaml, line 4: principal 'ben': roles: Tuple should have at least 1 item "
            "after validation, not 0 (it is [])",
        ),
        (
            "ben: {roles: [lead]}",
            "ben: lead",
            "governance.yaml, line 4: principals.ben: has to be names with values below it "
            "(it is 'lead')",
        ),
        (
            "{low: 0.50, high: 3.00}",
            "{low: 3.50, high: 3.00}",
            "governance.yaml, line 13: rates.default: 3.5 is more than 3",
        ),
        (
            "default: {low",
            "gold: {low",
            "governance.yaml, line 12: rates: 'default' is missing, for other layers",
        ),
        (
            "rates:",
            "limits: {max_rows: 0}\nrates:",
            "governance.yaml, line 12: limits.max_rows: Input should be greater than or equal to 1 "
            "(it is 0)",
        ),
        (
            "rates:",
            "limits: {max_cost_usd: 0}\nrates:",
            "governance.yaml, line 12: limits.max_cost_usd: max_cost_usd is 0; a limit must be "
            "greater than 0, or be left out",
        ),
        (
            "rates:",
            "limits: {off_peak: {start: 22:00, end: 22:00}}\nrates:",
            "governance.yaml, line 12: limits.off_peak: has to end at another time than it starts "
            "(it is {'start': '22:00', 'end': '22:00'})",
        ),
        (
            "plan_valid_hours: 72",
            "plan_valid_hours: [72",
            "governance.yaml, line 2: text: expected ',' or ']', but got ':'",
        ),
        (
            "plan_valid_hours: 72",
            "plan_valid_hours: !!python/name:os.system 72",
            "governance.yaml, line 1: text: aliases and tags are not used here; write it out",
        ),
        (
            "plan_valid_hours: 72",
            "plan_valid_hours: 72\n? [a]\n: 1",
            "governance.yaml, line 2: text: a name has to be a word",
        ),
    ],
)
def test_a_wrong_policy_is_refused_with_its_place(old, new, expected):
    assert refusal(old, new) == expected


def test_two_roles_that_only_one_principal_could_fill_are_refused():
    alone = "ben: {roles: [other]}\n  cleo: {roles: [other]}"
    assert refusal("ben: {roles: [lead]}\n  cleo: {roles: [manager]}", alone) == (
        "governance.yaml, line 10: rule 'all': ask.roles: manager and lead need a principal each, "
        "and there are too few different ones; add one"
    )


def test_a_rule_below_one_that_matches_everything_is_refused():
    assert with_rule_below("otherwise", "late", "{full: true}") == (
        "governance.yaml, line 13: rule 'late': when: is never reached: rule 'all' above decides "
        "all of it; move it up, or remove it"
    )


def test_a_rule_below_a_wider_one_is_refused():
    answer = with_rule_below("{partitions: {over: 7}}", "late", "{partitions: {over: 30}}")
    assert "rule 'late': when: is never reached: rule 'all' above" in answer


def test_two_rules_of_one_name_are_refused():
    answer = with_rule_below("{full: true}", "all", "otherwise")
    assert answer == "governance.yaml, line 12: rule 'all': name: another rule has this name"


@pytest.mark.parametrize("text", ["", "# nothing\n", "- 1\n", "word"])
def test_a_text_that_is_no_policy_is_refused(text):
    with pytest.raises(DeclarationInvalid, match="has to be names with values below it"):
        read_policy(text, origin="governance.yaml")


def test_an_alias_is_refused_because_a_reviewer_would_have_to_follow_it():
    text = POLICY_TEXT.replace("[lead]}", "&some [lead]}", 1).replace("[owners]", "*some")
    with pytest.raises(DeclarationInvalid, match="aliases and tags are not used here"):
        read_policy(text, origin="governance.yaml")


def test_the_digest_is_that_of_the_content_and_not_of_its_spelling():
    spelled = POLICY_TEXT.replace("0.50", "0.5").replace("plan_valid_hours: 72\n", "# a comment\n")
    same = read_policy(spelled + "plan_valid_hours: 72\n", origin="elsewhere.yaml")
    assert same.digest == POLICY.digest


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("valid_hours: 24", "valid_hours: 25"),
        ("revoked: true", "revoked: false"),
        ("0.50", "0.51"),
        ("[manager, lead], b", "[lead, manager], b"),
        ("rates:", "limits: {pause_seconds: 1}\nrates:"),
        ("plan_valid_hours: 72", "plan_valid_hours: 71"),
    ],
)
def test_the_digest_changes_with_the_content(old, new):
    assert policy_with(old, new).digest != POLICY.digest


def test_limits_are_read_as_they_are_written():
    given = "{off_peak: {start: 22:00, end: 06:00}, max_cost_usd: 1200.50, max_rows: 5}"
    limits = policy_with("rates:", f"limits: {given}\nrates:").limits
    assert (limits.max_cost_usd, limits.max_rows) == (Decimal("1200.5"), 5)
    assert limits.off_peak is not None
    assert limits.off_peak.is_open(datetime(2025, 1, 1, 23, tzinfo=UTC))


def test_a_rule_that_asks_nobody_asks_for_no_roles():
    rule = policy_with(ASK, "ask: nobody").rules[0]
    assert (rule.roles, rule.signed) == ((), False)
