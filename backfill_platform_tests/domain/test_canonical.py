"""One text for equal documents, and the same one as every library of RFC 8785 writes."""

from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from backfill_platform.domain.canonical import GREATEST_SAFE_INTEGER, canonical_json

texts = st.text(st.characters(codec="utf-8"))
leaves = (
    st.none() | st.booleans() | texts | st.integers(-GREATEST_SAFE_INTEGER, GREATEST_SAFE_INTEGER)
)
documents = st.recursive(
    leaves, lambda inner: st.lists(inner) | st.dictionaries(texts, inner), max_leaves=20
)


@given(documents)
def test_canonical_text_is_that_of_the_standard(document: Any):
    assert canonical_json(document).encode() == rfc8785.dumps(document)


def test_names_beyond_the_basic_plane_stand_where_the_standard_puts_them():
    document = {"\ufb33": 1, "\U0001f600": 2, "a": 3}
    assert canonical_json(document) == '{"a":3,"\U0001f600":2,"\ufb33":1}'
    assert canonical_json(document).encode() == rfc8785.dumps(document)


def test_control_characters_are_escaped_as_the_standard_asks():
    assert canonical_json('\x00\x1f\x7f\b\n"\\/é') == '"\\u0000\\u001f\x7f\\b\\n\\"\\\\/é"'


def test_the_order_in_which_names_were_put_in_does_not_matter():
    assert canonical_json({"b": 1, "a": 2}) == canonical_json({"a": 2, "b": 1}) == '{"a":2,"b":1}'


@pytest.mark.parametrize("value", [1.5, 2**53, -(2**53), {1, 2}, b"text"])
def test_what_writers_differ_on_is_refused(value):
    with pytest.raises(TypeError, match="has no canonical text; write it as text"):
        canonical_json({"value": value})


def test_a_name_that_is_no_text_is_refused():
    with pytest.raises(TypeError, match="must be text, not 1"):
        canonical_json({1: "one"})


@pytest.mark.parametrize("document", ["a reason \ud83d", {"\ud83d": 1}])
def test_half_a_character_is_refused_in_a_value_and_in_a_name(document):
    with pytest.raises(ValueError, match="is no Unicode text; write it again in UTF-8"):
        canonical_json(document)
