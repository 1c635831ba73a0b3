"""Evaluations are kept with their errors, found again, and their errors are filtered and written as a file."""

from __future__ import annotations

import csv
import gzip
import json
from collections import Counter
from pathlib import Path

import pytest

from curator.domain.decisions import Verdict
from curator.domain.same_string import NameClass
from curator.domain.wording import UserError
from curator.services.records.stored_evaluations import (
    ErrorFilter,
    ErrorKind,
    Relation,
    StoredEvaluations,
    errors_file,
    errors_of,
    kind_lines,
)
from tests.curator.services.fakes import World
from tests.curator.services.samples import error_row, evaluation_result
from tests.failing_reads import fail_reads

ROWS = (
    error_row(mention="1", probability=0.25, relation="parent"),
    error_row(
        mention="2",
        kind="nil_link",
        answer="",
        probability=0.5,
        seen=False,
        types=["Disease", "Chemical"],
        name_class="other_words",
    ),
    error_row(
        mention="3",
        kind="linked_nil",
        gold=[],
        rank=None,
        gold_probability=None,
        gold_score=None,
        seen=False,
        name_class=None,
    ),
    error_row(mention="4", kind="ranked_lower", relation="sibling", probability=0.9, text="a\tb\nc"),
)


@pytest.fixture
def kept(filled: World) -> StoredEvaluations:
    return filled.project.evaluations


def test_an_evaluation_is_found_again_with_its_errors_and_its_report(kept: StoredEvaluations) -> None:
    assert kept.all() == []
    with pytest.raises(UserError, match="No evaluation is stored yet"):
        kept.find()
    id_ = kept.keep(evaluation_result(*ROWS))
    [one] = kept.all()
    assert (one.id, one.split, one.bundle, one.mentions, one.errors) == (id_, "validation", "b1", 9, 4)
    assert kept.find() == kept.find(id_) == one
    assert kept.result(id_)["html"] == "<p>α</p>"
    assert [row.mention_id for row in kept.errors(id_).rows] == [4, 3, 2, 1], "the confident errors first"
    with pytest.raises(UserError, match=f"nope was not found. Stored evaluations: {id_}"):
        kept.find("nope")


def test_of_every_split_the_newest_is_listed(kept: StoredEvaluations) -> None:
    kept.keep(evaluation_result(*ROWS, split="test") | {"made": "2025-01-01T00:00:00+00:00"})
    kept.keep(evaluation_result(ROWS[0], split="test"))
    kept.keep(evaluation_result(ROWS[1], split="train"))
    assert len(kept.all()) == 3
    found = kept.errors_of_splits()
    assert {(row.split, row.mention_id) for row in found.rows} == {("test", 1), ("train", 2)}
    assert [row.mention_id for row in found.chosen(ErrorFilter(split="train")).rows] == [2]


def test_what_an_older_version_stored_and_what_is_broken(kept: StoredEvaluations, filled: World) -> None:
    old = evaluation_result()
    del old["errors"]
    id_ = kept.keep(old)
    assert kept.find(id_).errors is None
    assert kept.errors(id_).rows == ()
    newer = evaluation_result(*ROWS, error_row(kind="a kind of tomorrow"))
    newer["errors"]["fields"].append("a field of tomorrow")
    assert len(errors_of(newer).rows) == 4
    folder = filled.project.folder / "evaluations"
    (folder / "broken.json.gz").write_bytes(b"no gzip")
    assert len(kept.all()) == 1
    head = {"id": "cut", "made": "2026-01-02T03:04:05+00:00", "split": "test", "bundle": "b", "mentions": 1}
    (folder / "cut.json.gz").write_bytes(gzip.compress(json.dumps(head).encode() + b"\n"))
    with pytest.raises(UserError, match="Delete the file and evaluate again"):
        kept.errors("cut")


def test_a_failed_read_neither_hides_the_newest_nor_asks_to_delete_it(
    kept: StoredEvaluations, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept.keep(evaluation_result())
    kept.keep(evaluation_result(*ROWS))
    newest = kept.find()
    name = f"{newest.id}.json.gz"
    fail_reads(monkeypatch, name)
    assert kept.find() == newest
    monkeypatch.setattr(kept, "find", lambda _: newest)
    fail_reads(monkeypatch, name)
    with pytest.raises(UserError, match=f"cannot read .*{name}: Input/output error$"):
        kept.result(newest.id)


def test_a_decision_that_changed_since_is_marked(kept: StoredEvaluations, filled: World) -> None:
    one, two, three, four = filled.mentions(1)
    curation = filled.project.curation
    curation.decide(one, Verdict.link("MESH:D008012"))
    curation.decide(two, Verdict.link("MESH:D006323"))
    curation.decide(three, Verdict.nil())
    id_ = kept.keep(evaluation_result(*ROWS))
    assert (one, two, three, four) == (1, 2, 3, 4)
    assert kept.errors(id_).changed == {2, 4}, "one is undecided now, one is linked elsewhere"


def test_filters_and_the_table_of_kinds() -> None:
    found = errors_of(evaluation_result(*ROWS))
    assert [one.mention_id for one in found.chosen(ErrorFilter(kind=ErrorKind.RANKED_LOWER)).rows] == [4, 1]
    assert [one.mention_id for one in found.chosen(ErrorFilter(relation=Relation.PARENT)).rows] == [1]
    assert [one.mention_id for one in found.chosen(ErrorFilter(type="Disease | Chemical", seen=False)).rows] == [2]
    assert [one.mention_id for one in found.chosen(ErrorFilter(name_class=NameClass.SAME)).rows] == [4, 1]
    assert found.counts()[ErrorKind.RANKED_LOWER] == Counter({Relation.PARENT: 1, Relation.SIBLING: 1})
    assert [" ".join(line.split()) for line in kind_lines(found, mentions=40)] == [
        "Errors: 4 of 40 mentions",
        "gold ranked lower 2 50.0 % parent of gold 1, sibling of gold 1",
        "NIL, gold is a link 1 25.0 %",
        "linked, gold is NIL 1 25.0 %",
        "words of the mention: same name 2, other words 1",
        "strings not seen in training: 2",
    ]


def test_an_older_evaluation_has_no_classes() -> None:
    result = evaluation_result(*ROWS)
    result["errors"]["fields"].remove("name_class")
    result["errors"]["rows"] = [row[:-1] for row in result["errors"]["rows"]]
    found = errors_of(result)
    assert [one.name_class for one in found.rows] == [None] * 4
    assert not any("words of the mention" in line for line in kind_lines(found, mentions=40))


def test_the_list_as_a_file(kept: StoredEvaluations, tmp_path: Path) -> None:
    found = errors_of(evaluation_result(*ROWS))
    kept.write(found, tmp_path / "errors.tsv")
    with (tmp_path / "errors.tsv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    assert [(row["mention"], row["gold_rank"], row["seen_in_training"]) for row in rows[:2]] == [
        ("a b c", "2", "yes"),
        ("lidocaine", "", "no"),
    ]
    assert (rows[1]["gold"], rows[1]["gold_name"], rows[1]["answer_name"]) == ("NIL", "", "Heart Arrest")
    assert (rows[2]["answer"], rows[2]["answer_name"], rows[2]["type"]) == ("NIL", "", "Disease|Chemical")
    plain = json.loads(errors_file(found, "errors.JSON"))
    assert plain[0]["probability"] == 0.9
    assert [one["words"] for one in plain] == ["same_name", None, "other_words", "same_name"]
    assert plain[1]["gold_rank"] is None
    with pytest.raises(UserError, match=r"must end in \.tsv or \.json"):
        kept.write(found, tmp_path / "errors.csv")
