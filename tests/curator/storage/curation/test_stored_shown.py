"""What was shown, unpacked when it is looked at."""

from __future__ import annotations

import pytest

from curator.domain.decisions import Shown, ShownCandidate, Verdict
from curator.storage.curation import stored_suggestion as stored_shown
from curator.storage.curation.stored_suggestion import StoredShown
from curator.storage.db.packing import pack_shown

SHOWN = Shown("b", (ShownCandidate("A", 0.5), ShownCandidate("B", 0.25)), 0.1, False)


def test_it_is_equal_to_what_was_packed() -> None:
    stored = StoredShown.packed(pack_shown(SHOWN))
    assert stored == SHOWN
    assert Shown("b", ()) != stored
    assert hash(stored) == hash(StoredShown.packed(pack_shown(SHOWN)))
    assert stored.rank_of(Verdict.link("B")) == 2
    assert StoredShown.packed(pack_shown(Shown("b", ()))) != SHOWN
    assert stored != "something else"
    with pytest.raises(AttributeError):
        stored.nothing  # noqa: B018


def test_it_is_unpacked_only_when_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    stored = StoredShown.packed(pack_shown(SHOWN))
    monkeypatch.delattr(stored_shown, "unpack_shown")
    with pytest.raises(NameError):
        stored.candidates  # noqa: B018
