"""The simulated curator: what one key is, and that a document is linked before it is learnt."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from models.types import LinkedMention
from tests.training.evaluation.worlds import answer, gold
from training.data.snapshot import Gold, SnapshotDocument, SnapshotMention, Split
from training.evaluation.replay import SimulatedDecision, curves_of, decide, simulate


@pytest.mark.parametrize(
    ("ids", "shown", "flagged", "one_key", "digit"),
    [
        (("A",), "A B", False, True, True),
        (("A",), "B A", False, False, True),
        (("A",), "A B", True, False, True),
        (("A",), "1 2 3 4 5 6 7 8 A", False, False, True),
        (("A",), "1 2 3 4 5 6 7 8 9 A", False, False, False),
        (("A",), "", False, False, False),
        ((), "A B", True, True, True),
        ((), "", True, True, True),
        ((), "A B", False, False, False),
        (("A", "B"), "A B", False, False, False),
    ],
)
def test_what_one_key_is(ids: tuple[str, ...], shown: str, flagged: bool, one_key: bool, digit: bool) -> None:
    found = decide(gold("m", *ids), answer("m", *shown.split(), is_nil=flagged))
    assert (found.one_key, found.digit) == (one_key, digit)
    assert found.first_right == (shown[:1] == "A" and bool(ids))
    assert found.nil is (not ids)


def test_without_an_answer_nothing_can_be_accepted() -> None:
    assert decide(gold("m", "A"), None) == SimulatedDecision(False, False, False, False, False)
    assert decide(gold("m"), None) == SimulatedDecision(True, False, False, False, False)


class Parrot:
    """Suggests for a surface what was last decided about it, else X."""

    remembers = True

    def __init__(self) -> None:
        self.known: dict[str, str] = {}
        self.steps: list[str] = []

    def link(self, document: SnapshotDocument, *, k: int) -> Sequence[LinkedMention]:
        self.steps.append(f"link {document.key} {k}")
        surfaces = [document.text[slice(*mention.spans[0])] for mention in document.mentions]
        return [answer(m.key, self.known.get(s, "X")) for m, s in zip(document.mentions, surfaces, strict=True)]

    def learn(self, document: SnapshotDocument) -> None:
        self.steps.append(f"learn {document.key}")
        for mention in document.mentions:
            if mention.gold is not None:
                self.known[document.text[slice(*mention.spans[0])]] = mention.gold.ids[0]


def document(key: str, **decisions: str) -> SnapshotDocument:
    """One mention of one letter for each decision."""
    mentions = tuple(
        SnapshotMention(f"{key}.{at}", ((at, at + 1),), (), Gold((entity,)))
        for at, entity in enumerate(decisions.values())
    )
    return SnapshotDocument(key, Split.TRAIN, "".join(decisions), mentions)


def test_a_document_is_linked_before_its_own_decisions_are_learnt() -> None:
    parrot = Parrot()
    documents = [document("1", a="A", b="B"), document("2", a="A", c="C"), document("3", b="B", c="C")]
    found = list(simulate(documents, parrot, lambda one: one, k=5))
    assert [[one.one_key for one in each] for each in found] == [[False, False], [True, False], [True, True]]
    assert parrot.steps == ["link 1 5", "learn 1", "link 2 5", "learn 2", "link 3 5", "learn 3"]


def test_the_limit_counts_decisions() -> None:
    parrot = Parrot()
    documents = [document(str(n), a="A", b="B") for n in range(4)]
    assert [len(each) for each in simulate(documents, parrot, lambda one: one, limit=3)] == [2, 1]
    assert parrot.steps[-1] == "learn 1"
    assert list(simulate(documents, parrot, lambda one: one, limit=0)) == []


def test_curves_are_counted_in_stretches() -> None:
    better = [SimulatedDecision(False, False, n >= 60, n >= 60, n >= 30) for n in range(120)]
    found = curves_of([better[:70], better[70:]], remembers=True, starts={"train": 0, "test": 70})
    assert [(one.end, one.decisions) for one in found.stretches] == [(50, 50), (120, 70)], "the rest joins the last"
    assert [one.more_keys for one in found.stretches] == [1.0, pytest.approx(10 / 70)]
    assert [one.more_than_digit for one in found.stretches] == [0.6, 0.0]
    assert found.every.recall_at_1 == 0.5
    assert found.every.nil_f1 is None
    assert (found.documents, found.decisions, found.last.decisions) == (2, 120, 120)
    assert json.loads(json.dumps(found.to_json()))["starts"] == {"train": 0, "test": 70}


def test_the_last_two_thousand_stand_apart() -> None:
    found = curves_of([[SimulatedDecision(False, False, True, n >= 1000, True) for n in range(3000)]], remembers=False)
    assert (found.every.more_keys, found.last.more_keys) == (pytest.approx(1 / 3), 0.0)
    assert (found.last.decisions, found.last.end, len(found.stretches)) == (2000, 3000, 40)


def test_nil_f1_of_a_stretch() -> None:
    kinds = [(True, True), (True, False), (False, True), (False, False), (True, True)]
    found = curves_of([[SimulatedDecision(nil, flag, False, False, False) for nil, flag in kinds]], remembers=False)
    assert found.every.nil_f1 == pytest.approx(2 * 2 / (3 + 3))


def test_nothing_was_decided() -> None:
    found = curves_of([], remembers=False)
    assert (found.stretches, found.every.recall_at_1, found.every.more_keys) == ((), None, 0.0)
