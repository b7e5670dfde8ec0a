"""The plan on one screen: what somebody reads before they agree to it.

Everything comes from the manifest, so that what is shown is what would be carried out; only the
heading tells a plan from a recorded one.
"""

from collections.abc import Iterable, Iterator

from rich.console import Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from backfill_platform.cli.figures import (
    short,
    show_bytes,
    show_count,
    show_days,
    show_instant,
    show_money,
    show_rows,
    show_seconds,
)
from backfill_platform.domain.estimates import Estimate
from backfill_platform.domain.findings import Finding, Severity
from backfill_platform.domain.limits import Limits
from backfill_platform.domain.manifests import Manifest, PinnedInput, Validation
from backfill_platform.domain.modes import PublishMode, PublishScope, ReferenceSemantics
from backfill_platform.domain.quality import WatermarkPolicy
from backfill_platform.domain.schema_changes import SchemaChange
from backfill_platform.domain.verdicts import GateSeverity
from backfill_platform.planner.validation import name_tolerance

_MARKS = {
    Severity.PASS: ("✓", "green"),
    Severity.WARN: ("!", "bold yellow"),
    Severity.REFUSE: ("✗", "bold red"),
}

_MODES = {
    PublishMode.APPEND_ONLY: "days are filled that hold nothing, and no other",
    PublishMode.MERGE_BY_KEY: "key by key the higher version stays",
    PublishMode.VERSIONED: "beside every version before it; consumers see the latest",
    PublishMode.SHADOW_SWAP: "the whole table is computed beside the old one and takes its place",
}

_SCOPES = {
    PublishScope.WHOLE_RUN: "all partitions in one commit, or none",
    PublishScope.DUAL_READ: (
        "all partitions in one commit, by hand, once `backfill compare {run}` has compared them"
    ),
    PublishScope.DARK: (
        "never: a candidate for whoever is told where it lies. It holds no partition against other "
        "runs, and ends with `backfill cancel {run}` or with a plan that `--replaces {run}`"
    ),
}

_FOLLOWS = {
    GateSeverity.HOLD: "a review decides",
    GateSeverity.WARN: "a warning is enough",
}

_CLOSED = {
    WatermarkPolicy.BY_TIME_PARTITION: "a day is computed from what its window holds now",
    WatermarkPolicy.BY_COMPLETE_WINDOW: "a day is computed when its window is complete",
}

_SEMANTICS = {
    ReferenceSemantics.AS_RECORDED_THEN: "what was believed at the time",
    ReferenceSemantics.CORRECTED_TRUTH: "what should have been true",
    ReferenceSemantics.CURRENT: "what is accepted today",
    ReferenceSemantics.AS_USED_BY_ORIGINAL: "what the replaced run used",
}


def plan_screen(manifest: Manifest, *, state: str = "", chunks: int | None = None) -> Group:
    """`chunks` where they are not as the manifest cuts them: a rollback is one."""
    return Group(
        heading(f"{manifest.run_id}  {manifest.kind}", state),
        sections(_plan_sections(manifest, chunks or len(manifest.chunks))),
    )


def heading(title: str, state: str, *, style: str = "bold cyan") -> Rule:
    return Rule(Text.assemble((title, "bold"), "  ", (state, style), " "), align="left")


def plain_table() -> Table:
    """Without lines: it stands among other text."""
    return Table(box=None, padding=(0, 2, 0, 0), pad_edge=False, header_style="dim")


def sections(rows: Iterable[tuple[str, RenderableType]]) -> Table:
    grid = Table.grid(padding=(0, 2, 0, 0), pad_edge=False)
    grid.add_column(style="bold", no_wrap=True, width=8)
    grid.add_column(overflow="fold")
    for label, content in rows:
        grid.add_row(label, content)
    return grid


def _plan_sections(manifest: Manifest, chunks: int) -> Iterator[tuple[str, RenderableType]]:
    yield "why", _lines(_why(manifest))
    yield "changes", _lines(_changes(manifest))
    visible = tuple(visible_lines(manifest))
    if visible:
        yield "visible", _lines(visible)
    if manifest.unchanged or manifest.computes_all:
        yield "leaves", _lines(left_lines(manifest))
    yield "reads", _lines(_reads(manifest))
    yield "code", _lines(_code(manifest))
    if manifest.references:
        yield "data", _lines(_references(manifest))
    if manifest.validation.gates:
        yield "judged", _judged(manifest)
    yield "expects", estimate_table(manifest.estimate)
    yield "follows", _lines(_follows(manifest))
    yield "pace", _lines(_pace(manifest, chunks))
    yield "checks", finding_table(manifest.findings)
    yield "consent", _lines(consent_lines(manifest))


def _lines(lines: Iterable[str]) -> Text:
    return Text("\n".join(lines))


def _why(manifest: Manifest) -> Iterator[str]:
    ticket = f"{manifest.ticket} · " if manifest.ticket else "no ticket · "
    yield manifest.reason
    yield f"{ticket}asked for by {manifest.requested_by}, {show_instant(manifest.planned_at)}"
    if manifest.replaces is not None:
        yield f"scope version {manifest.scope_version}, replaces {manifest.replaces.run_id}"


def _changes(manifest: Manifest) -> Iterator[str]:
    target = manifest.target
    count, replaced = len(target.partitions), len(target.base)
    whole = ", all that the inputs hold" if manifest.is_full else ""
    yield f"{target.table}: {show_count(count, 'partition')}{whole}, {show_days(target.partitions)}"
    held = "the table does not exist yet"
    if target.base_version is not None:
        held = f"as version {target.base_version} holds them"
    yield f"{replaced:,} replaced, {count - replaced:,} filled, {held}"


def left_lines(manifest: Manifest) -> Iterator[str]:
    """Days that are not computed, and by whom they were."""
    if manifest.computes_all:
        yield "nothing: every day is computed, as was asked for"
    for one in manifest.unchanged:
        count = show_count(len(one.compared), "partition")
        yield f"{count} as {one.run_id} computed them, from the same: {show_days(one.days)}"


def visible_lines(manifest: Manifest) -> Iterator[str]:
    """How it becomes visible, where that is not by the chunk and in place of what was there."""
    target = manifest.target
    if target.publish_mode in _MODES:
        yield f"{_MODES[target.publish_mode]} ({target.publish_mode})"
    if target.version_column is not None:
        yield f"{target.version_column} = {target.output_version}"
    if target.publish_scope in _SCOPES:
        said = _SCOPES[target.publish_scope].format(run=manifest.run_id)
        yield f"{said} ({target.publish_scope})"
    if target.topic is not None:
        yield f"each row that comes or goes is told on the topic {target.topic}"
    for change in target.schema_changes:
        yield schema_change_sentence(change)


def schema_change_sentence(change: SchemaChange) -> str:
    consent = ", as was consented to" if change.kind.needs_consent else ""
    types = " to ".join(one for one in (change.before, change.after) if one)
    return f"column {change.column} is {change.kind.lower()}: {types}{consent}"


def _reads(manifest: Manifest) -> Iterator[str]:
    for pinned in manifest.inputs:
        yield f"{pinned.name} {_snapshot(pinned)}: {pinned.days}"
        yield f"  {show_count(len(pinned.days), 'day')}{_widened(pinned)}"
    size = manifest.estimate
    yield f"{show_count(size.rows_read, 'row')}, {show_bytes(size.bytes_read)}"


def _snapshot(pinned: PinnedInput) -> str:
    return f"version {pinned.snapshot}" if pinned.snapshot.isdigit() else short(pinned.snapshot)


def _widened(pinned: PinnedInput) -> str:
    around = (
        (pinned.window.before_days, "of warm-up"),
        (pinned.window.after_days, "of late arrivals"),
    )
    named = [f"{show_count(days, 'day')} {what}" for days, what in around if days]
    return f", with {' and '.join(named)}" if named else ""


def _code(manifest: Manifest) -> Iterator[str]:
    code = manifest.transform
    where = f"commit {code.git_commit}" if code.git_commit else "no commit"
    image = f", image {code.container_image}" if code.container_image else ""
    yield f"{code.name}/{code.version}, {where}{image}"
    yield (
        f"code {short(code.code_digest)} · configuration {short(code.config_hash)} · "
        f"distributions {short(code.lock_digest)}"
    )


def _references(manifest: Manifest) -> Iterator[str]:
    for used in manifest.references:
        yield f"{used.name}/{used.version}: {_SEMANTICS[used.semantics]} ({used.semantics})"


def _judged(manifest: Manifest) -> Text:
    """What the run says otherwise than its table stands out: consent is to that, too."""
    judged = manifest.validation
    text = _lines([f"by {show_count(len(judged.gates), 'gate')}{_severities(judged)}"])
    for measure, tolerance in sorted(judged.tolerances.items()):
        text.append(f"\n{measure} may stray by {name_tolerance(tolerance)}")
    text.append(f"\n{_CLOSED[judged.watermark]} ({judged.watermark})")
    for sentence in judged.overridden:
        text.append(f"\n! {sentence}", style="bold yellow")
    return text


def _severities(judged: Validation) -> str:
    named = {
        severity: [gate for gate, found in judged.severities.items() if found is severity]
        for severity in (GateSeverity.HOLD, GateSeverity.WARN)
    }
    said = [
        f"{_FOLLOWS[severity]}: {', '.join(gates)}" for severity, gates in named.items() if gates
    ]
    return "".join(f"; {one}" for one in said)


def estimate_table(estimate: Estimate) -> Group:
    table = plain_table()
    table.add_column("")
    for name in ("low", "expected", "high"):
        table.add_column(name, justify="right")
    for name, low, expected, high in _estimate_rows(estimate):
        table.add_row(name, low, Text(expected, style="bold"), high)
    basis = Text("\n".join(f"· {sentence}" for sentence in estimate.basis), style="dim")
    return Group(table, basis)


def _estimate_rows(estimate: Estimate) -> Iterator[tuple[str, str, str, str]]:
    rows, size, seconds, cost = (
        estimate.rows_out,
        estimate.bytes_out,
        estimate.seconds,
        estimate.cost_usd,
    )
    yield "rows out", show_rows(rows.low), show_rows(rows.expected), show_rows(rows.high)
    yield "size", show_bytes(size.low), show_bytes(size.expected), show_bytes(size.high)
    yield (
        "duration",
        show_seconds(seconds.low),
        show_seconds(seconds.expected),
        show_seconds(seconds.high),
    )
    yield "cost", show_money(cost.low), show_money(cost.expected), show_money(cost.high)


def _follows(manifest: Manifest) -> Iterator[str]:
    if not manifest.impacts:
        yield f"nothing reads {manifest.target.table}"
    for impact in manifest.impacts:
        count = show_count(len(impact.days), "partition")
        through = "" if impact.through == manifest.target.table else f"; through {impact.through}"
        yield f"{impact.table}: {count}, {show_days(impact.days)}"
        yield f"  owned by {impact.owner}{through}"


def _pace(manifest: Manifest, chunks: int) -> Iterator[str]:
    most = show_count(manifest.chunk_days, "day")
    cut = f"{show_count(chunks, 'chunk')} of at most {most}"
    yield " · ".join((cut, *limit_sentences(manifest.safety.limits)))
    if manifest.safety.requires_manual_publish:
        yield "staged and judged, it waits for somebody to publish it"


def limit_sentences(limits: Limits) -> Iterator[str]:
    counted = {
        "partitions at once": limits.max_partitions_at_once,
        "rows a minute": limits.max_rows_per_minute,
        "commits an hour": limits.max_commits_per_hour,
        "rows in all": limits.max_rows,
    }
    for what, most in counted.items():
        if most is not None:
            yield f"at most {most:,} {what}"
    if limits.max_bytes_per_minute is not None:
        yield f"at most {show_bytes(limits.max_bytes_per_minute)} a minute"
    if limits.max_cost_usd is not None:
        yield f"at most {show_money(limits.max_cost_usd)}"
    if limits.pause_seconds:
        yield f"{limits.pause_seconds} s of pause between chunks"
    if limits.off_peak is not None:
        yield f"from {limits.off_peak} only"


def finding_table(findings: tuple[Finding, ...]) -> Table:
    """What has to be read comes first."""
    order = (Severity.REFUSE, Severity.WARN, Severity.PASS)
    table = Table.grid(padding=(0, 2, 0, 0))
    for found in sorted(findings, key=lambda one: order.index(one.severity)):
        mark, style = _MARKS[found.severity]
        name = found.check.replace("_", " ")
        table.add_row(Text(mark, style=style), Text(name), Text(found.message, style="dim"))
    return table


def consent_lines(manifest: Manifest) -> Iterator[str]:
    asked = manifest.approval
    if asked.roles:
        signed = ", signed" if asked.signed else ""
        what = {"STAGING": "anything is computed", "PUBLICATION": "it is published"}[asked.before]
        yield f"{' and '.join(asked.roles)}, before {what}{signed}; holds {asked.valid_hours} hours"
    else:
        yield "nobody has to agree"
    notified = f"; to be told: {', '.join(asked.notify)}" if asked.notify else ""
    yield f"rule {asked.rule}{notified}"
    yield f"to be begun before {show_instant(manifest.valid_until)}"
