"""Suggestions that are unpacked when they are looked at."""

from __future__ import annotations

import json
import zlib
from dataclasses import replace

import pytest

from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.storage.curation import stored_suggestion
from curator.storage.curation.stored_suggestion import StoredSuggestion
from curator.storage.db.packing import (
    MOST_BYTES,
    pack_suggestion,
    rank_in,
    unpack_chance,
    unpack_head,
    unpack_shown,
)

FOUND = (Candidate("A", "a", (), "a", 2.0, probability=0.75), Candidate("B", "b", (), "b", 1.0))
HEAD = (str, str, float, float, float, bool, bool, str)
WHOLE = Suggestion(7, FOUND, NilEstimate(0.5, True, False), Stamp("b", 3), "a long form")


def packed(whole: Suggestion = WHOLE) -> StoredSuggestion:
    return StoredSuggestion.packed(whole.mention_id, whole.stamp, pack_suggestion(whole), is_nil=whole.nil.is_nil)


def test_it_is_equal_to_what_was_packed_and_can_be_changed_like_it() -> None:
    assert packed() == WHOLE
    assert packed() == packed()
    assert hash(packed()) == hash(packed())
    assert packed().expanded == "a long form"
    first = replace(packed(), candidates=WHOLE.candidates[:1])
    assert first == replace(WHOLE, candidates=WHOLE.candidates[:1])
    assert first.expects_nil
    assert first != packed()
    assert packed() != packed(replace(WHOLE, expanded=""))
    assert packed() != packed(replace(WHOLE, stamp=Stamp("b", 4)))
    assert packed() != "something else"
    with pytest.raises(AttributeError):
        packed().nothing  # noqa: B018


def test_one_made_ready_to_be_stored_is_equal_and_packed_once() -> None:
    ready = StoredSuggestion.of(WHOLE)
    assert ready == WHOLE
    assert ready.candidates is FOUND
    assert ready.payload == pack_suggestion(WHOLE)
    assert StoredSuggestion.of(ready) is ready
    assert StoredSuggestion.of(replace(ready, expanded="")).payload == pack_suggestion(replace(WHOLE, expanded=""))


def test_bytes_of_other_programs_are_one_without_candidates() -> None:
    endless = zlib.compress(zlib.decompress(pack_suggestion(WHOLE)) + b" " * MOST_BYTES)
    for payload in (b"", b"\x01", zlib.compress(b"[]"), zlib.compress(b'{"ids": [1]}'), endless):
        read = StoredSuggestion.packed(7, WHOLE.stamp, payload, is_nil=False)
        assert (read.mention_id, read.candidates, read.nil.is_nil, read.expanded) == (7, (), False, "")
        assert unpack_shown(payload).candidates == ()


@pytest.mark.parametrize(
    "changed",
    [
        {"ids": [1, 2]},
        {"names": ["a", None]},
        {"types": [[], [1]]},
        {"matched": [{}, None]},
        {"score": [float("nan"), 1.0]},
        {"score": [10**400, 1]},
        {"stages": {"names": ["a", None]}},
        {"chance": ["a", "b"]},
        {"decided": {"0": ["a", "b"]}},
        {"nil": [None, True, False]},
        {"expanded": 5},
        {name: [one] * 10_000 for name, one in {"ids": "A", "names": "a", "types": [], "matched": "a"}.items()},
    ],
)
def test_values_of_another_type_are_one_without_candidates(changed: dict[str, object]) -> None:
    payload = zlib.compress(json.dumps(json.loads(zlib.decompress(pack_suggestion(WHOLE))) | changed).encode())
    read = StoredSuggestion.packed(7, WHOLE.stamp, payload, is_nil=False)
    assert (read.candidates, read.nil.score, read.expanded) == ((), 0.0, "")
    assert all(isinstance(one, kind) for one, kind in zip(unpack_head(payload), HEAD, strict=True))
    assert (unpack_chance(payload, "A"), rank_in(payload, ["B"])) in [(0.75, 2), (0.0, 2), (0.0, 0), (0.75, 0)]
    shown = {"bundle": "b", "ids": ["A"], "scores": ["x"], "nil": None}
    assert unpack_shown(zlib.compress(json.dumps(shown).encode())).candidates == ()


def test_nothing_is_unpacked_to_compare_and_to_tell_what_the_text_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    one, other = packed(), packed()
    monkeypatch.delattr(stored_suggestion, "unpack_suggestion")
    assert one == other
    assert (one.expects_nil, one.stamp, one.mention_id) == (True, Stamp("b", 3), 7)
    with pytest.raises(NameError):
        one.candidates  # noqa: B018
