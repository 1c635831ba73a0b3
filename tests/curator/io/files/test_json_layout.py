"""Changed JSON keeps the indentation, separators and escapes of the text that it replaces."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.io.files.json_stream import rewritten
from tests.curator.io.standoff_samples import FEW

LEAVES = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.5, "", "é", "a\nb", "\ud83d", '"', "1, 2"])
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("abc"), inner), max_leaves=12
)
LAYOUTS: list[dict[str, Any]] = [
    {},
    {"indent": 1},
    {"indent": "\t", "ensure_ascii": False},
    {"separators": (",", ":")},
    {"separators": (" , ", " : ")},
]


@FEW
@given(VALUES, VALUES, st.sampled_from(LAYOUTS))
def test_any_value_takes_the_place_of_any_other(before: Any, after: Any, layout: dict[str, Any]) -> None:
    written = json.loads(rewritten(json.dumps(before, **layout), after))
    assert json.dumps(written, sort_keys=True) == json.dumps(after, sort_keys=True)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("inside", [False, True])
def test_the_layout_stays(layout: dict[str, Any], inside: bool) -> None:
    value = {"id": "é, [1], [2]", "list": [{"a": [1, 2], "b": {"c": None, "d": {}}}], "none": []}
    text = json.dumps([value] if inside else value, **layout)
    raw = text[text.index("{") : text.rindex("}") + 1]
    assert rewritten(raw, value) == raw
    assert rewritten(raw.replace("\n", "\r\n"), value) == raw.replace("\n", "\r\n")


def test_a_number_that_python_cannot_hold_stays_json() -> None:
    raw = '{"a": "Infinity \\" Infinity", "b": [1e400, -1e400]}'
    assert rewritten(raw, json.loads(raw)) == raw.replace("1e400", "1e999")
