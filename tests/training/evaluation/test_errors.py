"""Every wrong answer has one kind, and what the list of errors shows of it."""

from __future__ import annotations

import json
from collections.abc import Mapping

from models.core.kb import order_entities
from models.types import EntityRecord, LinkedMention
from tests.training.evaluation.worlds import answer
from training.data.gold import GoldSet, resolve_gold
from training.data.snapshot import Gold, SnapshotDocument, SnapshotMention, Split
from training.evaluation.errors import AROUND, ErrorKind, LinkingError, Relation, errors_json, linking_errors
from training.evaluation.report import evaluate
from training.evaluation.slices import SliceFacts, slice_facts

KB = order_entities(
    EntityRecord(id_, name, types=("Disease",), parents=parents)
    for id_, name, parents in (
        ("R", "disease", ()),
        ("A", "fever", ("R",)),
        ("B", "cough", ("R",)),
        ("A1", "high fever", ("A",)),
        ("B1", "dry cough", ("B",)),
    )
)
TEXT = "Long before it all, " + "x" * AROUND + "\nfever stays here.\n" + "y" * AROUND


def document(*decided: tuple[str, tuple[str, ...], str]) -> SnapshotDocument:
    start = TEXT.index("fever")
    mentions = tuple(
        SnapshotMention(key, ((start, start + 5),), ("Disease",), Gold(ids, nil=not ids), stated=stated)
        for key, ids, stated in decided
    )
    return SnapshotDocument("7", Split.TEST, TEXT, mentions, "PMID 7")


def errors(
    decided: tuple[str, tuple[str, ...], str], *answers: LinkedMention, seen: Mapping[str, frozenset[str]] | None = None
) -> list[LinkingError]:
    one = document(decided)
    gold = resolve_gold([one], KB.resolved.get)
    return linking_errors(answers, gold, [one], KB, SliceFacts(surfaces=seen))


def test_each_wrong_answer_has_its_kind() -> None:
    cases = {
        ErrorKind.RANKED_LOWER: errors(("m", ("A",), ""), answer("m", "B1", "A")),
        ErrorKind.NOT_RETRIEVED: errors(("m", ("A",), ""), answer("m", "B1", "B")),
        ErrorKind.NIL_LINK: errors(("m", ("A",), ""), answer("m", "A", "B", nil=0.9, is_nil=True)),
        ErrorKind.LINKED_NIL: errors(("m", (), "-1"), answer("m", "B")),
        ErrorKind.GOLD_NOT_IN_KB: errors(("m", (), "OMIM:1"), answer("m", "B")),
        ErrorKind.NO_ANSWER: errors(("m", ("A",), "")),
    }
    for kind, found in cases.items():
        assert [one.kind for one in found] == [kind]
    assert [one.kind for one in errors(("m", ("GONE",), ""), answer("m", "B"))] == [ErrorKind.GOLD_NOT_IN_KB]
    assert errors(("m", ("A",), ""), answer("m", "A", "B")) == []
    assert errors(("m", (), "OMIM:1"), answer("m", "B", nil=0.9, is_nil=True)) == [], "NIL is the right answer"


def test_an_error_says_where_what_and_how_certain() -> None:
    [found] = errors(("m", ("A",), ""), answer("m", "B1", "R", "A", sure=0.75), seen={"fever": frozenset({"another"})})
    assert (found.document, found.document_name, found.mention, found.text) == ("7", "PMID 7", "m", "fever")
    assert found.before.endswith("x ")
    assert found.after.startswith(" stays here. y")
    assert len(found.after) <= AROUND
    assert (found.gold, found.answer, found.probability) == (("A",), "B1", 0.75)
    assert (found.rank, found.gold_probability, found.gold_score) == (3, 0.25, -2.0)
    assert found.seen is True
    [nil] = errors(("m", ("A",), ""), answer("m", "B", "A", nil=0.875, is_nil=True))
    assert (nil.answer, nil.probability, nil.rank, nil.seen) == ("", 0.875, 2, None)
    [outside] = errors(("m", (), "OMIM:1|OMIM:2"), answer("m", "B"))
    assert (outside.gold, outside.rank, outside.gold_score) == (("OMIM:1", "OMIM:2"), None, None)


def test_an_error_says_how_the_words_resemble_the_gold_names() -> None:
    def words(gold: tuple[str, ...]) -> str | None:
        one = document(("m", gold, ""))
        facts = slice_facts([one], KB)
        [found] = linking_errors([answer("m", "R")], resolve_gold([one], KB.resolved.get), [one], KB, facts)
        return found.name_class

    assert words(("A",)) == "same_name"
    assert words(("A1",)) == "part_of_a_name"
    assert words(("A1", "A")) == "same_name", "the easiest of several"
    assert words(("B1",)) == "other_words"
    assert words(()) is None


def test_the_hierarchy_says_how_near_the_answer_is() -> None:
    def relation(gold: str, first: str) -> Relation | None:
        [found] = errors(("m", (gold,), ""), answer("m", first))
        return found.relation

    assert relation("A1", "A") is Relation.PARENT
    assert relation("A", "A1") is Relation.CHILD
    assert relation("A", "B") is Relation.SIBLING
    assert relation("A1", "B1") is None
    assert relation("A1", "R") is None, "two steps up"


def test_the_list_is_compact_and_counts_what_the_report_counts() -> None:
    one = document(("m1", ("A",), ""), ("m2", ("B",), ""), ("m3", (), "-1"))
    gold: GoldSet = resolve_gold([one], KB.resolved.get)
    answers = [answer("m1", "A"), answer("m2", "A", "B"), answer("m3", "B1")]
    found = linking_errors(answers, gold, [one], KB, SliceFacts())
    written = json.loads(json.dumps(errors_json(found, KB)))
    assert len(written["rows"]) == round(3 * (1 - (evaluate(answers, gold).accuracy or 0)))
    assert written["kinds"] == {"ranked_lower": 1, "linked_nil": 1}
    assert written["names"] == {"A": "fever", "B": "cough", "B1": "dry cough"}
    row = dict(zip(written["fields"], written["rows"][0], strict=True))
    assert row["name_class"] is None, "the names are not known"
    assert (row["kind"], row["relation"], row["mention"], row["gold"]) == ("ranked_lower", "sibling", "m2", ["B"])
