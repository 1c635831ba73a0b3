"""The sheet of a sample: every text comes back, and a damaged one is refused with its line."""

from __future__ import annotations

import json

import pytest

from curator.domain.decisions import Verdict
from curator.domain.wording import UserError
from curator.services.curating.bulk_plan import BulkPlan, Chance
from curator.services.curating.bulk_sheet import read_sheet, sheet_of
from curator.services.ports.queue import MentionContext

ODD = "a\u2028b\x85c\x0bd"


def sheet() -> str:
    plan = BulkPlan(0.05, (Chance(1, 2, 0.5, "D1"),), (), ((1,),), (3, 0))
    context = MentionContext(1, 2, ODD, 0, ODD, ODD, ODD, "Disease", Verdict.nil(), "ada", None)
    return sheet_of(plan, [context], {1: True})


def test_texts_with_other_line_ends_come_back() -> None:
    found = read_sheet(sheet())
    assert found.marks == {1: True}
    assert found.shown == {1: (ODD, ODD)}


def test_a_sample_with_a_limit_of_the_former_kind_is_refused() -> None:
    with pytest.raises(UserError, match="Draw a new sample"):
        read_sheet(sheet().replace('"format": 2', '"format": 1'))


@pytest.mark.parametrize(
    "line",
    [
        "[" * 100_000,
        '{"plan": 1}',
        '{"plan": {"format": 2, "held_out": [Infinity, 0], "error": 0}}',
        '{"plan": {"x": []}}',
    ],
)
def test_a_damaged_sheet_is_refused_with_its_line(line: str) -> None:
    with pytest.raises(UserError, match="Line 2"):
        read_sheet(f"{json.dumps({'mention': 1})}\n{line}\n")
