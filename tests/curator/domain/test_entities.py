"""Entities that curators make."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from curator.domain.entities import EntityDraft, ProvisionalEntity, id_of, is_new, number_of
from curator.domain.wording import UserError


def test_ids_count_on_beyond_four_figures() -> None:
    assert [id_of(1), id_of(12345)] == ["NEW:0001", "NEW:12345"]
    assert [number_of(one) for one in ("NEW:0001", "NEW:12345", "NEW:x", "NEW:²", "MESH:0001")] == [1, 12345, 0, 0, 0]
    assert is_new("NEW:0001")
    assert not is_new("MESH:D1")


def test_a_draft_is_tidied() -> None:
    draft = EntityDraft("  Blorb \n itis ", ("Disease", "", "Disease"), " d \n", ("blorb itis", "Blorbs", "", "blorbs"))
    assert draft.tidied() == EntityDraft("Blorb itis", ("Disease",), "d", ("Blorbs",))


@pytest.mark.parametrize("draft", [EntityDraft(" "), EntityDraft("x" * 301), EntityDraft("x", synonyms=("y" * 301,))])
def test_a_draft_without_a_name_or_with_a_text_for_one_is_refused(draft: EntityDraft) -> None:
    with pytest.raises(UserError):
        draft.tidied()


def test_deleted_and_replaced_ones_are_not_living() -> None:
    entity = EntityDraft("x").entity("NEW:0001")
    at = datetime(2026, 1, 1, tzinfo=UTC)
    assert ProvisionalEntity(entity, "ada", at).living
    assert not ProvisionalEntity(entity, "ada", at, deleted=True).living
    assert not ProvisionalEntity(entity, "ada", at, successor="MESH:D1").living
