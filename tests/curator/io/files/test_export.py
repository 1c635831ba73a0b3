"""What every writer shares."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace

import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import SourceDocument, SourceFile, SourceMention, Span
from curator.io.files.export import Action, action_for, export_name, target_paths, unique
from curator.io.files.report import Report


def file(name: str, form: str = "pubtator") -> SourceFile:
    return SourceFile(1, f"/somewhere/{name}", name, form, "0")


def test_names() -> None:
    assert unique(["a.b.txt", "a.b.txt", "c", "c", "c"]) == ["a.b.txt", "a-2.b.txt", "c", "c-2", "c-3"]
    assert export_name(file("x.txt.gz"), format_name="pubtator", suffix=".p") == "x.txt"
    assert export_name(file("x.xml.GZ", "pubmed-xml"), format_name="pubtator", suffix=".p") == "x.p"


def test_targets(tmp_path: Path) -> None:
    out = tmp_path / "out"
    options = {"format_name": "pubtator", "suffix": ".p"}
    assert target_paths(out, [file("a")], **options) == [out]
    assert not out.exists()
    assert target_paths(out, [file("a"), file("a")], **options) == [out / "a", out / "a-2"]
    assert not out.exists()
    out.mkdir()
    assert target_paths(out, [file("a")], **options) == [out / "a"]


@pytest.mark.parametrize(
    ("verdict", "from_source", "own"),
    [
        (Verdict.link("A"), Action.WRITE, Action.WRITE),
        (Verdict.nil(), Action.WRITE, Action.WRITE),
        (Verdict.reject(), Action.DROP, Action.DROP),
        (Verdict.skip(), Action.KEEP, Action.DROP),
    ],
)
def test_what_becomes_of_a_decision(make: SimpleNamespace, verdict: Verdict, from_source: Action, own: Action) -> None:
    mention = SourceMention((Span(0, 1),), "a", "X", record=2)
    source = SourceDocument("1", "a", "a b", (), (mention,))
    item = make.export(source, verdicts={0: verdict}, added=[(Span(2, 3), "X", verdict)])
    problems = Report()
    assert [action_for(gold, "1", problems) for gold in item.mentions] == [from_source, own]
    assert len(problems) == [from_source, own].count(Action.DROP)
