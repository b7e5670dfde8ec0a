"""The guard over plans as Spark prints them, without a Spark: what is named, and what may pass.

Every plan reads `input_0`, whose rows day, meter and revision tell apart; `x` is a double.
"""

import pytest

from backfill_platform.domain.determinism import Cause, Sighting
from backfill_platform.executor.determinism import MarkedInput, examine_plan

INPUT = "SubqueryAlias input_0\n+- LocalRelation <empty>, [day#0, meter#1, rev#2, amount#3L, x#4]"
OTHER = "SubqueryAlias input_1\n+- LogicalRDD [day#10, meter#11, rate#12L], false"
INPUTS = {
    "input_0": MarkedInput(keys=("day", "meter", "rev"), floating=frozenset({"x"})),
    "input_1": MarkedInput(keys=("day", "meter"), floating=frozenset()),
}


def plan(*lines: str, below: str = INPUT) -> str:
    """One node above the other; the last above `below`."""
    text = below
    for line in reversed(lines):
        inner = "\n".join(f"   {one}" for one in text.splitlines())
        text = f"{line}\n+- {inner[3:]}"
    return text


def join(kind: str, condition: str) -> str:
    left = "\n".join(f":  {one}" for one in INPUT.splitlines())
    right = "\n".join(f"   {one}" for one in OTHER.splitlines())
    return f"Join {kind}, {condition}\n:- {left[3:]}\n+- {right[3:]}"


def seen(text: str, **types: str) -> list[Sighting]:
    return list(examine_plan(text, INPUTS, types))


def causes(text: str, **types: str) -> list[Cause]:
    return [sighting.cause for sighting in seen(text, **types)]


def numbered(order: str, *, below: str = INPUT, by: str = "day#0, meter#1") -> str:
    spec = f"{by}, {order}, specifiedwindowframe(RowFrame, unboundedpreceding$(), currentrow$())"
    window = f"Window [row_number() windowspecdefinition({spec}) AS n#20], [{by}], [{order}]"
    return plan("Project [day#0, n#20]", window, below=below)


def grouped(*items: str, by: str = "day#0") -> str:
    return plan(f"Aggregate [{by}], [{', '.join((by, *items))}]")


COLLECTED = "collect_list(amount#3L, 0, 0, true) AS vs#20"
FIRST = "rev#2 ASC NULLS FIRST"
USUAL = (
    "lambdafunction(if ((isnull(lambda left#8L) AND isnull(lambda right#9L))) 0 else if "
    "(isnull(lambda left#8L)) 1 else if (isnull(lambda right#9L)) -1 else if ((lambda left#8L < "
    "lambda right#9L)) -1 else if ((lambda left#8L > lambda right#9L)) 1 else 0, lambda left#8L, "
    "lambda right#9L, false), false"
)


def collected(expression: str) -> str:
    """A column made of what was collected day by day."""
    return plan(
        f"Project [day#0, {expression} AS out#30]", f"Aggregate [day#0], [day#0, {COLLECTED}]"
    )


@pytest.mark.parametrize(
    ("call", "cause"),
    [
        ("current_timestamp()", Cause.CLOCK),
        ("current_date(Some(UTC))", Cause.CLOCK),
        ("unix_timestamp(current_timestamp(), yyyy-MM-dd, Some(UTC), true)", Cause.CLOCK),
        ("rand(-1001979406895787192)", Cause.CHANCE),
        ("uniform(1, 10, -639883558073410235, true, Some(UTC))", Cause.CHANCE),
        ("shuffle(array(rev#2, rev#2), Some(5992893835190281296))", Cause.CHANCE),
        ("uuid(Some(-8498780646456608932))", Cause.IDENTITY),
        ("monotonically_increasing_id()", Cause.IDENTITY),
        ("SPARK_PARTITION_ID()", Cause.IDENTITY),
        ("input_file_name()", Cause.PLACE),
        ("current_user()", Cause.SESSION),
        ("reflect(java.util.UUID, randomUUID, true)", Cause.SESSION),
    ],
)
def test_what_may_be_otherwise_next_time_is_named_with_the_column_it_feeds(call, cause) -> None:
    (sighting,) = seen(plan(f"Project [day#0, {call} AS out#9]"))
    assert (sighting.cause, sighting.where) == (cause, "column 'out'")


def test_a_filter_by_chance_is_named() -> None:
    (sighting,) = seen(plan("Filter (rand(7) < 0.1)"))
    assert (sighting.cause, sighting.where) == (Cause.CHANCE, "a filter")


def test_a_sample_is_named_also_with_a_seed() -> None:
    assert causes(plan("Sample 0.0, 0.5, false, 42, Bernoulli")) == [Cause.CHANCE]


def test_a_column_that_is_named_like_a_function_is_none() -> None:
    assert causes(plan("Project [now()#3L]")) == []


def test_an_order_by_the_whole_key_is_total() -> None:
    assert causes(numbered(FIRST)) == []


def test_an_order_that_may_have_ties_is_named() -> None:
    (sighting,) = seen(numbered("amount#3L ASC NULLS FIRST"))
    assert (sighting.cause, sighting.where) == (Cause.ORDER, "column 'n'")
    assert sighting.expression.startswith("row_number() windowspecdefinition(day, meter, amount")


def test_a_window_within_an_expression_is_named_by_the_column_that_it_feeds() -> None:
    outer = "Project [day#0, _we0#20, cast(_we0#20 as bigint) AS n#21L]"
    order = "amount#3L ASC NULLS FIRST"
    spec = f"day#0, {order}, specifiedwindowframe(RowFrame, unboundedpreceding$(), currentrow$())"
    window = f"Window [row_number() windowspecdefinition({spec}) AS _we0#20], [day#0], [{order}]"
    (sighting,) = seen(plan("Project [day#0, n#21L]", outer, window))
    assert (sighting.cause, sighting.where) == (Cause.ORDER, "column 'n'")


def test_a_key_counts_through_projections_and_new_names() -> None:
    renamed = plan("Project [day#0 AS d#40, meter#1, rev#2 AS r#41]", "Filter (amount#3L > 1)")
    by = "d#40, meter#1"
    assert causes(numbered("r#41 DESC NULLS LAST", below=renamed, by=by)) == []


def test_a_struct_of_the_key_orders_like_the_key() -> None:
    below = plan("Project [day#0, meter#1, struct(amount, amount#3L, rev, rev#2) AS o#40]")
    assert causes(numbered("o#40 ASC NULLS FIRST", below=below)) == []


def test_what_is_made_of_the_key_need_not_tell_rows_apart() -> None:
    below = plan("Project [day#0, upper(meter#1) AS m#40, rev#2]")
    assert causes(numbered(FIRST, below=below, by="day#0, m#40")) == [Cause.ORDER]


def test_a_landed_input_promises_no_key() -> None:
    unmarked = INPUT.replace("input_0", "landed")
    assert causes(numbered(FIRST, below=unmarked)) == [Cause.ORDER]


def test_the_newest_of_each_key_tells_rows_apart_afterwards() -> None:
    newest = plan("Filter (n#20 = 1)", below=numbered(FIRST).replace("[day#0, n#20]", "[*]"))
    over = newest.replace("Project [*]", "Project [day#0, meter#1, n#20]")
    again = "Window [lag(amount#3L, -1, null) windowspecdefinition(day#0, meter#1 ASC NULLS FIRST, "
    frame = "specifiedwindowframe(RowFrame, -1, -1)) AS l#50L], [day#0], [meter#1 ASC NULLS FIRST]"
    assert causes(plan(again + frame, below=over)) == []


def test_a_group_is_told_apart_by_what_it_is_grouped_by() -> None:
    totals = plan("Aggregate [day#0, meter#1], [day#0, meter#1, sum(amount#3L) AS rev#2L]")
    assert causes(numbered("meter#1 ASC NULLS FIRST", below=totals, by="day#0")) == []


def test_rows_of_a_union_are_told_apart_by_nothing() -> None:
    inner = "\n".join(f":  {one}" for one in INPUT.splitlines())
    both = f"Union false, false\n:- {inner[3:]}\n+- {inner[3:].replace(':  ', '   ')}"
    assert causes(numbered(FIRST, below=both)) == [Cause.ORDER]


def test_a_join_that_meets_one_row_at_most_keeps_the_key() -> None:
    met = join("LeftOuter", "((day#0 = day#10) AND (meter#1 = meter#11))")
    assert causes(numbered(FIRST, below=met)) == []


def test_a_join_that_may_meet_several_rows_does_not() -> None:
    met = join("LeftOuter", "(day#0 = day#10)")
    assert causes(numbered(FIRST, below=met)) == [Cause.ORDER]


def test_a_rank_does_not_ask_which_of_two_alike_comes_first() -> None:
    assert causes(numbered("amount#3L ASC NULLS FIRST").replace("row_number", "rank")) == []


def test_a_running_sum_by_rows_needs_a_total_order() -> None:
    text = numbered("amount#3L ASC NULLS FIRST").replace("row_number()", "sum(rev#2)")
    assert causes(text) == [Cause.ORDER]


def test_a_sum_over_all_rows_of_a_window_does_not() -> None:
    spec = "specifiedwindowframe(RowFrame, unboundedpreceding$(), unboundedfollowing$())"
    window = f"Window [sum(amount#3L) windowspecdefinition(day#0, {spec}) AS s#20L], [day#0]"
    assert causes(plan(window)) == []


@pytest.mark.parametrize(
    "item",
    [
        "first(amount#3L, false) AS out#20L",
        "any_value(meter#1, false) AS out#20",
        "max_by(amount#3L, rev#2) AS out#20L",
        "mode(rev#2, 0, 0, None) AS out#20",
        "percentile_approx(amount#3L, 0.5, 10000, 0, 0) AS out#20L",
        "listagg(meter#1, ,, 0, 0) AS out#20",
        "collect_list(amount#3L, 0, 0, true) AS out#20",
        "collect_set(rev#2, 0, 0, true) AS out#20",
    ],
)
def test_a_choice_among_the_rows_of_a_group_is_named(item) -> None:
    (sighting,) = seen(grouped(item))
    assert (sighting.cause, sighting.where) == (Cause.ORDER, "column 'out'")


@pytest.mark.parametrize(
    "item",
    [
        "max_by(amount#3L, struct(rev, rev#2, meter, meter#1)) AS out#20L",
        "max_by(struct(rev, rev#2), rev#2) AS out#20",
        "first(day#0, false) AS out#20",
        "listagg(meter#1, ,, meter#1 ASC NULLS FIRST, 0, 0) AS out#20",
        "sort_array(collect_list(amount#3L, 0, 0, true), true) AS out#20",
        "size(collect_set(rev#2, 0, 0, true), false) AS out#20",
        "sort_array(collect_list(rev#2, 0, 0, true) FILTER (WHERE (rev#2 > 1)), true) AS out#20",
        "count(distinct amount#3L) AS out#20L",
        "count(1) AS out#20L",
        "max(x#4) AS out#20",
        "sum(amount#3L) AS out#20L",
    ],
)
def test_what_no_order_of_rows_can_change_passes(item) -> None:
    assert causes(grouped(item)) == []


def test_where_each_group_is_one_row_nothing_is_chosen() -> None:
    by = "day#0, meter#1, rev#2"
    assert causes(grouped("first(amount#3L, false) AS out#20L", COLLECTED, by=by)) == []


@pytest.mark.parametrize(
    "expression",
    [
        f"array_sort(vs#20, {USUAL})",
        "array_max(vs#20)",
        "size(array_distinct(vs#20), false)",
        "aggregate(vs#20, 0, lambdafunction((lambda acc#5L + lambda v#6L), lambda acc#5L, "
        "lambda v#6L, false), lambdafunction(lambda id#7L, lambda id#7L, false))",
        f"array_sort(CASE WHEN (size(vs#20, false) = 1) THEN vs#20 ELSE filter(vs#20, "
        f"lambdafunction((lambda v#5L > 1), lambda v#5L, false)) END, {USUAL})[0]",
    ],
)
def test_a_collected_list_may_be_used_where_its_order_does_not_matter(expression) -> None:
    assert causes(collected(expression)) == []


@pytest.mark.parametrize(
    "expression",
    [
        "vs#20",
        "vs#20[0]",
        "element_at(vs#20, 1, None, true)",
        "concat_ws(-, cast(vs#20 as array<string>))",
        "sort_array(transform(vs#20, lambdafunction((lambda v#5L + lambda i#6), lambda v#5L, "
        "lambda i#6, false)), true)",
        "array_sort(vs#20, lambdafunction((lambda l#5L - lambda r#6L), lambda l#5L, lambda r#6L, "
        "false), false)",
        "aggregate(vs#20, 0, lambdafunction((lambda v#6L - lambda acc#5L), lambda acc#5L, "
        "lambda v#6L, false), lambdafunction(lambda id#7L, lambda id#7L, false))",
    ],
)
def test_a_collected_list_is_named_where_its_order_shows(expression) -> None:
    (sighting,) = seen(collected(expression))
    assert sighting.expression.startswith("collect_list(amount")
    assert sighting.where == "column 'out'"


def test_a_list_that_nobody_uses_does_not_matter() -> None:
    assert causes(plan("Project [day#0]", f"Aggregate [day#0], [day#0, {COLLECTED}]")) == []


def test_rows_of_a_list_come_in_any_order_but_their_places_do_not() -> None:
    below = grouped(COLLECTED)
    assert causes(plan("Generate explode(vs#20), false, [v#30L]", below=below))[:1] != [Cause.CLOCK]
    spread = plan("Project [day#0, v#30L]", "Generate explode(vs#20), false, [v#30L]", below=below)
    assert causes(spread) == []


def test_the_place_of_a_row_in_a_list_is_named() -> None:
    generate = "Generate posexplode(vs#20), false, [pos#30, v#31L]"
    placed = plan("Project [day#0, pos#30]", generate, below=grouped(COLLECTED))
    assert causes(placed) == [Cause.ORDER]


@pytest.mark.parametrize("line", ["Deduplicate [day#0, meter#1]", "GlobalLimit 5", "Offset 3"])
def test_which_rows_stay_is_named_where_it_is_left_open(line) -> None:
    assert causes(plan(line)) == [Cause.ORDER]


@pytest.mark.parametrize(
    "lines",
    [
        ("Deduplicate [day#0, meter#1, rev#2]",),
        ("Deduplicate [rev#2, x#4, meter#1, day#0, amount#3L]",),
        (
            "GlobalLimit 5",
            "LocalLimit 5",
            f"Sort [day#0 ASC NULLS FIRST, meter#1 ASC NULLS FIRST, {FIRST}], true",
        ),
        ("GlobalLimit 1", "LocalLimit 1", "Aggregate [count(1) AS n#20L]"),
        ("GlobalLimit 0", "LocalLimit 0"),
    ],
)
def test_which_rows_stay_is_settled_by_the_key(lines) -> None:
    assert causes(plan(*lines)) == []


def test_rows_that_go_through_python_are_named() -> None:
    line = "FlatMapGroupsInPandas [day#0], f(day#0, meter#1)#30, [day#31, meter#32]"
    assert causes(plan(line)) == [Cause.ORDER]


def test_a_floating_sum_that_feeds_a_whole_number_is_named() -> None:
    text = plan("Project [day#0, (s#20 > 1.0) AS is_high#30]", grouped_line("sum(x#4) AS s#20"))
    (sighting,) = seen(text, is_high="boolean")
    assert (sighting.cause, sighting.expression) == (Cause.FLOATS, "sum(x)")


def test_a_floating_sum_that_feeds_a_floating_column_is_rounded_by_the_platform() -> None:
    assert causes(grouped("sum(x#4) AS total#20"), total="double") == []


def test_a_floating_sum_that_decides_which_rows_there_are_is_named() -> None:
    text = plan("Filter (s#20 > 1.0)", grouped_line("sum(x#4) AS s#20"))
    assert Cause.FLOATS in causes(text, s="double")


@pytest.mark.parametrize(
    "summed",
    ["sum(cast(x#4 as decimal(18,2)))", "avg(amount#3L)", "sum(cast(amount#3L as decimal(20,0)))"],
)
def test_exact_numbers_may_be_added_up_in_any_order(summed) -> None:
    assert causes(grouped(f"{summed} AS total#20"), total="decimal(28,2)") == []


def test_what_becomes_a_double_on_the_way_counts_as_floating() -> None:
    summed = "sum((cast(amount#3L as double) / cast(3 as double))) AS total#20"
    assert causes(grouped(summed), total="decimal(28,2)") == [Cause.FLOATS]


def test_a_literal_with_line_ends_and_brackets_hides_nothing() -> None:
    odd = "Project [a, (b#3[ AS odd#30, x\n+ y AS nl#31, rand(5) AS r#32]"
    assert causes(plan(odd)) == [Cause.CHANCE]


def grouped_line(item: str) -> str:
    return f"Aggregate [day#0], [day#0, {item}]"
