"""What the cells of foreign tables mean: no value, or something that a spreadsheet made of a value."""

from __future__ import annotations

import re
from collections.abc import Iterator

from curator.domain.wording import ntr
from curator.services.ports.files import Problem

MISSING = frozenset(
    (
        *("-", "--", "---", "–", "—", ".", "?", "NA", "N/A", "n/a", "N.A.", "n.a.", "<NA>"),  # not Na, which is sodium
        *("nan", "NaN", "-nan", "-NaN", "NULL", "null", "None", "\\N"),
    )
)
"""As databases, R and pandas write that there is no value."""
_ERROR = re.compile(r"#(?:[A-ZÄÖÜ0-9/_]+[!?]|N/A|NV|GETTING_DATA)|Err:\d{3}")
_MONTH = "(?:Jan|Feb|Mar|Mär|Apr|May|Mai|Jun|Jul|Aug|Sep|Sept|Oct|Okt|Nov|Dec|Dez)"
_MADE = re.compile(
    rf"true|false|\d{{4}}-\d\d-\d\d(?:[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?|(?:\d+ days?, )?\d{{1,2}}:\d\d:\d\d(?:\.\d+)?"
    rf"|\d{{1,2}}[./]\d{{1,2}}[./]\d{{4}}|\d{{1,2}}-{_MONTH}(?:-\d{{2,4}})?|{_MONTH}-\d{{2,4}}|\d(?:\.\d+)?E\+\d+",
    re.IGNORECASE,
)


class Cells:
    """Reads the values of one table, and counts the cells without one."""

    def __init__(self) -> None:
        self._missing: dict[str, tuple[int, int]] = {}

    def value(self, cell: str, line: int) -> str:
        """The stripped text; '' for a cell that says that it has no value."""
        cell = cell.strip()
        if cell not in MISSING and not is_error(cell):
            return cell
        count, first = self._missing.get(cell, (0, line))
        self._missing[cell] = count + 1, first
        return ""

    def notes(self) -> Iterator[Problem]:
        """One for each text that was read as no value, with its first line."""
        for cell, (count, first) in self._missing.items():
            text = ntr(
                "{n} cell “{cell}” was read as no value", "{n:,} cells “{cell}” were read as no value", count, cell=cell
            )
            yield Problem(first, "note", text)


def is_error(cell: str) -> bool:
    """Whether it is the error of a formula."""
    return cell[:1] in ("#", "E") and _ERROR.fullmatch(cell) is not None


def is_converted(cell: str) -> bool:
    """Whether it is a date, a time, a logical value or a number with an exponent: spreadsheets turn names and
    identifiers such as SEPT2 and 2310009E13 into them."""
    return _MADE.fullmatch(cell) is not None
