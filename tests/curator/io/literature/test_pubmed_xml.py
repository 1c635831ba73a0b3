"""PubMed XML: labelled parts, markup, books, and XML that is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from curator.domain.documents import SourceDocument
from curator.domain.wording import UserError
from curator.io.literature.pubmed import PubMedXmlFormat, PubMedXmlReader

Put = Callable[..., Path]

ARTICLE = """<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article>
  <ArticleTitle>{title}</ArticleTitle>{abstract}</Article>
  <OtherAbstract Language="fre"><AbstractText>Autre</AbstractText></OtherAbstract>
</MedlineCitation><PubmedData><ReferenceList><Reference><ArticleIdList><ArticleId>1</ArticleId></ArticleIdList>
</Reference></ReferenceList></PubmedData></PubmedArticle>"""


def article(pmid: str = "5", title: str = "A title.", abstract: str = "") -> str:
    return ARTICLE.format(pmid=pmid, title=title, abstract=abstract)


def wrap(*records: str, before: str = "") -> str:
    return f'<?xml version="1.0"?>\n{before}<PubmedArticleSet>\n' + "\n".join(records) + "\n</PubmedArticleSet>\n"


def read(path: Path) -> tuple[list[SourceDocument], PubMedXmlReader]:
    reader = PubMedXmlFormat().open(path)
    return list(reader), reader


def test_labelled_parts_become_passages(put: Put) -> None:
    abstract = (
        '<Abstract><AbstractText Label="AIMS" NlmCategory="OBJECTIVE">To <i>see</i>\n   H<sub>2</sub>O.</AbstractText>'
        '<AbstractText Label="RESULTS">Seen &lt; 5 &#945;.</AbstractText><AbstractText/>'
        "<CopyrightInformation>Copyright</CopyrightInformation></Abstract>"
    )
    (document,), reader = read(put(wrap(article(title="On <sup>13</sup>C", abstract=abstract))))
    assert document.text == "On 13C\nTo see H2O.\nSeen < 5 α."
    parts = [(p.kind, p.label, document.text[p.start : p.end]) for p in document.passages]
    assert parts == [
        ("title", "", "On 13C"),
        ("abstract", "AIMS", "To see H2O."),
        ("abstract", "RESULTS", "Seen < 5 α."),
    ]
    assert (document.external_id, document.line) == ("5", 3)
    assert reader.problems == []


def test_a_missing_abstract_is_counted_not_dropped(put: Put) -> None:
    documents, reader = read(put(wrap(article("1", "[Not Available]."), article("2"))))
    assert [d.text for d in documents] == ["[Not Available].", "A title."]
    assert ("note", "2 of 2 records have no abstract") in [(p.severity, p.text) for p in reader.problems]


def test_book_articles_and_vernacular_titles(put: Put) -> None:
    book = (
        "<PubmedBookArticle><BookDocument><PMID>8</PMID><Book><BookTitle>Genes</BookTitle></Book>"
        "<Abstract><AbstractText>Text.</AbstractText></Abstract></BookDocument></PubmedBookArticle>"
    )
    vernacular = article("9", "").replace("<ArticleTitle>", "<VernacularTitle>Titre</VernacularTitle><ArticleTitle>")
    documents, _ = read(put(wrap(book, vernacular)))
    assert [(d.external_id, d.text) for d in documents] == [("8", "Genes\nText."), ("9", "Titre")]


def test_a_title_that_is_not_available_gives_way_to_the_original_one(put: Put) -> None:
    original = "<VernacularTitle>Titre</VernacularTitle></Article>"
    records = [article("1", "[Not Available].").replace("</Article>", original, 1), article("2", "[Not Available].")]
    documents, _ = read(put(wrap(*records)))
    assert [d.title for d in documents] == ["Titre", "[Not Available]."]


def test_chapters_of_books(put: Put) -> None:
    book = (
        "<PubmedBookArticle><BookDocument><PMID>8</PMID><Book><BookTitle>Genes</BookTitle></Book>"
        '<ArticleTitle book="gene">One <i>gene</i></ArticleTitle><Abstract>'
        '<AbstractText Label="Clinical characteristics">Text.</AbstractText></Abstract>'
        "</BookDocument></PubmedBookArticle>"
    )
    (document,), _ = read(put(wrap(book)))
    assert (document.title, document.passages[1].label) == ("One gene", "Clinical characteristics")


def test_letters_stay_as_they_are(put: Put) -> None:
    """No-break and thin spaces are letters; decomposed ones stay decomposed; markup leaves none of its own."""
    (document,), _ = read(put(wrap(article(title="5\u00a0mg\u2009of\n  e\u0301 <b>x</b><sub>2</sub>\u2028."))))
    assert document.title == "5\u00a0mg\u2009of e\u0301 x2\u2028."


def test_baseline_files_with_withdrawals_and_other_abstracts(put: Put) -> None:
    withdrawn = "<DeleteCitation><PMID>1</PMID><PMID>2</PMID></DeleteCitation>"
    documents, reader = read(put(wrap(article("5"), withdrawn), zipped=True))
    assert [d.external_id for d in documents] == ["5"]
    notes = [p.text for p in reader.problems]
    assert any("2 older records were withdrawn" in note for note in notes)
    assert any("1 record has an abstract only in another language" in note for note in notes)


def test_a_set_of_citations(put: Put) -> None:
    citations = [f"<MedlineCitation><PMID>{n}</PMID><ArticleTitle>T</ArticleTitle></MedlineCitation>" for n in (1, 2)]
    documents, _ = read(put("<MedlineCitationSet>" + "".join(citations) + "</MedlineCitationSet>"))
    assert [d.external_id for d in documents] == ["1", "2"]


def test_records_without_pmid_or_text_are_set_aside(put: Put) -> None:
    documents, reader = read(put(wrap(article(""), article("2", ""), article("3"))))
    assert [d.external_id for d in documents] == ["3"]
    assert [p.severity for p in reader.problems] == ["set aside", "set aside", "note", "note"]
    assert all(p.line for p in reader.problems[:2])


def test_entities_are_refused_and_nothing_is_fetched(put: Put, tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    bomb = f'<!DOCTYPE PubmedArticleSet [<!ENTITY x SYSTEM "file://{secret}">]>\n'
    with pytest.raises(UserError, match="entities"):
        list(PubMedXmlFormat().open(put(wrap(article(title="&x;"), before=bomb))))
    outside = '<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD" "http://127.0.0.1:9/none.dtd">\n'
    documents, _ = read(put(wrap(article(), before=outside)))
    assert documents[0].text == "A title."


def test_broken_xml_names_its_line(put: Put) -> None:
    with pytest.raises(UserError, match=r"line \d+: broken XML"):
        read(put(wrap(article()).replace("</PubmedArticleSet>", "</Pubmed>")))
    with pytest.raises(UserError, match="contains no PubMed record"):
        read(put(wrap()))


def test_gzip_and_position(put: Put) -> None:
    (document,), reader = read(put(wrap(article()), "x.dat", zipped=True))
    assert document.title == "A title."
    assert reader.position[0] == reader.position[1] > 0


def test_real_files(shared_data: Path) -> None:
    found = {d.external_id: d for p in (shared_data / "formats/pubmed_xml").glob("*.xml") for d in read(p)[0]}
    assert sorted(found) == ["11700088", "11748933", "12091962", "20000000", "27797938", "9997"]
    labels = [p.label for p in found["27797938"].passages if p.kind == "abstract"]
    assert labels == ["OBJECTIVE", "DESIGN", "RESULTS", "CONCLUSIONS"]
