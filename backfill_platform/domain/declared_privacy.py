"""Whether what a table declares about privacy can be kept: one error that says what to change.

Rules by name of column: nothing here knows how a transform reckons a column from others. A class
flows down from table to table until a mask ends it, so a column cannot lose it on the way by being
declared lower, or not at all.
"""

from collections.abc import Iterable, Iterator, Mapping

from backfill_platform.domain.contracts import Column, Contract
from backfill_platform.domain.errors import DeclarationInvalid
from backfill_platform.domain.modes import Classification
from backfill_platform.domain.privacy import DeletionList, Mask, Privacy
from backfill_platform.domain.tables import TableSpec

Classes = Mapping[str, Classification]  # by column


def check_deletion_list(listed: DeletionList) -> None:
    if listed.path.startswith("/") or ".." in listed.path.split("/") or not listed.path:
        raise _invalid(listed.name, "path", f"{listed.path!r} must lie below the landing root")
    if listed.subject_column == listed.day_column:
        raise _invalid(listed.name, "day_column", "must be another one than subject_column")


def check_privacy(
    spec: TableSpec, contract: Contract, deletions: Mapping[str, DeletionList]
) -> None:
    if not isinstance(spec.privacy, Privacy):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise _invalid(spec.full_name, "privacy", f"{spec.privacy!r} is not of type Privacy")
    _check_deletions(spec, deletions)
    _check_subject(spec, contract)
    _check_known_columns(spec, contract)
    _check_every_high_column_is_masked(spec)
    for name, mask in sorted(spec.privacy.masks.items()):
        column = contract.column(name)
        assert column is not None, "its name was checked before"
        for problem in _misfits(spec, column, mask):
            raise _invalid(spec.full_name, "privacy", f"{mask} of {name!r}: {problem}")


def check_flow_of_classes(tables: Iterable[TableSpec], contracts: Mapping[str, Contract]) -> None:
    """`tables` stand after their inputs. Invariant: a column's class is lowered by a mask and by
    nothing else (test_a_class_flows_from_table_to_table_until_a_mask_ends_it)."""
    shown: dict[str, Classes] = {}
    hashed: dict[str, frozenset[str]] = {}
    for spec in tables:
        columns = contracts[spec.full_name].column_names
        masks = spec.privacy.masks_in(spec.classification)
        arriving = _arriving(spec, columns, shown)
        _check_arriving(spec, arriving)
        told = {**{name: above for name, (above, _) in arriving.items()}, **_declared(spec)}
        shown[spec.full_name] = {name: own for name, own in told.items() if name not in masks}
        before = _hashed_before(spec, columns, hashed)
        own = frozenset(name for name, mask in masks.items() if mask is Mask.SHA256)
        _check_hashed_once(spec, own & before)
        hashed[spec.full_name] = own | before


def _check_deletions(spec: TableSpec, deletions: Mapping[str, DeletionList]) -> None:
    name = spec.privacy.deletions
    if name is not None and name not in deletions:
        known = ", ".join(sorted(deletions)) or "none"
        raise _invalid(
            spec.full_name, "privacy", f"unknown deletion list {name!r}; declared: {known}"
        )
    if name is not None and spec.privacy.subject_column is None:
        raise _invalid(
            spec.full_name, "privacy", f"{name!r} needs a subject_column: whom a row is about"
        )


def _check_subject(spec: TableSpec, contract: Contract) -> None:
    """A row that could be about anybody cannot be told from one about a forgotten subject."""
    name = spec.privacy.subject_column
    if name is None:
        return
    column = contract.column(name)
    if column is None:
        raise _invalid(spec.full_name, "privacy", f"subject_column {name!r} is not in the schema")
    if column.type != "string" or column.is_nullable:
        raise _invalid(
            spec.full_name,
            "privacy",
            f"subject_column {name!r} must be a string that is never null",
        )
    if spec.privacy.masks.get(name, Mask.SHA256) is not Mask.SHA256:
        raise _invalid(
            spec.full_name,
            "privacy",
            f"subject_column {name!r} may only be masked by SHA256: otherwise nobody could tell "
            "whether a listed subject has come back",
        )


def _check_known_columns(spec: TableSpec, contract: Contract) -> None:
    for kind, given in ((Classification, spec.privacy.column_classes), (Mask, spec.privacy.masks)):
        for name, word in given.items():
            if contract.column(name) is None:
                raise _invalid(spec.full_name, "privacy", f"{name!r} is not in the schema")
            if not isinstance(word, kind):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise _invalid(
                    spec.full_name, "privacy", f"{name!r}: {word!r} is not of type {kind.__name__}"
                )
    for name in spec.privacy.masks:
        if name not in spec.privacy.column_classes:
            raise _invalid(
                spec.full_name,
                "privacy",
                f"{name!r} has a mask and no class; say in column_classes what its raw values are",
            )


def _check_every_high_column_is_masked(spec: TableSpec) -> None:
    """Invariant: no column is staged above the class of its table
    (test_a_column_above_its_table_needs_a_mask)."""
    for name, own in sorted(spec.privacy.column_classes.items()):
        if own.is_above(spec.classification) and name not in spec.privacy.masks:
            raise _invalid(
                spec.full_name,
                "privacy",
                f"column {name!r} is {own} and the table only {spec.classification}; give it a "
                f"mask, leave it out, or declare the table as {own}",
            )


def _misfits(spec: TableSpec, column: Column, mask: Mask) -> Iterator[str]:
    if mask is Mask.NULL and not column.is_nullable:
        yield "the column may not be null; make it nullable, or use another mask"
    if mask is not Mask.NULL and column.type != "string":
        yield f"the column is a {column.type}; only text can be masked so, use NULL"
    if column.name in spec.keys and mask is not Mask.SHA256:
        yield "rows would no longer be told apart by their key; use SHA256"
    if spec.merge and column.name in (spec.merge.version_column, spec.merge.operation_column):
        yield "rows are merged by it; leave the mask out"


def _declared(spec: TableSpec) -> Classes:
    return spec.privacy.column_classes


def _arriving(
    spec: TableSpec, columns: Iterable[str], shown: Mapping[str, Classes]
) -> dict[str, tuple[Classification, str]]:
    """The highest class in which an input shows each column, and which input that is."""
    wanted = frozenset(columns)
    arriving: dict[str, tuple[Classification, str]] = {}
    for used in spec.inputs:
        for name, above in sorted(shown.get(used.name, {}).items()):
            known = arriving.get(name)
            if name in wanted and (known is None or above.is_above(known[0])):
                arriving[name] = (above, used.name)
    return arriving


def _check_arriving(spec: TableSpec, arriving: Mapping[str, tuple[Classification, str]]) -> None:
    for name, (above, origin) in sorted(arriving.items()):
        said = spec.privacy.column_classes.get(name, spec.classification)
        if above.is_above(said):
            raise _invalid(
                spec.full_name,
                "privacy",
                f"column {name!r} is {above} in {origin} and only {said} here; say "
                f"column_classes={{{name!r}: {above}}} and mask it, or call it another name if it "
                "holds something else",
            )


def _hashed_before(
    spec: TableSpec, columns: Iterable[str], hashed: Mapping[str, frozenset[str]]
) -> frozenset[str]:
    above = (hashed.get(used.name, frozenset[str]()) for used in spec.inputs)
    return frozenset[str]().union(*above).intersection(columns)


def _check_hashed_once(spec: TableSpec, twice: frozenset[str]) -> None:
    """Hashed again it would be another value, which no list of subjects could be held against."""
    for name in sorted(twice):
        raise _invalid(
            spec.full_name,
            "privacy",
            f"column {name!r} comes masked by SHA256 from its input; leave this mask out, and "
            f"declare its class as {spec.classification}",
        )


def _invalid(subject: str, field: str, problem: str) -> DeclarationInvalid:
    return DeclarationInvalid(subject=subject, field=field, problem=problem)
