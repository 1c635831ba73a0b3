"""UIMA XMI read and written: UTF-16 offsets, views, type systems, relations; opened with cassis, too."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from curator.domain.decisions import Verdict
from curator.domain.documents import Passage, SourceDocument, SourceFile, Span
from curator.domain.wording import UserError
from curator.io.registry import default_registry
from curator.io.standoff.xmi import XmiFormat
from curator.services.ports.files import ExportDocument, ExportMention
from tests.curator.io.standoff_samples import read, written

Put = Callable[..., Path]

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<xmi:XMI xmlns:xmi="http://www.omg.org/XMI" xmi:version="2.0" '
    'xmlns:cas="http:///uima/cas.ecore" xmlns:ner="http:///de/tudarmstadt/ukp/dkpro/core/api/ner/type.ecore" '
    'xmlns:seg="http:///de/tudarmstadt/ukp/dkpro/core/api/segmentation/type.ecore" '
    'xmlns:t="http:///org/apache/ctakes/typesystem/type/textsem.ecore" '
    'xmlns:r="http:///org/apache/ctakes/typesystem/type/refsem.ecore" xmlns:c="http:///webanno/custom.ecore">\n'
)
BODY = (
    '<cas:NULL xmi:id="0"/><seg:Token xmi:id="2" sofa="1" begin="0" end="2"/>\n'
    '<ner:NamedEntity xmi:id="3" sofa="1" begin="3" end="16" value="Disease" identifier="MESH:D051437"/>\n'
    '<t:MedicationMention xmi:id="4" sofa="1" begin="24" end="31" ontologyConceptArr="5 6"/>\n'
    '<r:UmlsConcept xmi:id="5" codingScheme="RXNORM" code="1191" cui="C0004057"/>\n'
    '<r:UmlsConcept xmi:id="6" codingScheme="RXNORM" code="1" cui="C0004057"/>\n'
    '<c:Cause xmi:id="7" sofa="1" begin="3" end="16" Governor="4" Dependent="3"/>\n'
    '<c:Cause xmi:id="8" sofa="1" begin="3" end="16"/>\n'
    '<ner:NamedEntity xmi:id="9" sofa="1" begin="3" end="300" value="Disease"/>\n'
)
TAIL = (
    '<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" '
    'sofaString="&#128512; renal failure&#13;&#10;after aspirin"/>\n'
    '<cas:View sofa="1" members="2 3 4 7 9"/></xmi:XMI>\n'
)
FILE = HEAD + BODY + TAIL
BARE = HEAD + (
    '<cas:Sofa xmi:id="1" sofaNum="1" sofaID="_InitialView" mimeType="text" sofaString="renal and hepatic failure"/>\n'
    '<cas:View sofa="1" members=""/></xmi:XMI>\n'
)
TYPES = (
    '<typeSystemDescription xmlns="http://uima.apache.org/resourceSpecifier"><types><typeDescription>'
    "<name>de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity</name>"
    "<supertypeName>uima.tcas.Annotation</supertypeName><features><featureDescription><name>value</name>"
    "<rangeTypeName>uima.cas.String</rangeTypeName></featureDescription></features></typeDescription></types>"
    "</typeSystemDescription>"
)


def test_types_that_say_what_things_are_hold_mentions(put: Put) -> None:
    path = put(FILE, "one.xmi")
    assert default_registry().recognise(path).name == "xmi"
    (found,), problems = read(XmiFormat(), path)
    assert (found.external_id, found.text) == ("one", "\U0001f600 renal failure\r\nafter aspirin")
    assert [(m.text, m.type, m.ids, m.spans[0].start) for m in found.mentions] == [
        ("renal failure", "Disease", ("MESH:D051437",), 2),
        ("aspirin", "MedicationMention", ("UMLS:C0004057",), 23),
    ]
    assert problems == ["set aside: one.xmi: Disease at 3-300 contains no text"]


@pytest.mark.parametrize("zipped", [False, True])
def test_unchanged_files_go_back_byte_for_byte(make: SimpleNamespace, put: Put, tmp_path: Path, zipped: bool) -> None:
    (out,) = written(make, XmiFormat(), put(FILE, "one.xmi", zipped=zipped), tmp_path / "out.xmi")
    assert out.read_bytes() == FILE.encode()


def test_a_decision_is_the_identifier_and_a_deleted_mention_leaves_the_view(
    make: SimpleNamespace, put: Put, tmp_path: Path
) -> None:
    form, path = XmiFormat(), put(FILE, "one.xmi")
    verdicts = {0: Verdict.link("MESH:D1", "a b")}
    (out,) = written(make, form, path, tmp_path / "out.xmi", verdicts=verdicts, removed=[1])
    text = out.read_text()
    assert 'identifier="MESH:D1 CURATOR:a%20b"' in text
    assert 'members="2 3 9"' in text
    assert 'xmi:id="4"' not in text
    assert [one.text for one in form.problems] == [
        "document one: a relation webanno.custom.Cause was removed together with its mention"
    ]
    (found,), _ = read(form, out)
    assert [(m.text, m.ids) for m in found.mentions] == [("renal failure", ("MESH:D1", "a b"))]


def test_new_mentions_and_nil(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    form = XmiFormat()
    added = [(Span(17, 22), "X", Verdict.nil()), ((Span(2, 7), Span(23, 30)), "Y", Verdict.nil())]
    (out,) = written(make, form, put(FILE, "one.xmi"), tmp_path / "out.xmi", added=added, verdicts={1: Verdict.nil()})
    assert 'xmi:id="10"' in out.read_text()
    assert [one.text[:22] for one in form.problems] == ["out.xmi comes without "]
    (found,), _ = read(form, out)
    assert [(m.type, m.nil, m.text) for m in found.mentions] == [
        ("Disease", False, "renal failure"),
        ("MedicationMention", True, "aspirin"),
        ("Y", True, "renal aspirin"),
        ("X", True, "after"),
    ]


def test_parts_of_mentions_are_moved_and_removed_with_them(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    form, path = XmiFormat(), tmp_path / "parts.xmi"
    two = (Span(2, 7), Span(23, 30))
    written(make, form, put(FILE, "one.xmi"), path, added=[(two, "Y", Verdict.link("MESH:D1"))])
    assert path.read_text().count("MentionPart ") == 1
    (same,) = written(make, form, path, tmp_path / "same.xmi")
    assert same.read_bytes() == path.read_bytes()
    (gone,) = written(make, form, path, tmp_path / "gone.xmi", removed=[2])
    assert "MentionPart " not in gone.read_text()
    assert 'members="2 3 4 7 9"' in gone.read_text()

    def moved(items: list[ExportDocument]) -> list[ExportDocument]:
        (item,) = items
        *others, last = item.mentions
        spans = (Span(2, 7), Span(8, 15), Span(23, 30))
        mention = dataclasses.replace(last.mention, spans=spans, text="renal failure aspirin")
        return [dataclasses.replace(item, mentions=(*others, ExportMention(mention, None, True, reshaped=True)))]

    (out,) = written(make, form, path, tmp_path / "moved.xmi", change=moved)
    (found,), problems = read(form, out)
    assert [(m.text, m.ids) for m in found.mentions][2:] == [("renal failure aspirin", ("MESH:D1",))]
    assert problems == ["set aside: moved.xmi: Disease at 3-300 contains no text"]
    orphan = put(re.sub(r' mention="\d+"', ' mention="99"', path.read_text(), count=1), "orphan.xmi")
    assert read(form, orphan)[1][-1].endswith("the mention for the part at 24-31 is missing")


@pytest.mark.parametrize("own_types", [True, False])
def test_parts_of_mentions_open_in_cassis(make: SimpleNamespace, put: Put, tmp_path: Path, own_types: bool) -> None:
    """The entity on the first part, the further ones referring to it; the type system knows them."""
    cassis = pytest.importorskip("cassis")
    if own_types:
        put(BARE, "c/one.xmi"), put(TYPES, "c/TypeSystem.xml")
        added = [((Span(0, 5), Span(18, 25)), "Disease", Verdict.link("MESH:D1"))]
        written(make, XmiFormat(), tmp_path / "c", tmp_path / "o", added=added)
    else:
        source = SourceDocument("one", "", "renal and hepatic failure", (), ())
        item = make.export(source, added=[((Span(0, 5), Span(18, 25)), "Disease", Verdict.link("MESH:D1"))])
        XmiFormat().write([(SourceFile(1, "x", "x", "other", ""), [item])], tmp_path / "o")
    assert sorted(one.name for one in (tmp_path / "o").iterdir()) == ["TypeSystem.xml", "one.xmi"]
    assert opened(cassis, tmp_path / "o/one.xmi") == [("renal", "Disease", "MESH:D1")]
    with (tmp_path / "o/TypeSystem.xml").open("rb") as types, (tmp_path / "o/one.xmi").open("rb") as file:
        cas = cassis.load_cas_from_xmi(file, typesystem=cassis.load_typesystem(types))
    (part,) = cas.select("curator.type.MentionPart")
    assert (part.get_covered_text(), part.mention.get_covered_text()) == ("failure", "renal")
    (found,), problems = read(XmiFormat(), tmp_path / "o")
    assert [(m.text, m.spans) for m in found.mentions] == [("renal failure", (Span(0, 5), Span(18, 25)))]
    assert problems == []


def test_the_real_sample_goes_back_and_opens_in_cassis(
    make: SimpleNamespace, shared_data: Path, put: Put, tmp_path: Path
) -> None:
    cassis = pytest.importorskip("cassis")
    samples = shared_data / "formats/uima"
    put((samples / "cassis_cas_with_smileys.xmi").read_bytes(), "c/one.xmi")
    put((samples / "cassis_important_dkpro_types.xml").read_bytes(), "c/TypeSystem.xml")
    form = XmiFormat()
    (found,), problems = read(form, tmp_path / "c")
    assert (found.title, problems) == ("huggingface.txt", [])
    assert [m.text for m in found.mentions] == ["Transformers"] * 3 + ["PyTorch", "TensorFlow"]
    written(make, form, tmp_path / "c", tmp_path / "same")
    assert (tmp_path / "same/one.xmi").read_bytes() == (samples / "cassis_cas_with_smileys.xmi").read_bytes()
    changes = {"verdicts": {0: Verdict.link("WD:Q1")}, "removed": [1], "added": [(Span(0, 1), "X", Verdict.nil())]}
    for types in ("its own", "made"):
        if types == "made":
            (tmp_path / "c/TypeSystem.xml").unlink()
        written(make, form, tmp_path / "c", tmp_path / types, **changes)
        assert opened(cassis, tmp_path / types / "one.xmi") == [
            ("Transformers", "OTH", "WD:Q1"),
            *[(word, "OTH", None) for word in ("Transformers", "PyTorch", "TensorFlow")],
            ("\U0001f917", "X", "NIL"),
        ]


def opened(cassis: SimpleNamespace, path: Path) -> list[tuple[str, str, str]]:
    with (path.parent / "TypeSystem.xml").open("rb") as types, path.open("rb") as file:
        cas = cassis.load_cas_from_xmi(file, typesystem=cassis.load_typesystem(types))
    found = cas.select("de.tudarmstadt.ukp.dkpro.core.api.ner.type.NamedEntity")
    return sorted(
        ((one.get_covered_text(), one.value, one.identifier) for one in found), key=lambda one: (one[1], one[2] is None)
    )


def test_a_decision_replaces_the_identifier_in_a_feature_of_another_name(
    make: SimpleNamespace, put: Put, tmp_path: Path
) -> None:
    path = put(FILE.replace('identifier="MESH:D051437"', 'meshId="D051437"'), "one.xmi")
    (found,), _ = read(XmiFormat(), path)
    assert found.mentions[0].ids == ("MESH:D051437",)
    written(make, XmiFormat(), path, tmp_path / "o.xmi", verdicts={0: Verdict.link("MESH:D1")})
    text = (tmp_path / "o.xmi").read_text()
    assert 'identifier="MESH:D1"' in text
    assert "meshId" not in text


def test_documents_of_other_formats_open_in_cassis(make: SimpleNamespace, tmp_path: Path) -> None:
    cassis = pytest.importorskip("cassis")
    source = SourceDocument("d", "t", "\U0001f600 a\x0b\nb", (Passage("section", 0, 6),), ())
    item = make.export(source, added=[(Span(2, 3), "A", Verdict.link("X:1")), (Span(5, 6), "B", Verdict.nil())])
    form = XmiFormat()
    form.write([(SourceFile(1, "x", "x", "other", ""), [item])], tmp_path / "o")
    assert opened(cassis, tmp_path / "o/d.xmi") == [("a", "A", "X:1"), ("b", "B", "NIL")]
    assert "characters that XML does not allow" in form.problems[0].text


def test_bombs_and_broken_files_are_refused(put: Put) -> None:
    bomb = '<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;"><!ENTITY f SYSTEM "/etc/passwd">]>\n<xmi:XMI'
    for text, words in (
        (FILE.replace("<xmi:XMI", bomb, 1).replace("renal", "&b; &f; renal"), r"XML|document type"),
        (FILE.replace("<xmi:XMI", bomb, 1), "document type"),
        (FILE[:-20], r"line \d+: broken XML"),
        (HEAD + "</xmi:XMI>", "contains no text"),
    ):
        with pytest.raises(UserError, match=words):
            list(XmiFormat().open(put(text, "one.xmi")))
    swollen = FILE.replace("renal", "renal" + "l" * 9_500_000)
    with pytest.raises(UserError, match="unpacks to far more"):
        list(XmiFormat().open(put(swollen, "one.xmi", zipped=True)))


def test_a_text_that_is_too_long_for_xml_is_refused(make: SimpleNamespace, tmp_path: Path) -> None:
    item = make.export(SourceDocument("7", "", "word " * 2_100_000, (), ()))
    with pytest.raises(UserError, match="Document 7 has a text of more than 10 MB"):
        XmiFormat().write([(SourceFile(1, "x", "x", "other", ""), [make.fresh(item, [])])], tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


CUSTOM = (
    '<x:Custom xmi:id="20" sofa="1" begin="24" end="31" value="Drug" certainty="high"/>'
    '<x:Custom xmi:id="21" sofa="1" begin="24" end="31" value="Drug"><tags>a</tags><tags>b</tags></x:Custom>'
    '<x:Fact xmi:id="22" name="dose" of="20"/><noNamespace:Bare xmi:id="23" sofa="1" begin="3" end="8" kind="k"/>'
)
"""Types and features of every shape: of annotations, of other structures, of several values, without a package."""
SOME = TYPES.replace(
    "</types>",
    "<typeDescription><name>x.Base</name><supertypeName>uima.tcas.Annotation</supertypeName><features>"
    "<featureDescription><name>certainty</name><rangeTypeName>uima.cas.String</rangeTypeName></featureDescription>"
    "</features></typeDescription><typeDescription><name>x.Custom</name><supertypeName>x.Base</supertypeName>"
    "</typeDescription></types>",
)


@pytest.mark.parametrize("systems", [{}, {"TypeSystem.xml": TYPES}, {"TypeSystem.xml": SOME}])
def test_the_type_system_of_a_changed_file_declares_everything_it_uses(
    make: SimpleNamespace, put: Put, tmp_path: Path, systems: dict[str, str]
) -> None:
    cassis = pytest.importorskip("cassis")
    head = HEAD.replace(
        "xmlns:c=", 'xmlns:x="http:///x.ecore" xmlns:noNamespace="http:///uima/noNamespace.ecore" xmlns:c='
    )
    tail = TAIL.replace('members="2 ', 'members="20 21 23 2 ')
    body = re.sub("<ner:NamedEntity[^>]*300[^>]*>", "", BODY)
    put(head + body + CUSTOM + tail.replace(" 9", ""), "c/one.xmi")
    for name, text in systems.items():
        put(text, f"c/{name}")
    form = XmiFormat()
    written(make, form, tmp_path / "c", tmp_path / "same")
    for name, text in systems.items():
        assert (tmp_path / "same" / name).read_text() == text
    written(make, form, tmp_path / "c", tmp_path / "o", verdicts={0: Verdict.link("WD:Q1")})
    assert sorted(one.name for one in (tmp_path / "o").iterdir()) == ["TypeSystem.xml", "one.xmi"]
    with (tmp_path / "o/TypeSystem.xml").open("rb") as types, (tmp_path / "o/one.xmi").open("rb") as file:
        cas = cassis.load_cas_from_xmi(file, typesystem=cassis.load_typesystem(types))
    customs = [(one.value, one.certainty, one.get("tags")) for one in cas.select("x.Custom")]
    assert [(value, certainty) for value, certainty, _ in customs] == [("Drug", "high"), ("Drug", None)]
    (bare,) = cas.select("Bare")
    assert (bare.kind, bare.get_covered_text()) == ("k", "renal")


@pytest.mark.parametrize("count", [10, 3000])
def test_an_annotation_that_a_long_list_names_stays_in_the_file(
    make: SimpleNamespace, put: Put, tmp_path: Path, count: int
) -> None:
    """It only leaves the view; without it the list would name what is not there."""
    keys = " ".join(["3", *(str(one) for one in range(1000, 1000 + count))])
    path = put(HEAD + BODY + f'<r:Chain xmi:id="99" elements="{keys}"/>' + TAIL, "one.xmi")
    (out,) = written(make, XmiFormat(), path, tmp_path / "o.xmi", removed=[0])
    text = out.read_text()
    assert ('xmi:id="3"' in text, 'members="2 4 9"' in text) == (True, True)


def test_control_characters_of_xml_1_1_are_read_and_written(make: SimpleNamespace, put: Put, tmp_path: Path) -> None:
    """libxml2 reads XML 1.0 only, in which they cannot be written."""
    text = FILE.replace('version="1.0"', 'version="1.1"', 1).replace("renal failure", "renal&#x1f;&#1; failur", 1)
    path = put(text, "one.xmi")
    (found,), problems = read(XmiFormat(), path)
    assert (found.mentions[0].text, found.mentions[0].ids) == ("renal\x1f\x01 failu", ("MESH:D051437",))
    assert [one for one in problems if "XML" in one] == []
    (same,) = written(make, XmiFormat(), path, tmp_path / "same.xmi")
    assert same.read_bytes() == path.read_bytes()
    (out,) = written(make, XmiFormat(), path, tmp_path / "o.xmi", verdicts={0: Verdict.link("WD:Q1")})
    assert 'version="1.1"' in out.read_text()[:40].replace("'", '"')
    assert "renal&#31;&#1; failu" in out.read_text()
    (again_,), _ = read(XmiFormat(), out)
    assert (again_.text, again_.mentions[0].ids) == (found.text, ("WD:Q1",))
