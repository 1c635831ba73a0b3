"""BioC XML: passages and their offsets, fragments, normalised text, what is refused, and edits that leave all else."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from lxml import etree

from curator.domain.decisions import Verdict
from curator.domain.documents import Passage, SourceDocument, Span
from curator.domain.wording import UserError
from curator.io.bioc.bioc_formats import BioCXmlFormat, BioCXmlReader
from curator.io.literature.pubtator import PubTatorFormat

Put = Callable[..., Path]

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE collection SYSTEM "http://127.0.0.1:9/BioC.dtd">
<collection>
  <source>s</source><date>d</date><key>k</key>
  <infon key="licence">free &amp; open</infon>
"""
TITLE = '<passage><infon key="type">title</infon><offset>0</offset><text>{text}</text>{more}</passage>'
ABSTRACT = '<passage><infon key="type">abstract</infon><offset>{at}</offset><text>{text}</text>{more}</passage>'


def annotation(name: str, text: str, *places: tuple[int, int], ids: str = "", key: str = "identifier") -> str:
    where = "".join(f'<location offset="{offset}" length="{length}"/>' for offset, length in places)
    infons = '<infon key="type">Disease</infon>' + (f'<infon key="{key}">{ids}</infon>' if ids else "")
    return f'<annotation id="{name}">{infons}{where}<text>{text}</text></annotation>'


def wrap(*passages: str, name: str = "1", after: str = "") -> str:
    return f"<document><id>{name}</id><infon key='journal'>J</infon>{''.join(passages)}{after}</document>"


def collection(*documents: str) -> str:
    return HEAD + "\n".join(documents) + "\n</collection>\n"


def read(path: Path) -> tuple[list[SourceDocument], BioCXmlReader]:
    reader = BioCXmlFormat().open(path)
    return list(reader), reader


def written(make: SimpleNamespace, path: Path, **changes: object) -> tuple[Any, BioCXmlFormat]:
    form = BioCXmlFormat()
    reader = form.open(path)
    first, *others = list(reader)
    items = [make.export(first, **changes), *(make.export(one) for one in others)]
    (out,) = form.write([(make.file(path, reader), items)], path.with_name("out.xml"))
    return etree.fromstring(out.read_bytes()), form


def test_passages_become_one_text(put: Put) -> None:
    mention = annotation("0", "Lupus", (0, 5), ids="MESH:D008180")
    path = put(collection(wrap(TITLE.format(text="Lupus.", more=mention), ABSTRACT.format(at=7, text="We.", more=""))))
    (document,), reader = read(path)
    assert (document.external_id, document.title, document.text) == ("1", "Lupus.", "Lupus.\nWe.")
    assert document.passages == (Passage("title", 0, 6), Passage("abstract", 7, 10))
    (found,) = document.mentions
    assert (found.ids, found.raw_ids, found.nil, found.type) == (("MESH:D008180",), "MESH:D008180", False, "Disease")
    assert reader.problems == []


def test_what_a_mention_is_said_to_be(put: Put) -> None:
    said = [("-1", "MESH"), ("D1|-1", "MESH"), ("", ""), ("D000001|D000002", "MESH"), ("C0000005", "UMLS")]
    marks = "".join(annotation(str(n), "ab", (0, 2), ids=ids, key=key) for n, (ids, key) in enumerate(said))
    (document,), _ = read(put(collection(wrap(TITLE.format(text="ab", more=marks)))))
    assert [(one.ids, one.nil) for one in document.mentions] == [
        ((), True),
        (("MESH:D1",), False),
        ((), False),
        (("MESH:D000001", "MESH:D000002"), False),
        (("UMLS:C0000005",), False),
    ]


def test_a_passage_stated_too_far_is_read_where_its_annotations_count(put: Put) -> None:
    title, text = "The &quot;X&quot; test", "Lupus was seen."
    mentions = annotation("0", "Lupus", (13, 5)) + annotation("1", "was", (19, 3))
    path = put(collection(wrap(TITLE.format(text=title, more=""), ABSTRACT.format(at=23, text=text, more=mentions))))
    (document,), reader = read(path)
    assert [(one.text, one.spans) for one in document.mentions] == [
        ("Lupus", (Span(13, 18),)),
        ("was", (Span(19, 22),)),
    ]
    assert [(one.severity, "is 23, but" in one.text) for one in reader.problems] == [("repaired", True)]


def test_passages_with_offsets_of_their_own_kind(put: Put) -> None:
    """A gap, and annotations that count with it: the stored text has one line feed all the same."""
    more = annotation("0", "Lupus", (100, 5))
    path = put(collection(wrap(TITLE.format(text="T", more=""), ABSTRACT.format(at=100, text="Lupus", more=more))))
    (document,), reader = read(path)
    assert (document.text, document.mentions[0].spans) == ("T\nLupus", (Span(2, 7),))
    assert reader.problems == []


def test_several_locations_are_one_discontinuous_mention(put: Put) -> None:
    marks = annotation("0", "renal failure", (18, 7), (0, 5)) + annotation("1", "renal...failure", (0, 5), (18, 7))
    path = put(collection(wrap(TITLE.format(text="renal and hepatic failure", more=marks))))
    (document,), reader = read(path)
    assert {one.spans for one in document.mentions} == {(Span(0, 5), Span(18, 25))}
    assert {one.text for one in document.mentions} == {"renal failure"}
    assert reader.problems == []


@pytest.mark.parametrize("mark", ["...", " ... ", "\u2026", " [...] ", "[\u2026]"])
@pytest.mark.parametrize("shift", [0, 1])
def test_every_gap_mark_parts_the_fragments(put: Put, mark: str, shift: int) -> None:
    marks = annotation("0", f"renal{mark}failure", (shift, 5), (18 + shift, 7))
    path = put(collection(wrap(TITLE.format(text="renal and hepatic failure", more=marks))))
    (document,), reader = read(path)
    assert [one.spans for one in document.mentions] == [(Span(0, 5), Span(18, 25))]
    assert [one.severity for one in reader.problems] == ["repaired"] * shift


def test_normalised_text_is_no_error_but_an_offset_by_one_is(put: Put) -> None:
    marks = annotation("0", "TNF-a", (0, 5)) + annotation("1", "IL-6", (11, 4)) + annotation("2", "TNF-alpha", (0, 5))
    (document,), reader = read(put(collection(wrap(TITLE.format(text="TNF-α and IL-6.", more=marks)))))
    assert [one.text for one in document.mentions] == ["TNF-α", "IL-6", "TNF-α"]
    assert [one.severity for one in reader.problems] == ["repaired", "note"]
    assert "2 annotations quote a normalised text" in reader.problems[1].text


def test_what_has_no_place_is_set_aside_with_its_line(put: Put) -> None:
    marks = (
        annotation("0", "none", (0, 4))
        + annotation("1", "ab")
        + '<annotation id="2"><location offset="x"/></annotation>'
    )
    (document,), reader = read(put(collection(wrap(TITLE.format(text="ab", more=marks)))))
    assert document.mentions == ()
    assert [one.severity for one in reader.problems] == ["set aside"] * 3
    assert all(one.line == 6 for one in reader.problems)


def test_entities_are_refused_and_nothing_is_fetched(put: Put, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    bomb = '<!DOCTYPE collection [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
    large = bomb.replace('"aaaa"', f'"{"a" * 100_000}"').replace("&a;&a;", "&a;" * 1000)
    for subset in (bomb, large, bomb.replace('"aaaa"', f'SYSTEM "file://{tmp_path}/secret"')):
        text = re.sub("<!DOCTYPE.*?>", subset, collection(wrap(TITLE.format(text="&b;", more=""))), count=1)
        with pytest.raises(UserError, match="entities"):
            read(put(text))
        late = text.replace(subset, subset.replace("[", "[" + " " * (1 << 16)))
        with pytest.raises(UserError):
            read(put(late.replace("<collection>", "<collection><document>")))
    (document,), _ = read(put(collection(wrap(TITLE.format(text="ab", more="")))))
    assert document.text == "ab"


def test_broken_and_empty_files(put: Put) -> None:
    with pytest.raises(UserError, match=r"line \d+: broken XML"):
        read(put(collection(wrap(TITLE.format(text="ab", more=""))).replace("</collection>", "</x>")))
    with pytest.raises(UserError, match="contains no BioC document"):
        read(put(collection()))


def test_a_document_alone_and_gzip(put: Put, make: SimpleNamespace) -> None:
    text = wrap(TITLE.format(text="ab", more=""))
    (document,), reader = read(put(text, zipped=True))
    assert document.text == "ab"
    assert reader.position[0] == reader.position[1]
    root, _ = written(make, put(text))
    assert root.tag == "document"


RELATION = '<relation id="R0"><infon key="relation">CID</infon><node refid="0" role="a"/></relation>'
DOCUMENT = wrap(
    TITLE.format(text="Lupus here", more=annotation("0", "Lupus", (0, 5), ids="D008180", key="MESH")), after=RELATION
)


def test_a_changed_decision_rewrites_its_identifiers_and_is_signed(put: Put, make: SimpleNamespace) -> None:
    root, _ = written(make, put(collection(DOCUMENT)), verdicts={0: Verdict.link("MESH:D000001", "OMIM:123456")})
    infons = [(one.get("key"), one.text) for one in root.iter("infon") if one.getparent().tag == "annotation"]
    assert infons[:3] == [("type", "Disease"), ("MESH", "D000001"), ("OMIM", "123456")]
    assert [key for key, _ in infons[3:]] == ["annotator", "updated_at"]
    assert root.findtext(".//relation/infon") == "CID"
    root, _ = written(make, put(collection(DOCUMENT)), verdicts={0: Verdict.nil()})
    assert "-1" in [one.text for one in root.iter("infon") if one.get("key") == "MESH"]


@pytest.mark.parametrize(
    ("said", "verdict", "written_as", "read_as"),
    [
        ("MESH:D008180", Verdict.link("MESH:D000001"), "MESH:D000001", "MESH:D000001"),
        ("D008180", Verdict.link("MESH:D000001"), "D000001", "D000001"),
        ("C0024141", Verdict.link("UMLS:C0000002"), "C0000002", "UMLS:C0000002"),
        ("-", Verdict.link("OMIM:104300"), "OMIM:104300", "OMIM:104300"),
        ("MESH:D008180", Verdict.nil(), "-1", ""),
        ("-", Verdict.nil(), "-", ""),
    ],
)
def test_a_cui_stays_a_cui(
    put: Put, make: SimpleNamespace, said: str, verdict: Verdict, written_as: str, read_as: str
) -> None:
    """The key of the document holds concepts of any vocabulary; NIL is the word of the file."""
    found = annotation("0", "Lupus", (0, 5), ids=said, key="cui")
    path = put(collection(wrap(TITLE.format(text="Lupus here", more=found))))
    root, _ = written(make, path, verdicts={0: verdict})
    infons = {one.get("key"): one.text for one in root.iter("infon") if one.getparent().tag == "annotation"}
    assert (infons.keys(), infons["cui"]) == ({"type", "cui", "annotator", "updated_at"}, written_as)
    (document,), _ = read(path.with_name("out.xml"))
    assert document.mentions[0].ids == ((read_as,) if read_as else ())


def test_what_is_decided_comes_back(put: Put, make: SimpleNamespace) -> None:
    added = [((Span(0, 2), Span(6, 10)), "Thing", Verdict.link("MESH:D000009")), (Span(6, 8), "Thing", None)]
    path = put(collection(DOCUMENT))
    _, form = written(make, path, verdicts={0: Verdict.link("MESH:D000001")}, added=added)
    (document,), _ = read(path.with_name("out.xml"))
    assert [(one.text, one.type, one.ids) for one in document.mentions] == [
        ("Lupus", "Disease", ("MESH:D000001",)),
        ("Lu here", "Thing", ("MESH:D000009",)),
    ]
    assert ["undecided" in one.text for one in form.problems] == [True]


def test_a_mention_added_where_the_offsets_are_odd_keeps_the_files_way(put: Put, make: SimpleNamespace) -> None:
    """In a passage stated too far, new places count as the annotations that are there do."""
    old = annotation("0", "Lupus", (13, 5))
    text = wrap(
        TITLE.format(text="The &quot;X&quot; test", more=""), ABSTRACT.format(at=23, text="Lupus was", more=old)
    )
    root, _ = written(make, put(collection(text)), added=[(Span(19, 22), "X", Verdict.nil())])
    assert root.find(".//annotation[@id='1']/location").get("offset") == "19"
    gap = wrap(TITLE.format(text="T", more=""), ABSTRACT.format(at=100, text="Lupus", more=""))
    root, _ = written(make, put(collection(gap)), added=[(Span(2, 7), "X", Verdict.nil())])
    assert root.find(".//location").get("offset") == "100"


def test_a_removed_mention_leaves_and_its_relation_is_told(put: Put, make: SimpleNamespace) -> None:
    root, form = written(make, put(collection(DOCUMENT)), removed=[0])
    assert root.find(".//annotation") is None
    assert root.find(".//relation") is not None
    assert "a relation refers to annotation 0" in form.problems[0].text


@pytest.mark.soak
def test_the_official_corpus_reads_as_its_pubtator_twin(shared_data: Path) -> None:
    """Passages 5 or 10 too far, escaped quotation marks: every text and every mention of PubTator is found."""
    documents, reader = read(shared_data / "bc5cdr/bioc/cdr_train.BioC.xml.gz")
    twins = {one.external_id: one for one in PubTatorFormat().open(shared_data / "bc5cdr/train.pubtator.txt")}
    assert {one.external_id: one.text for one in documents} == {name: one.text for name, one in twins.items()}
    found = {(one.external_id, mention.spans, mention.type) for one in documents for mention in one.mentions}
    assert {(name, m.spans, m.type) for name, one in twins.items() for m in one.mentions} <= found
    assert sum("the offset of a passage is" in one.text for one in reader.problems) == 18
