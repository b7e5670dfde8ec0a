"""What a transform reads of the run that it is computed in: its id, reason, start and mode.

Rows that tell such a thing differ with each run, so nothing of them can be left as it is. Found in
the source that the transform reaches, by the names alone: another value's `reason` counts as well.
"""

import ast

from backfill_platform.domain.transforms import TransformFunction
from backfill_platform.engine.plan.reachable_code import reached_statements
from backfill_platform.planner.unchanged import MODE, OF_ONE_RUN

_WORDS = OF_ONE_RUN | {MODE}
_TAKE_ALL = frozenset({"getattr", "vars", "asdict", "astuple"})  # whatever a value has


def find_run_words(function: TransformFunction) -> frozenset[str]:
    statements = [statement for _, statement in reached_statements(function)]
    return frozenset(
        word for top in statements for node in ast.walk(top) for word in _words_of(node)
    )


def _words_of(node: ast.AST) -> frozenset[str]:
    match node:
        case ast.Attribute(attr=name) | ast.Name(id=name) if name in _TAKE_ALL:
            return _WORDS
        case ast.Attribute(attr=name):
            return _WORDS & {name}
        case ast.MatchClass(kwd_attrs=names):
            return _WORDS & {*names}
        case _:
            return frozenset()
