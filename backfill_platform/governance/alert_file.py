"""Reads `alerts.yaml`: whoever is not told, because of a mistake in it, never finds that out.

Whatever is wrong is one `DeclarationInvalid` with the file, the line, the place and the field.
Secrets stay names of variables; they are looked up when something is sent.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictBool,
    StrictInt,
    ValidationError,
)
from yaml.nodes import Node

from backfill_platform.domain.alert_channels import (
    SECRET,
    SECRET_NAME,
    AlertChannel,
    CommandChannel,
    EmailChannel,
    FileChannel,
    SlackChannel,
    WebhookChannel,
    secret_names,
)
from backfill_platform.domain.alerts import AlertKind, AlertSeverity
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.governance.alerting import Alerting, AlertRule, AlertThresholds
from backfill_platform.governance.strict_parts import sentence, word
from backfill_platform.governance.strict_yaml import find_line, read_yaml

_CENTURY_OF_HOURS = 876_000


def _known_variables(text: str) -> str:
    for name in secret_names(text):
        if not SECRET_NAME.fullmatch(name):
            raise ValueError(f"a variable is named BACKFILL_… in capitals, and {name!r} is not")
    if "${" in SECRET.sub("", text):
        raise ValueError("a variable begins with ${ and ends with }")
    return text


def _only_variables(text: str) -> str:
    if SECRET.sub("", text):
        raise ValueError("is a secret; write the variable that holds it, ${BACKFILL_…}")
    return text


def _no_variables(text: str) -> str:
    if secret_names(text):
        raise ValueError("a command's words are seen by everybody; it reads the variable itself")
    return text


def _web_address(text: str) -> str:
    if not text.startswith(("https://", "http://", "${")):
        raise ValueError("has to begin with https:// or http://, or be a variable")
    return text


def _below_home(text: str) -> str:
    path = PurePosixPath(text)
    if path.is_absolute() or ".." in path.parts or not path.name:
        raise ValueError("has to name a file below the platform's home")
    return text


Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=100)]
Plain = Annotated[str, Field(min_length=1)]
Word = Annotated[Plain, AfterValidator(_no_variables)]
Variables = Annotated[str, AfterValidator(_known_variables)]
Secret = Annotated[Variables, AfterValidator(_only_variables)]
Url = Annotated[str, AfterValidator(_web_address), AfterValidator(_known_variables)]
Mailbox = Annotated[str, Field(pattern=r"^[^\s@<>,]+@[^\s@<>,]+$")]
Port = Annotated[StrictInt, Field(ge=1, le=65535)]
Hours = Annotated[StrictInt, Field(ge=1, le=_CENTURY_OF_HOURS)]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _FilePart(_Part):
    type: Literal["file"]
    path: Annotated[Plain, AfterValidator(_below_home)]


class _CommandPart(_Part):
    type: Literal["command"]
    command: tuple[Word, ...] = Field(min_length=1)


class _WebhookPart(_Part):
    type: Literal["webhook", "slack"]
    url: Url


class _EmailPart(_Part):
    type: Literal["email"]
    host: Plain
    port: Port = 587
    sender: Mailbox = Field(alias="from")
    recipients: tuple[Mailbox, ...] = Field(alias="to", min_length=1)
    starttls: StrictBool = True
    username: Variables = ""
    password: Secret = ""


_ChannelPart = Annotated[
    _FilePart | _CommandPart | _WebhookPart | _EmailPart, Field(discriminator="type")
]


class _WhenPart(_Part):
    kinds: tuple[AlertKind, ...] = Field((), min_length=1)
    severities: tuple[AlertSeverity, ...] = Field((), min_length=1)
    tables: tuple[Plain, ...] = Field((), min_length=1)


class _RulePart(_Part):
    name: Name
    when: Annotated[_WhenPart, word("otherwise", {})]
    tell: Annotated[tuple[Name, ...] | None, word("nobody", None)]
    repeat_hours: Hours | None = None


class _ThresholdsPart(_Part):
    approval_waiting_hours: Hours = AlertThresholds().approval_waiting_hours
    recovery_overdue_minutes: Hours = AlertThresholds().recovery_overdue_minutes
    failed_within_days: Annotated[StrictInt, Field(ge=1, le=36_500)] = (
        AlertThresholds().failed_within_days
    )


class _AlertsPart(_Part):
    channels: dict[Name, _ChannelPart]
    rules: tuple[_RulePart, ...] = Field(min_length=1)
    thresholds: _ThresholdsPart = _ThresholdsPart()


def read_alerting(text: str, *, origin: str) -> Alerting:
    document, node = read_yaml(text, origin=origin)
    try:
        part = _AlertsPart.model_validate(document)
    except ValidationError as invalid:
        first = invalid.errors()[0]
        raise _refusal(origin, node, first["loc"], _problem(first)) from None
    for path, problem in _problems(part):
        raise _refusal(origin, node, path, problem)
    return Alerting(
        channels={name: _channel(channel) for name, channel in part.channels.items()},
        rules=tuple(_rule(rule) for rule in part.rules),
        thresholds=AlertThresholds(**part.thresholds.model_dump()),
    )


def _problem(error: Any) -> str:
    """Of a password it is not said what it is."""
    if error["loc"][-1:] == ("password",):
        return error["msg"].removeprefix("Value error, ")
    return sentence(error)


def _problems(part: _AlertsPart) -> list[tuple[tuple[str | int, ...], str]]:
    rules = part.rules
    unknown = [
        (("rules", index, "tell", place), f"there is no channel {name!r}; add it, or correct it")
        for index, rule in enumerate(rules)
        for place, name in enumerate(rule.tell or ())
        if name not in part.channels
    ]
    everything = [index for index, rule in enumerate(rules) if _rule(rule).matches_everything]
    if not everything:
        last = ("rules", len(rules) - 1, "when")
        return [*unknown, (last, "the last rule has to match everything; say `when: otherwise`")]
    unreached = [
        (("rules", index, "name"), "no alert gets past the rule above it; move it up, or remove it")
        for index in range(everything[0] + 1, len(rules))
    ]
    names = [rule.name for rule in rules]
    repeated = [
        (("rules", index, "name"), f"{name!r} is the name of another rule; give it its own")
        for index, name in enumerate(names)
        if name in names[:index]
    ]
    return [*unknown, *unreached, *repeated]


def _refusal(
    origin: str, node: Node | None, path: Sequence[str | int], problem: str
) -> DeclarationInvalid:
    match tuple(path):
        case ("rules", int(index), *rest) if rest:
            place, named, fields = ("rules", index, *rest), f": rule number {index + 1}", rest
        case ("channels", str(name), _, *rest):
            # Behind a channel's name pydantic names its type, which is no place in the file.
            place, named, fields = ("channels", name, *rest), f": channel {name!r}", rest
        case whole:
            place, named, fields = whole, "", list(whole)
    return DeclarationInvalid(
        subject=f"{origin}, line {find_line(node, place)}{named}",
        field=".".join(str(step) for step in fields) or "text",
        problem=problem,
    )


def _rule(part: _RulePart) -> AlertRule:
    return AlertRule(
        name=part.name,
        kinds=part.when.kinds,
        severities=part.when.severities,
        tables=part.when.tables,
        channels=part.tell or (),
        repeat_hours=part.repeat_hours,
    )


def _channel(part: _FilePart | _CommandPart | _WebhookPart | _EmailPart) -> AlertChannel:
    given = part.model_dump(exclude={"type"})
    match part:
        case _FilePart():
            return FileChannel(**given)
        case _CommandPart():
            return CommandChannel(**given)
        case _EmailPart():
            return EmailChannel(**given)
        case _WebhookPart(type="slack"):
            return SlackChannel(**given)
        case _WebhookPart():
            return WebhookChannel(**given)
