"""What in a transform's source may give other rows next time: found at plan time, without Spark.

Only code that the transform reaches is looked at, Python as well as SQL in its texts. What the plan
that Spark makes of it says beyond that (orders that are left open) is `executor.determinism`'s.
"""

import ast
import re
from collections.abc import Iterator

from backfill_platform.domain.determinism import MOVING_FUNCTIONS, Cause, Sighting
from backfill_platform.domain.transforms import TransformFunction
from backfill_platform.engine.plan.reachable_code import Module, reached_statements

_SPARK = re.compile(r"pyspark\.sql(\.connect)?\.functions(\.builtin)?\.(\w+)")
_LONGEST = 80  # characters of an expression that a message repeats

# Whatever is, or lies below, one of these names. What is seeded is no better: it depends on who
# drew before.
_PYTHON = {
    name: cause
    for cause, names in {
        Cause.CLOCK: (
            "datetime.datetime.now datetime.datetime.utcnow datetime.datetime.today "
            "datetime.date.today time.time time.time_ns time.monotonic time.monotonic_ns "
            "time.perf_counter time.perf_counter_ns time.process_time time.localtime time.gmtime "
            "time.ctime time.strftime pandas.Timestamp.now pandas.Timestamp.today "
            "pandas.Timestamp.utcnow"
        ),
        Cause.CHANCE: "random numpy.random secrets os.urandom uuid.uuid1 uuid.uuid4",
        Cause.ENVIRONMENT: (
            "os.environ os.environb os.getenv os.getpid os.getcwd os.cpu_count os.uname "
            "os.getlogin os.listdir os.scandir platform getpass tempfile subprocess locale "
            "sys.argv threading.get_ident"
        ),
        Cause.NETWORK: (
            "socket requests httpx aiohttp urllib.request urllib3 http.client ftplib smtplib boto3"
        ),
    }.items()
    for name in names.split()
}
# Python salts the hashes of texts anew in every process.
_BUILT_IN = {"hash": Cause.CHANCE, "id": Cause.CHANCE, "input": Cause.ENVIRONMENT}
_METHODS = {
    "sample": Cause.CHANCE,
    "sampleBy": Cause.CHANCE,
    "randomSplit": Cause.CHANCE,
    "asNondeterministic": Cause.CHANCE,
}
_CALLED = "|".join(MOVING_FUNCTIONS)
_KEYWORDS = "|".join(name for name in MOVING_FUNCTIONS if re.match("current_|local|session_", name))
_SQL = re.compile(
    rf"\b(?P<called>{_CALLED})\([^()]*\)"
    rf"|\b(?P<keyword>{_KEYWORDS})\b(?!\s*\()"
    r"|\b(?P<since>unix_timestamp)\(\s*\)"
    r"|\b(?:timestamp|date)\s*'(?P<word>now|today|yesterday|tomorrow)'",
    re.IGNORECASE,
)


def find_nondeterminism(function: TransformFunction) -> tuple[Sighting, ...]:
    """In the order of files and lines."""
    found = {
        (module.name, line, said): Sighting(
            cause=cause, expression=said, where=f"{_file(module)}:{line}"
        )
        for module, statement in reached_statements(function)
        for line, cause, said in _Look(module).at(statement)
    }
    return tuple(found[place] for place in sorted(found))


def _file(module: Module) -> str:
    """From the project's folder on: the same on every machine."""
    return "/".join(module.path.parts[-len(module.name.split(".")) :])


Seen = tuple[int, Cause, str]


class _Look(ast.NodeVisitor):
    """At one definition; the widest expression that is one of the known names is what is seen."""

    def __init__(self, module: Module) -> None:
        self._module = module
        self._own: set[str] = set()
        self._seen: list[Seen] = []

    def at(self, statement: ast.stmt) -> Iterator[Seen]:
        self._own = set(_own_names(statement))
        self.visit(statement)
        yield from self._seen

    def visit_Call(self, node: ast.Call) -> None:
        cause = self._cause_of_call(node)
        if cause is None:
            self.generic_visit(node)
            return
        self._see(node, cause)
        for argument in (*node.args, *(keyword.value for keyword in node.keywords)):
            self.visit(argument)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        self._look_at_name(node)

    def visit_Name(self, node: ast.Name) -> None:
        self._look_at_name(node)

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            for found in _SQL.finditer(node.value):
                line = node.lineno + node.value[: found.start()].count("\n")
                self._seen.append((line, _cause_in_sql(found), found.group(0)))

    def visit_Expr(self, node: ast.Expr) -> None:
        """A text that stands alone is documentation."""
        if not isinstance(node.value, ast.Constant):
            self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> None:
        """What is said when it fails decides nothing about rows."""

    def _look_at_name(self, node: ast.Name | ast.Attribute) -> None:
        cause = self._cause_of_name(node) if isinstance(node.ctx, ast.Load) else None
        if cause is None:
            self.generic_visit(node)
        else:
            self._see(node, cause)

    def _see(self, node: ast.expr, cause: Cause) -> None:
        said = ast.unparse(node)
        short = said if len(said) <= _LONGEST else f"{said[: _LONGEST - 1]}…"
        self._seen.append((node.lineno, cause, short))

    def _cause_of_call(self, node: ast.Call) -> Cause | None:
        name = self._module.stands_for(node.func) or ""
        spark = _SPARK.fullmatch(name)
        if spark and spark[3] == "unix_timestamp" and not node.args and not node.keywords:
            return Cause.CLOCK
        if isinstance(node.func, ast.Attribute) and node.func.attr in _METHODS:
            return _METHODS[node.func.attr]
        if isinstance(node.func, ast.Name | ast.Attribute):
            return self._cause_of_name(node.func)
        return None

    def _cause_of_name(self, node: ast.Name | ast.Attribute) -> Cause | None:
        name, root = self._module.stands_for(node), _root(node)
        if name is None or root in self._own or root in self._module.definitions:
            return None
        if root not in self._module.imports:
            return _BUILT_IN.get(name)
        spark = _SPARK.fullmatch(name)
        if spark:
            return MOVING_FUNCTIONS.get(spark[3])
        parts = name.split(".")
        above = (".".join(parts[:end]) for end in range(1, len(parts) + 1))
        return next((_PYTHON[one] for one in above if one in _PYTHON), None)


def _own_names(statement: ast.stmt) -> Iterator[str]:
    """A parameter or a local variable may well be called `random`."""
    if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        for node in ast.walk(statement):
            if isinstance(node, ast.arg):
                yield node.arg
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                yield node.id


def _root(node: ast.expr) -> str:
    while isinstance(node, ast.Attribute):
        node = node.value
    return node.id if isinstance(node, ast.Name) else ""


def _cause_in_sql(found: re.Match[str]) -> Cause:
    name = found["called"] or found["keyword"]
    return MOVING_FUNCTIONS[name.lower()] if name else Cause.CLOCK
