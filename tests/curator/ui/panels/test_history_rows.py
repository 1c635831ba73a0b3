"""The rows of a mention's history in words, and how many lines each takes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from curator.domain.decisions import Decision, Verdict
from curator.domain.relations import RelationEdit
from curator.ui.panels.history_rows import DecisionStatus, HistoryRow, relation_rows

AT = datetime(2026, 5, 4, tzinfo=UTC)
EDIT = RelationEdit("“a” → “b” (CID)", False, "ada", AT)


def test_a_relation_that_ended_with_its_other_mention_says_so() -> None:
    ended, added = relation_rows([EDIT, replace(EDIT, deleted=True, with_mention=True)])
    assert ended.what == "Relation ended because the other mention was deleted: “a” → “b” (CID)"
    assert added.what == "Relation added: “a” → “b” (CID)"


@pytest.mark.parametrize("note", ["", "a note"])
@pytest.mark.parametrize("shown", ["", "rank 1 of 20 shown"])
@pytest.mark.parametrize("replaced", ["", "NIL"])
def test_a_row_has_as_many_lines_as_it_shows(note: str, shown: str, replaced: str) -> None:
    decision = Decision(1, 1, Verdict.nil(), "ada", AT, note=note) if note else None
    row = HistoryRow(decision, "what", shown, DecisionStatus.EDIT, replaced, edit=EDIT)
    assert row.lines == 1 + len(row.small_lines)
