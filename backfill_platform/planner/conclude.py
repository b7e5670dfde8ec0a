"""From what a check noticed to its one finding: the gravest of it decides."""

from collections.abc import Iterable

from backfill_platform.domain.findings import Check, Finding, Severity

Note = tuple[Severity, str]


def conclude(check: Check, notes: Iterable[Note], *, otherwise: str) -> Finding:
    """The notes of the gravest kind, or a pass that says `otherwise`.

    A refusal leaves the warnings out: they are said when the plan has become possible.
    """
    noticed = tuple(notes)
    for severity in (Severity.REFUSE, Severity.WARN):
        messages = [message for found, message in noticed if found is severity]
        if messages:
            return Finding(check=check, severity=severity, message="; ".join(messages))
    told = [message for _, message in noticed]
    return Finding(check=check, severity=Severity.PASS, message="; ".join([*told, otherwise]))
