import json

import pytest

from models.types import LinkedMention, NilEstimate, ScoredCandidate
from training.data.gold import GoldSet, fold, resolve_gold
from training.data.snapshot import Gold, SnapshotDocument, SnapshotMention, Split
from training.evaluation.flips import FlipKind, flips
from training.evaluation.report import evaluate

ALIASES = {"A": "A", "B": "B", "C": "C", "old-A": "A"}


def answer(key: str, *ids: str, nil: float = 0.1, is_nil: bool = False) -> LinkedMention:
    candidates = tuple(ScoredCandidate(i, i, (), i, -float(rank)) for rank, i in enumerate(ids))
    return LinkedMention(key, "s", "s", candidates, NilEstimate(nil, is_nil, calibrated=False))


def gold_of(*golds: tuple[str, ...] | None) -> GoldSet:
    """Mentions m0, m1, … over the text "aaa bbb ccc …"; () is NIL, None is undecided."""
    mentions = []
    for number, ids in enumerate(golds):
        decision = None if ids is None else Gold(ids=ids, nil=not ids)
        kinds = ("Disease",) if number % 2 == 0 else ()
        mentions.append(SnapshotMention(f"m{number}", ((4 * number, 4 * number + 3),), kinds, decision))
    text = " ".join(chr(ord("a") + number) * 3 for number in range(len(golds)))
    return resolve_gold([SnapshotDocument("d", Split.VALIDATION, text, tuple(mentions))], ALIASES.get)


def test_nil_only_if_no_id_resolves_and_ids_are_counted() -> None:
    gold = gold_of(("old-A",), ("X",), ("X", "B"), (), None, ("A", "old-A"))
    assert [mention.ids for mention in gold.mentions] == [("A",), (), ("B",), (), ("A",)]
    assert (gold.alternate_ids, gold.unknown_ids) == (2, 2)
    assert [mention.key for mention in gold.linked] == ["m0", "m2", "m5"]
    assert fold(" Breast  Cancer") == "breast cancer"


@pytest.mark.parametrize(
    ("ids", "stated", "counts"),
    [
        (("X:A",), "A", (0, 0)),
        (("X:A",), "X:A", (0, 0)),
        (("X:A",), "old-A", (1, 0)),
        (("X:A", "X:B"), "A|old-B", (1, 0)),
        (("X:A",), "A|gone", (0, 1)),
        ((), "gone", (0, 1)),
        ((), "-1", (0, 0)),
        (("X:A",), "", (0, 0)),
    ],
)
def test_what_an_import_mapped_is_counted_from_what_the_file_stated(
    ids: tuple[str, ...], stated: str, counts: tuple[int, int]
) -> None:
    mention = SnapshotMention("m", ((0, 1),), (), Gold(ids, nil=not ids), (), stated)
    gold = resolve_gold([SnapshotDocument("d", Split.TEST, "a", (mention,))], lambda one: one)
    assert (gold.alternate_ids, gold.unknown_ids) == counts


def test_recall_counts_ranks_misses_and_unanswered() -> None:
    gold = gold_of(("A",), ("B",), ("C",), ("A",))
    report = evaluate([answer("m0", "A"), answer("m1", "A", "C", "B"), answer("m2", "A", "B")], gold, k=4)
    assert report.recall == {1: 0.25, 2: 0.25, 4: 0.5}
    assert (report.mentions, report.in_kb, report.unanswered) == (4, 4, 1)
    assert (report.recall_at_1, report.recall_at_k, report.accuracy) == (0.25, 0.5, 0.25)


def test_composites_by_any_and_all_match() -> None:
    gold = gold_of(("A", "B"), ("A", "B"), ("C",))
    report = evaluate([answer("m0", "A", "B"), answer("m1", "A", "C", "B"), answer("m2", "C")], gold, k=4)
    assert report.recall[1] == 1.0
    assert report.recall_all == {1: pytest.approx(2 / 3), 2: pytest.approx(2 / 3), 4: 1.0}
    assert report.composites == 2
    assert report.slices["composite"].mentions == 2
    assert report.slices["single"].recall_at_1 == 1.0


def test_nil_figures() -> None:
    gold = gold_of((), (), ("A",), ("B",))
    linked = [
        answer("m0", "A", nil=0.9, is_nil=True),
        answer("m1", "A", nil=0.4),
        answer("m2", "A", nil=0.6, is_nil=True),
        answer("m3", "B", nil=0.1),
    ]
    report = evaluate(linked, gold)
    assert (report.nil.precision, report.nil.recall, report.nil.f1) == (0.5, 0.5, 0.5)
    assert report.nil.au_pr == pytest.approx(0.5 * 1 + 0.5 * 2 / 3)
    assert report.recall_at_1 == 1.0
    assert report.accuracy == 0.5


def test_undefined_figures_are_none() -> None:
    nothing = evaluate([], gold_of(None))
    assert (nothing.mentions, nothing.accuracy, nothing.nil.au_pr, nothing.recall_at_1) == (0, None, None, 0.0)
    linked_only = evaluate([answer("m0", "A")], gold_of(("A",))).nil
    assert (linked_only.precision, linked_only.recall, linked_only.f1, linked_only.au_pr) == (None, None, None, None)


def test_slices_by_surface_and_type() -> None:
    gold = gold_of(("A",), ("B",), ("C",))
    linked = [answer("m0", "A"), answer("m1", "A"), answer("m2", "C")]
    slices = evaluate(linked, gold, seen={"aaa": frozenset({"another"}), "bbb": frozenset({"d"})}).slices
    assert slices["seen surface"].recall_at_1 == 1.0
    assert slices["unseen surface"].recall_at_1 == 0.5
    assert slices["type: Disease"].mentions == 2
    assert slices["type: any"].recall_at_1 == 0.0


def test_report_is_json() -> None:
    raw = json.loads(json.dumps(evaluate([answer("m0", "A")], gold_of(("A",)), k=2).to_json()))
    assert raw["recall"] == {"1": 1.0, "2": 1.0}
    assert raw["nil"]["au_pr"] is None


def test_flips_both_ways() -> None:
    gold = gold_of(("A",), ("B",), (), ("C",))
    old = [answer("m0", "A"), answer("m1", "A"), answer("m2", "A", is_nil=True), answer("m3", "C")]
    new = [answer("m0", "B"), answer("m1", "B"), answer("m2", "A"), answer("m3", "C", is_nil=True)]
    found = flips(old, new, gold)
    assert [(flip.mention, flip.old, flip.new, flip.direction) for flip in found] == [
        ("m0", "A", "B", FlipKind.RIGHT_TO_WRONG),
        ("m1", "A", "B", FlipKind.WRONG_TO_RIGHT),
        ("m2", "NIL", "A", FlipKind.RIGHT_TO_WRONG),
        ("m3", "C", "NIL", FlipKind.RIGHT_TO_WRONG),
    ]
    assert [flip.mention for flip in flips(old, new, gold, flags=False)] == ["m0", "m1"]
