"""Cells of text tables, which no spreadsheet may take for formulas; numbers and dates of the language."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import curator
from curator.domain.wording import (
    ENGLISH,
    catalogue,
    guarded,
    guarded_row,
    localised,
    ntr,
    tr,
    unguarded,
    use,
    well_formed,
)

CELLS = st.text(st.one_of(st.sampled_from("'=+-@\t\r\n1.,e% x"), st.characters()), max_size=8)


@given(CELLS)
def test_a_guarded_cell_is_read_as_it_was(cell: str) -> None:
    assert unguarded(guarded(cell)) == cell
    assert not guarded(cell).startswith(("=", "@", "\t", "\r", "\n"))


@pytest.mark.parametrize(
    "cell", ["=1", "@x", "+x", "-x", "--1", "-1-1", "+-1", "-1x", "=", "\t", "-cmd|x!A0", "- x", "'-1"]
)
def test_what_begins_like_a_formula_gets_an_apostrophe(cell: str) -> None:
    assert guarded(cell) == f"'{cell}"


@pytest.mark.parametrize("cell", ["", "-", "+", "-1", "+1.5", "-.5", "-1e-10", "+3 %", "1,000", "x", "a=b", "'", "'x"])
def test_numbers_and_lone_signs_stay(cell: str) -> None:
    assert guarded(cell) == unguarded(cell) == cell


def test_a_row_keeps_what_is_no_text() -> None:
    out = io.StringIO()
    csv.writer(out).writerow(guarded_row(["=1", 2, -0.5, None, ""]))
    assert out.getvalue() == "'=1,2,-0.5,,\r\n"


def test_every_table_that_is_written_is_guarded() -> None:
    figures_only = {"training_panel.py"}
    written = [one for one in Path(curator.__path__[0]).rglob("*.py") if "csv.writer(" in one.read_text("utf-8")]
    assert len(written) > 5
    assert {one.name for one in written if "guarded" not in one.read_text("utf-8")} == figures_only


NOON = datetime(2026, 11, 4, 12, 5, 6)


@pytest.fixture
def german() -> Iterator[None]:
    use(catalogue("de"))
    yield
    use(ENGLISH)


def test_numbers_and_dates_are_written_as_in_english() -> None:
    assert [localised(12345, ","), localised(0.374, ".2f"), localised(0.5, ".0%")] == ["12,345", "0.37", "50%"]
    assert localised(NOON, "%d %b %Y, %H:%M:%S") == f"{NOON:%d %b %Y}, 12:05:06"


@pytest.mark.usefixtures("german")
def test_numbers_and_dates_are_written_as_in_german() -> None:
    assert [localised(1234567, ","), localised(0.374, ".2f"), localised(-1234.5, ",.1f")] == [
        *("1.234.567", "0,37", "-1.234,5"),
    ]
    assert localised(NOON, "%d %b %Y, %H:%M:%S") == "04.11.2026, 12:05:06"
    assert localised(NOON.date(), "%d %b") == "04.11."
    assert ntr("{n:,} of {a:.1f}, {b}", "{n:,} of {a:.1f}, {b}", 1234, a=0.25, b=1.5) == "1.234 of 0,2, 1.5"
    assert tr("{at:%d %b %Y} {word:>3}", at=NOON, word="x") == "04.11.2026   x"


def test_bytes_of_names_that_are_not_utf8_are_shown() -> None:
    name = b"caf\xc3\xa9 \xff".decode("utf-8", "surrogateescape")
    assert tr("{name} is gone", name=name) == r"café \xff is gone"
    assert well_formed("\ud800") == r"\ud800"
