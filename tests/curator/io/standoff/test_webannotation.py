"""Web Annotations read and written: collections and pages, selectors of every kind, and where the texts come from."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import Span
from curator.domain.wording import UserError
from curator.io.registry import default_registry
from curator.io.standoff.webannotation import WebAnnotationFormat
from tests.curator.io.standoff_samples import plain, read, written

Put = Callable[..., Path]
CONTEXT = "http://www.w3.org/ns/anno.jsonld"
TEXT = "\U0001f600 renal failure after aspirin, and aspirin again"


def annotation(number: int, selector: object, body: object = None, **more: object) -> dict[str, Any]:
    target = {"source": "one.txt", "selector": selector}
    return {"@context": CONTEXT, "id": f"#{number}", "type": "Annotation", "body": body, "target": target, **more}


def position(start: int, end: int) -> dict[str, Any]:
    return {"type": "TextPositionSelector", "start": start, "end": end}


def quoted(exact: str, prefix: str = "", suffix: str = "") -> dict[str, Any]:
    return {"type": "TextQuoteSelector", "exact": exact, "prefix": prefix, "suffix": suffix}


TAG = {"type": "TextualBody", "purpose": "tagging", "value": "Disease"}
LINK = {"type": "SpecificResource", "purpose": "identifying", "source": "http://id.nlm.nih.gov/mesh/D051437"}
ANNOTATIONS = [
    annotation(1, position(2, 15), [TAG, LINK]),
    annotation(2, quoted("aspirin", prefix="after "), "http://purl.obolibrary.org/obo/CHEBI_15365"),
    annotation(3, [position(9, 16), quoted("failure")], [TAG]),
    annotation(
        4,
        {"type": "FragmentSelector", "value": "char=22,29"},
        [{"type": "TextualBody", "value": "hm"}],
        motivation="commenting",
    ),
    {"type": "Annotation", "body": [TAG], "target": "one.txt#char=2,7"},
    annotation(6, quoted("aspirin"), [TAG]),
    {"id": "#7", "type": "Annotation", "motivation": "replying", "bodyValue": "yes", "target": "#1"},
]


@pytest.fixture
def folder(put: Put, tmp_path: Path) -> Path:
    put(TEXT, "f/one.txt")
    pages = [
        {"@context": CONTEXT, "type": "AnnotationCollection", "label": "L", "first": "p1"},
        {"@context": CONTEXT, "id": "p1", "type": "AnnotationPage", "next": "p2", "items": ANNOTATIONS[:3]},
        {"@context": CONTEXT, "id": "p2", "type": "AnnotationPage", "items": ANNOTATIONS[3:]},
    ]
    for number, page in enumerate(pages):
        put(json.dumps(page), f"f/{number}.jsonld")
    return tmp_path / "f"


def test_selectors_and_bodies_of_every_kind(folder: Path) -> None:
    assert default_registry().recognise(folder).name == "webannotation"
    (found,), problems = read(WebAnnotationFormat(), folder)
    assert (found.external_id, found.text) == ("one", TEXT)
    assert [(m.text, m.spans[0].start, m.type, m.ids) for m in found.mentions] == [
        ("renal failure", 2, "Disease", ("MESH:D051437",)),
        ("aspirin", 22, "", ("CHEBI:15365",)),
        ("failure", 8, "Disease", ()),
        ("renal", 2, "Disease", ()),
    ]
    assert [one.partition(":")[0] for one in problems] == ["note", "repaired", "set aside"]
    assert "is ambiguous" in problems[2]


def test_a_page_that_is_missing_is_said(folder: Path) -> None:
    (folder / "2.jsonld").unlink()
    assert any("the page p2 was not found" in one for one in read(WebAnnotationFormat(), folder)[1])
    (found,), _ = read(WebAnnotationFormat(), folder / "1.jsonld")  # the text beside the file
    assert found.text == TEXT


def test_nothing_outside_is_read(put: Put, tmp_path: Path) -> None:
    put("secret", "secret.txt")
    target = {"source": "../secret.txt", "selector": position(0, 3)}
    path = put(json.dumps({"@context": CONTEXT, "type": "Annotation", "target": target}), "f/a.jsonld")
    with pytest.raises(UserError, match="texts of its annotations are missing"):
        list(WebAnnotationFormat().open(path))


def test_what_did_not_change_says_the_same_again(make: SimpleNamespace, folder: Path, tmp_path: Path) -> None:
    form = WebAnnotationFormat()
    (out,) = written(make, form, folder, tmp_path / "out.jsonld")
    value = json.loads(out.read_text())
    assert value["label"] == "L"
    assert sorted(value["first"]["items"], key=json.dumps) == sorted(ANNOTATIONS, key=json.dumps)
    assert plain(read(form, out)[0]) == plain(read(form, folder)[0])


def test_decisions_say_who_and_when_and_keep_other_bodies(make: SimpleNamespace, folder: Path, tmp_path: Path) -> None:
    form = WebAnnotationFormat()
    verdicts = {0: Verdict.link("MESH:D1", "no prefix"), 1: Verdict.nil()}
    added = [((Span(2, 7), Span(22, 29)), "X", Verdict.link("A:1"))]
    (out,) = written(make, form, folder, tmp_path / "out.jsonld", verdicts=verdicts, added=added, removed=[2])
    items = json.loads(out.read_text())["first"]["items"]
    assert "#3" not in [one.get("id") for one in items]
    first = next(one for one in items if one.get("id") == "#1")
    assert (first["creator"]["name"], first["created"][:4]) == ("a curator", "2026")
    (found,), _ = read(form, out)
    assert [(m.ids, m.nil) for m in found.mentions] == [
        (("MESH:D1", "no prefix"), False),
        ((), True),
        ((), False),
        (("A:1",), False),
    ]
    assert found.mentions[-1].text == "renal aspirin"


def test_lone_surrogates_harm_nothing(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    bad = json.dumps(
        {
            "@context": CONTEXT,
            "type": "Annotation",
            "target": {"source": {"id": "u:1", "value": "a\ud800b"}, "selector": position(0, 3)},
            "body": "x:\ud800",
            "note": "\ud800",
        }
    )
    form, other = (
        WebAnnotationFormat(),
        json.dumps({"type": "Annotation", "note": "\ud800", "target": "elsewhere#\ud800"}),
    )
    path = put(f"[{bad}, {other}]", "a.json")
    (found,), problems = read(form, path)
    assert (found.text, found.mentions[0].ids) == ("a\ufffdb", ("x:\ufffd",))
    (out,) = written(make, form, path, tmp_path / "o.jsonld", verdicts={0: Verdict.nil()})
    assert "\ufffd" in out.read_text(encoding="utf-8")
    assert "\n".join(problems).encode()


def test_broken_files_are_sentences(put: Put) -> None:
    with pytest.raises(UserError, match="broken JSON"):
        list(WebAnnotationFormat().open(put(f'[{{"@context": "{CONTEXT}", ')))


@pytest.mark.skipif(sys.platform == "win32", reason="makes links as POSIX systems do")
def test_a_text_beside_the_file_leads_nowhere_else(put: Put, tmp_path: Path) -> None:
    private = put("secret", "private.txt")
    target = {"source": "secret.txt", "selector": position(0, 3)}
    path = put(json.dumps({"@context": CONTEXT, "type": "Annotation", "target": target}), "f/a.jsonld")
    (tmp_path / "f/secret.txt").symlink_to(private)
    with pytest.raises(UserError, match=r"secret\.txt was not opened: it leads out of the folder"):
        list(WebAnnotationFormat().open(path))


def refined(outer: dict[str, Any], inner: object) -> dict[str, Any]:
    return {**outer, "refinedBy": inner}


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        (refined(quoted("renal failure"), position(6, 13)), "failure"),
        (refined(position(7, 30), position(1, 8)), "failure"),
        (refined(position(30, 49), quoted("aspirin")), "aspirin"),
        (refined(refined(position(2, 29), position(6, 27)), quoted("aspirin")), "aspirin"),
        (refined({"type": "FragmentSelector", "value": "char=2,15"}, {**quoted("failure")}), "failure"),
        ([refined({"type": "XPathSelector", "value": "/p[1]"}, position(0, 3)), position(2, 7)], "renal"),
        ({"type": "Choice", "items": [refined(quoted("renal failure"), position(0, 5))]}, "renal"),
        ({"type": "RangeSelector", "startSelector": position(2, 3), "endSelector": position(15, 16)}, "renal failure"),
        (
            {"type": "RangeSelector", "startSelector": quoted("renal"), "endSelector": quoted(" after")},
            "renal failure",
        ),
        (refined(position(2, 15), quoted("aspirin")), None),
        (refined(quoted("aspirin"), position(0, 3)), None),
        (refined({"type": "XPathSelector", "value": "/p[1]"}, position(2, 7)), None),
        (refined({"type": "CssSelector", "value": "p"}, quoted("renal")), None),
        (refined(position(2, 15), position(5, 500)), None),
        ({"type": "RangeSelector", "startSelector": position(2, 3), "endSelector": quoted("nowhere")}, None),
        (refined(quoted("renal failure"), {"type": "SvgSelector", "value": "<svg/>"}), None),
    ],
)
def test_refined_selectors_and_ranges_are_applied_or_set_aside(
    put: Put, tmp_path: Path, selector: object, found: str | None
) -> None:
    put(TEXT, "r/one.txt"), put(json.dumps([annotation(1, selector, [TAG])]), "r/a.json")
    (document,), problems = read(WebAnnotationFormat(), tmp_path / "r")
    assert [one.text for one in document.mentions] == ([found] if found else [])
    assert [one.split(":")[0] for one in problems] == ([] if found else ["set aside"])
