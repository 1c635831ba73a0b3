"""ZESHEL read and written: token indices, long documents, byte-identical files, new and changed mentions."""

from __future__ import annotations

import dataclasses
import json
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from curator.domain.decisions import Verdict
from curator.domain.documents import SourceDocument, Span, slice_spans
from curator.domain.wording import UserError
from curator.io.files.json_stream import parse_object
from curator.io.literature.pubtator import PubTatorFormat
from curator.io.wiki.zeshel import ZeshelFormat
from curator.services.ports.files import DocumentReader

Put = Callable[..., Path]


def document(number: int, title: str, body: str) -> dict[str, Any]:
    return {"title": title, "text": f"{title} {body}", "document_id": f"{number:016X}"}


def mention(number: int, text: str, start: int, end: int, **changes: Any) -> dict[str, Any]:
    value = {
        "category": "LOW_OVERLAP",
        "text": text,
        "end_index": end,
        "context_document_id": f"{1:016X}",
        "label_document_id": f"{2:016X}",
        "mention_id": f"{number:016X}",
        "corpus": "lego",
        "start_index": start,
    }
    return value | changes


DOCUMENTS = [
    document(1, "Red Castle", "The \U0001f600 red  castle was built by Ann , Queen of Bricks ."),
    document(2, "Ann ( queen )", "Ann was a queen ."),
    document(3, "Ann", "Ann was a knight ."),
]


def lines(values: Sequence[dict[str, Any]], end: str = "\n") -> str:
    return "".join(json.dumps(value) + end for value in values)


def corpus(put: Put, mentions: str, documents: str | None = None) -> Path:
    put(lines(DOCUMENTS) if documents is None else documents, "documents/lego.json")
    return put(mentions, "mentions/train.json")


def read(path: Path) -> tuple[list[SourceDocument], DocumentReader]:
    reader = ZeshelFormat().open(path)
    found = list(reader)
    for each in found:
        for m in each.mentions:
            assert slice_spans(each.text, m.spans) == m.text
    return found, reader


def export(
    make: SimpleNamespace, path: Path, out: Path, order: dict[int, dict[str, Any]] | None = None
) -> tuple[str, ZeshelFormat]:
    """Export with changes by index of the document; the text of the mentions file."""
    found, reader = read(path)
    form = ZeshelFormat()
    items = [make.export(each, **(order or {}).get(i, {})) for i, each in enumerate(found)]
    form.write([(make.file(path, reader), items)], out)
    return (out / "mentions" / path.name).read_bytes().decode(), form


def test_token_indices_become_code_points(put: Put) -> None:
    (found,), reader = read(corpus(put, lines([mention(1, "red castle", 4, 5), mention(2, "Ann , Queen", 9, 11)])))
    assert found.external_id == f"{1:016X}"
    assert [(m.text, m.type, m.ids, m.record) for m in found.mentions] == [
        ("red  castle", "lego", (f"{2:016X}",), 0),
        ("Ann , Queen", "lego", (f"{2:016X}",), 1),
    ]
    assert [(p.kind, found.text[p.start : p.end][:10]) for p in found.passages] == [
        ("title", "Red Castle"),
        ("section", "The \U0001f600 red "),
    ]
    assert reader.problems == []
    assert reader.position[0] == reader.position[1]


@pytest.mark.parametrize(
    ("text", "start", "end", "says"),
    [
        ("red castle", 4, 6, "end is exclusive"),
        ("red castle", 5, 6, "one too large"),
        ("red castle", 3, 4, "one too small"),
        ("red castle", 2, 3, "do not count the title"),
        ("red castle", 17, 28, "count characters"),
        ("RED CASTLE", 4, 5, "case or spaces"),
        ("Queen of Bricks", 90, 92, "occurs only once"),
    ],
)
def test_other_conventions_are_found_and_named(put: Put, text: str, start: int, end: int, says: str) -> None:
    (found,), reader = read(corpus(put, lines([mention(1, text, start, end)])))
    assert found.mentions[0].text.split()[0].lower() == text.split()[0].lower()
    assert [(p.line, p.severity) for p in reader.problems] == [(1, "repaired")]
    assert says in reader.problems[0].text


def test_unusable_mentions_are_set_aside_with_their_line(put: Put) -> None:
    text = (
        lines([mention(1, "red castle", 4, 5), mention(2, "blue castle", 4, 5)])
        + "{broken\n[1]\n\n"
        + lines(
            [
                mention(3, "x", 0, 0, context_document_id="F" * 16),
                mention(4, "x", 0, 0, corpus="../../etc/passwd"),
                mention(5, "x", "0", 0),  # type: ignore[arg-type]
                mention(6, "x", 0, 0, label_document_id=7),
            ]
        )
    )
    (found,), reader = read(corpus(put, text))
    assert [m.text for m in found.mentions] == ["red  castle"]
    assert sorted((p.line, p.severity) for p in reader.problems) == [(n, "set aside") for n in (2, 3, 4, 6, 7, 8, 9)]


def test_a_missing_label_is_nil(put: Put) -> None:
    (found,), _ = read(corpus(put, lines([mention(1, "Ann", 9, 9, label_document_id=None)])))
    assert (found.mentions[0].nil, found.mentions[0].ids) == (True, ())


def test_lone_surrogates_are_replaced_and_said(put: Put) -> None:
    odd = lines([{"title": "A", "text": "A \ud800 b", "document_id": f"{1:016X}"}])
    (found,), reader = read(corpus(put, lines([mention(1, "b", 2, 2)]), odd))
    assert found.text == "A \ufffd b"
    assert [p.severity for p in reader.problems] == ["repaired"]
    assert found.raw == odd


def test_missing_documents_name_the_path_looked_for(put: Put) -> None:
    path = put(lines([mention(1, "a", 0, 0)]), "mentions/x.json")
    with pytest.raises(UserError, match=r"'lego'.*documents/lego\.json does not exist"):
        ZeshelFormat().open(path)


def test_documents_that_hold_none_of_the_contexts(put: Put) -> None:
    path = corpus(put, lines([mention(1, "a", 0, 0, context_document_id="F" * 16)]))
    with pytest.raises(UserError, match="none of its context documents"):
        list(ZeshelFormat().open(path))


def test_a_documents_file_on_its_own(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    text = "\n" + lines(DOCUMENTS) + "\n{broken\n" + lines(DOCUMENTS[:1])
    path = put(text, "documents/lego.json")
    found, reader = read(path)
    assert [d.title for d in found] == ["Red Castle", "Ann ( queen )", "Ann", "Red Castle"]
    assert [p.line for p in reader.problems] == [6]
    form = ZeshelFormat()
    outs = form.write([(make.file(path, reader), [make.export(d) for d in found])], tmp_path / "out")
    assert [p.relative_to(tmp_path / "out").as_posix() for p in outs] == ["documents/lego.json"]
    assert outs[0].read_bytes().decode() == text


@pytest.mark.parametrize("ending", ["\n", "\r\n"])
@pytest.mark.parametrize("cut", [0, 1])
def test_unchanged_files_are_written_back_byte_for_byte(
    make: SimpleNamespace, put: Put, tmp_path: Path, ending: str, cut: int
) -> None:
    text = lines([mention(2, "Ann", 9, 9), mention(1, "red castle", 4, 5), mention(3, "no", 0, 0)], ending)
    text = text[: len(text) - cut * len(ending)] if cut else text + "{broken" + ending
    path = corpus(put, text)
    assert export(make, path, tmp_path / "out")[0] == text
    kept = (tmp_path / "out/documents/lego.json").read_bytes()
    assert kept == lines(DOCUMENTS[:1]).encode()


def test_blank_lines_are_kept_and_not_parsed(
    make: SimpleNamespace, put: Put, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = lines([mention(1, "red castle", 4, 5)]) + "\n" * 50
    parsed: list[str] = []

    def parse(line: str) -> Any:
        parsed.append(line)
        return parse_object(line)

    monkeypatch.setattr("curator.io.wiki.zeshel.parse_object", parse)
    assert export(make, corpus(put, text), tmp_path / "out")[0] == text
    assert parsed
    assert all(parsed)


def test_a_changed_label_and_its_category(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    path = corpus(put, lines([mention(1, "Ann", 9, 9), mention(2, "red castle", 4, 5)]))
    text, _ = export(make, path, tmp_path / "out", {0: {"verdicts": {0: Verdict.link(f"{3:016X}")}}})
    changed = mention(1, "Ann", 9, 9, label_document_id=f"{3:016X}", category="HIGH_OVERLAP")
    assert text == lines([changed, mention(2, "red castle", 4, 5)])


def test_nil_and_composite_links_are_noted(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    path = corpus(put, lines([mention(1, "Ann", 9, 9), mention(2, "red castle", 4, 5)]))
    verdicts = {0: Verdict.nil(), 1: Verdict.link("A", "B")}
    text, form = export(make, path, tmp_path / "out", {0: {"verdicts": verdicts}})
    assert [json.loads(line)["label_document_id"] for line in text.splitlines()] == ["", "A"]
    assert [p.severity for p in form.problems] == ["set aside", "note"]
    (found,), _ = read(tmp_path / "out/mentions/train.json")
    assert [m.nil for m in found.mentions] == [True, False]


def test_removed_and_rejected_mentions_lose_their_lines(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    values = [mention(1, "Ann", 9, 9), mention(2, "red castle", 4, 5), mention(3, "Queen", 11, 11)]
    change = {0: {"removed": [0], "verdicts": {1: Verdict.reject()}}}
    text, form = export(make, corpus(put, lines(values)), tmp_path / "out", change)
    assert text == lines(values[2:])
    assert "rejected" in form.problems[0].text


def test_new_mentions_are_appended_with_ids_of_their_own(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    path = corpus(put, lines([mention(1, "red castle", 4, 5)])[:-1])
    (found,), _ = read(path)
    at = found.text.index("Queen")
    added = [
        (Span(at, at + 3), "lego", Verdict.link(f"{2:016X}")),
        (Span(at - 6, at - 3), "lego", Verdict.link(f"{2:016X}")),
        (Span(0, 3), "lego", None),
        ((Span(0, 3), Span(at, at + 5)), "lego", Verdict.nil()),
    ]
    text, form = export(make, path, tmp_path / "out", {0: {"added": added}})
    first, ann, queen = (json.loads(line) for line in text.split("\n"))
    assert first == mention(1, "red castle", 4, 5)
    assert (ann["text"], ann["start_index"], ann["end_index"]) == ("Ann", 9, 9)
    assert ann["category"] == "MULTIPLE_CATEGORIES"
    assert (queen["text"], queen["category"]) == ("Queen", "AMBIGUOUS_SUBSTRING")
    assert list(ann) == list(first)
    assert len({first["mention_id"], ann["mention_id"], queen["mention_id"]}) == 3
    assert len(ann["mention_id"]) == 16
    assert sorted(p.severity for p in form.problems) == ["note", "repaired", "set aside"]


def test_documents_left_out_take_their_mentions_along(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    values = [mention(1, "red castle", 4, 5), mention(2, "queen", 8, 8, context_document_id=f"{2:016X}")]
    path = corpus(put, lines(values))
    found, reader = read(path)
    ZeshelFormat().write([(make.file(path, reader), [make.export(found[1])])], tmp_path / "out")
    assert (tmp_path / "out/mentions/train.json").read_text() == lines(values[1:])
    assert (tmp_path / "out/documents/lego.json").read_text() == lines(DOCUMENTS[1:2])


def test_files_that_share_documents_write_them_once(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    first = corpus(put, lines([mention(2, "queen", 8, 8, context_document_id=f"{2:016X}")]))
    second = put(
        lines([mention(1, "Ann", 9, 9), mention(3, "was", 5, 5, context_document_id=f"{2:016X}")]), "mentions/b.json"
    )
    files = []
    for path in (first, second):
        found, reader = read(path)
        files.append((make.file(path, reader), [make.export(d) for d in found]))
    ZeshelFormat().write(files, tmp_path / "out")
    assert (tmp_path / "out/documents/lego.json").read_text() == lines(DOCUMENTS[:2])


def test_pubtator_documents_become_a_world(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    record = "7|t|Ann is ill\n7|a|very ill\n7\t16\t19\till\tDisease\tMESH:D1\n\n"
    path = put(record + record, "ward 5.txt")
    reader = PubTatorFormat().open(path)
    verdicts = {0: Verdict.link("MESH:D1")}
    items = [make.export(d, verdicts=verdicts) for d in reader]
    form = ZeshelFormat()
    mentions, documents = form.write([(make.file(path, reader), items)], tmp_path / "out")
    assert documents.name == "ward_5.json"
    again, _ = read(mentions)
    assert [d.external_id for d in again] == ["7", "7-1"]
    assert [(m.text, m.ids) for d in again for m in d.mentions] == [("ill", ("MESH:D1",))] * 2
    assert [p.severity for p in form.problems] == ["repaired"]


WORD = st.text(st.characters(exclude_categories=("Cs", "Z", "Cc")), min_size=1, max_size=5)
GAP = st.sampled_from([" ", "  ", "\n", "\u2028", "\r\n", "\u0085"])


@st.composite
def worlds(draw: st.DrawFn) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    documents, mentions = [], []
    for number in range(draw(st.integers(1, 3))):
        words = draw(st.lists(WORD, min_size=1, max_size=12))
        text = words[0] + "".join(draw(GAP) + word for word in words[1:])
        tokens = text.split()
        title = draw(st.sampled_from(["", tokens[0], "Other"]))
        documents.append({"title": title, "text": text, "document_id": f"{number:016X}"})
        for _ in range(draw(st.integers(1, 3))):
            start = draw(st.integers(0, len(tokens) - 1))
            end = draw(st.integers(start, len(tokens) - 1))
            changes = {"context_document_id": f"{number:016X}"}
            mentions.append(mention(len(mentions), " ".join(tokens[start : end + 1]), start, end, **changes))
    return documents, draw(st.permutations(mentions))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(world=worlds(), ascii_only=st.booleans(), ending=st.sampled_from(["\n", "\r\n"]))
def test_what_is_read_is_what_was_written(
    make: SimpleNamespace, world: tuple[list[dict[str, Any]], list[dict[str, Any]]], ascii_only: bool, ending: str
) -> None:
    documents, mentions = ("".join(json.dumps(v, ensure_ascii=ascii_only) + ending for v in part) for part in world)
    with tempfile.TemporaryDirectory() as folder:
        for name in ("mentions", "documents"):
            (Path(folder) / name).mkdir()
        path = Path(folder) / "mentions/all.json"
        path.write_bytes(mentions.encode())
        (Path(folder) / "documents/lego.json").write_bytes(documents.encode())
        found, reader = read(path)
        assert reader.problems == []
        out = Path(folder) / "out"
        ZeshelFormat().write([(make.file(path, reader), [make.export(d) for d in found])], out)
        assert (out / "mentions/all.json").read_bytes() == mentions.encode()
        assert (out / "documents/lego.json").read_bytes() == documents.encode()
        items = [make.fresh(make.export(d), [m.ids for m in d.mentions]) for d in found]
        form = ZeshelFormat()
        form.write([(dataclasses.replace(make.file(path, reader), extra="", format="x"), items)], out)
        again, _ = read(out / "mentions/all.json")
    assert [[m.spans for m in d.mentions] for d in again] == [sorted(m.spans for m in d.mentions) for d in found]
    assert [d.text for d in again] == [d.text for d in found]


@pytest.mark.skipif(sys.platform == "win32", reason="makes links as POSIX systems do")
@pytest.mark.parametrize("place", ["documents", "mentions", "mentions/documents"])
@pytest.mark.parametrize("target", ["private", "c/own"])
def test_documents_of_mentions_lead_nowhere_else(put: Put, tmp_path: Path, place: str, target: str) -> None:
    private = put(lines(DOCUMENTS), f"{target}/lego.json")
    path = put(lines([mention(1, "Ann", 10, 10)]), "c/mentions/train.json")
    if place == "mentions":
        (tmp_path / "c/mentions/lego.json").symlink_to(private)
    else:
        (tmp_path / "c" / place).symlink_to(private.parent)
    if (place, target) == ("documents", "c/own"):
        assert len(list(ZeshelFormat().open(path))) == 1
        return
    with pytest.raises(UserError, match=r"lego\.json was not opened: it leads out of the folder"):
        ZeshelFormat().open(path)
