"""JSON changed in places: equal values keep their characters, new ones are laid out like those next to them."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.io.files.json_layout import rewritten
from tests.curator.io.standoff_samples import FEW

LEAVES = st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([1.5, "", "é", "a\nb", "\ud83d", '"'])
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

MIXED = """{
   "id" : 1.0, "e": 1e3,
   "list": [
      {"id": "a", "places": [{"at": 1}], "infons": {"type": "D"}},
      {"id": "b", "places": [{"at": 2}, {"at": 3}], "infons": {"type": "C",  "cui": "-"}}
   ],
   "none": []
   }"""


@FEW
@given(VALUES, VALUES, st.sampled_from(LAYOUTS))
def test_any_value_takes_the_place_of_any_other(before: Any, after: Any, layout: dict[str, Any]) -> None:
    text = json.dumps(before, **layout)
    assert rewritten(text, before) == text
    written = json.loads(rewritten(text, after))
    assert json.dumps(written, sort_keys=True) == json.dumps(after, sort_keys=True)


def test_only_what_differs_is_touched() -> None:
    value = json.loads(MIXED)
    value["list"][1]["infons"]["cui"] = "C1"
    assert rewritten(MIXED, value) == MIXED.replace('"cui": "-"', '"cui": "C1"')
    value = json.loads(MIXED)
    del value["list"][0]
    assert rewritten(MIXED, value) == MIXED.replace(MIXED[MIXED.index('{"id": "a"') : MIXED.index('{"id": "b"')], "")


def test_what_is_new_is_laid_out_like_the_rest() -> None:
    value = json.loads(MIXED)
    value["list"].append({"id": "c", "places": [{"at": 9}, {"at": 12}], "infons": {}})
    value["none"] = [{"x": 1}]
    value["list"][0]["infons"]["cui"] = "é"
    lines = rewritten(MIXED, value).split("\n")
    assert lines[3] == '      {"id": "a", "places": [{"at": 1}], "infons": {"type": "D", "cui": "é"}},'
    assert lines[5] == '      {"id": "c", "places": [{"at": 9}, {"at": 12}], "infons": {}}'
    assert lines[7:] == ['   "none": [', "      {", '         "x": 1', "      }", "   ]", "   }"]


@pytest.mark.parametrize("depth", [300])
def test_what_is_nested_deeply_comes_back(depth: int) -> None:
    text = "[" * depth + "1" + "]" * depth
    assert json.loads(rewritten(text, [json.loads(text), 2]))[1] == 2


@FEW
@given(st.lists(st.integers(0, 9), max_size=9), st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=9))
def test_elements_with_ids_stay_as_they_were_written(before: list[int], after: list[tuple[int, bool]]) -> None:
    """Ids may be moved, repeated, removed and added; what was changed keeps its layout, found by its id."""
    text = "[" + ", ".join(f'{{"id" :{one},"v":0}}' for one in before) + "]"
    value = [{"id": one, "v": int(changed)} for one, changed in after]
    assert json.loads(rewritten(text, value)) == value
    if before == sorted({one for one, _ in after}) == [one for one, _ in after]:
        assert rewritten(text, value).count('"id" :') == len(before)


def test_every_second_of_thousands_of_elements_is_changed() -> None:
    text = "[" + ", ".join(f'{{"id" :{one},"v":0}}' for one in range(6_000)) + "]"
    value = [{"id": one, "v": one % 2} for one in range(6_000) if one % 7]
    assert rewritten(text, value) == "[" + ", ".join(f'{{"id" :{one["id"]},"v":{one["v"]}}}' for one in value) + "]"
