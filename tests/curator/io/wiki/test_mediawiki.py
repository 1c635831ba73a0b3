"""A wiki's dump as documents and as a knowledge base: running text, links, redirects, and what is refused."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from curator.domain.wording import UserError
from curator.io.registry import default_registry
from curator.io.wiki.mediawiki import MediaWikiFormat
from curator.io.wiki.wikitext import lead_of, page_title, plain_page
from tests.curator.io.standoff_samples import FEW, read

Put = Callable[..., Path]

HEAD = """<mediawiki xmlns="http://www.mediawiki.org/xml/export-0.11/" version="0.11">
  <siteinfo><sitename>Stars</sitename><dbname>stars</dbname><case>first-letter</case>
    <namespaces><namespace key="0"/><namespace key="1">Talk</namespace>
      <namespace key="14">Kategorie</namespace></namespaces>
  </siteinfo>
"""
LUKE = """{{Infobox|father=[[Vader]]}}
'''Luke''' was a [[jedi_Master|''Jedi'' Master]] from [[Tatooine#Early|the planet]].&lt;ref&gt;[[Notes]]&lt;/ref&gt;
== Life ==
He met [[droid]]s. [[Kategorie:People]] [[fr:Luc]] [[#Life|above]] [[:Kategorie:People]] [[w:c:x:Y|Y]]
"""


def page(title: str, text: str = "", *, ns: int = 0, redirect: str = "", more: str = "") -> str:
    lead = f'<redirect title="{redirect}"/>' if redirect else ""
    return (
        f"<page><title>{title}</title><ns>{ns}</ns><id>1</id>{lead}{more}"
        f"<revision><model>wikitext</model><text xml:space='preserve'>{text}</text></revision></page>\n"
    )


PAGES = (
    page("Old Luke", redirect="Skywalker"),
    page("Luke (hero)", LUKE),
    page("Skywalker", redirect="Luke (hero)"),
    page("Talk:Luke", "chat", ns=1),
    page("Tatooine", "A planet.", more="<revision><text>An older [[text]].</text></revision>"),
)
DUMP = HEAD + "".join(PAGES) + "</mediawiki>\n"


@pytest.mark.parametrize("zipped", [False, True])
def test_articles_are_documents_and_their_links_mentions(put: Put, zipped: bool) -> None:
    path = put("<?xml version='1.0'?>\n" + DUMP, "pages.dat", zipped=zipped)
    assert default_registry().recognise(path).name == "mediawiki"
    (luke, planet), problems = read(MediaWikiFormat(), path)
    assert luke.text == (
        "Luke (hero)\nLuke was a Jedi Master from the planet.\n\nLife\n\nHe met droids. above Kategorie:People Y"
    )
    assert [(m.text, m.ids, m.type) for m in luke.mentions] == [
        ("Jedi Master", ("Jedi Master",), "stars"),
        ("the planet", ("Tatooine",), "stars"),
        ("droids", ("Droid",), "stars"),
    ]
    assert all(luke.text[m.spans[0].start : m.spans[0].end] == m.text for m in luke.mentions)
    assert (planet.text, [one.kind for one in planet.passages]) == ("Tatooine\nA planet.", ["title", "section"])
    assert [one.partition(" ")[2] for one in problems] == [
        "2 redirects were left out: they are not documents. Imported as a knowledge base, the dump keeps them.",
        "1 page of another namespace was left out",
    ]


def test_articles_are_entities_and_redirects_their_other_names(put: Put) -> None:
    luke, planet = default_registry().open_kb(put(DUMP))
    assert (luke.id, luke.name, luke.types) == ("Luke (hero)", "Luke (hero)", ("stars",))
    assert luke.synonyms == ("Luke", "Old Luke", "Skywalker")
    assert luke.alt_ids == ("Old Luke", "Skywalker")
    assert luke.definition == "Luke was a Jedi Master from the planet."
    assert (planet.definition, planet.synonyms) == ("A planet.", ())


@pytest.mark.parametrize(
    ("wikitext", "text", "links"),
    [
        ("[[A]]s and [[b|c]]", "As and c", [("As", "A"), ("c", "B")]),
        ("{|\n|[[x]]\n|}\nT{{t|[[y]]}}", "T", []),
        ("[[File:a.png|thumb|a [[b]]]] c", "c", []),
        ("[[Star Wars: Part &amp; One]]", "Star Wars: Part & One", [("Star Wars: Part & One",) * 2]),
        ("'''''a'''b'' &eacute;&#x1F600;<br/>c", "ab é\U0001f600\nc", []),
        ("[[a|]] [[|b]] [[ ]]", "b", []),
        ("[http://x y] [http://x] <nowiki>[[n]]</nowiki>", "y [[n]]", []),
        ("a\n\n\n\nb  c\u00a0d", "a\n\nb c d", []),
        ("<div>a <b>[[b| c ]]</b></div>", "a c", [("c", "B")]),
        ("{{unclosed [[a]]", "{{unclosed a", [("a", "A")]),
        ("[[Page#Section|words]] [[page_one# S_a|w]]", "words w", [("words", "Page"), ("w", "Page one")]),
        ("[[Page#Section]] [[#Section|here]] [[Page#|w]]", "Page here w", [("Page", "Page"), ("w", "Page")]),
        ("a [[de:Seite]] [[zh-min-nan:x]] [[be-x-old:y|z]] [[simple:b]] c", "a c", []),
        ("[[:de:Seite|b]] [[:zh-min-nan:x]] [[:simple:b|c]]", "b zh-min-nan:x c", []),
        ("[[Re:Zero]]", "Re:Zero", [("Re:Zero", "Re:Zero")]),
    ],
)
def test_running_text(wikitext: str, text: str, links: list[tuple[str, str]]) -> None:
    found = plain_page(wikitext)
    assert found.text == text
    assert [(found.text[one.start : one.end], one.target) for one in found.links] == links


def test_redirects_of_redirects_to_sections_and_in_a_circle(put: Put) -> None:
    redirects = {"A": "B", "B": "C", "C": "End#Part", "X": "Y", "Y": "X", "Z": "Z", "Lost": "Nowhere"}
    pages = "".join(page(title, redirect=target) for title, target in redirects.items())
    reader = default_registry().open_kb(put(f"{HEAD}{pages}{page('End', 'x')}</mediawiki>"))
    [end] = reader
    assert (end.alt_ids, end.synonyms) == (("A", "B", "C"), ("A", "B", "C"))
    assert [one.text for one in reader.problems] == ["4 redirects lead to pages that are not in the dump"]


@pytest.mark.parametrize("site", ["", "<siteinfo/>", "<siteinfo><dbname>w</dbname></siteinfo>"])
def test_links_of_a_dump_that_says_little_about_its_wiki(put: Put, site: str) -> None:
    path = put(f"<mediawiki>{site}{page('A', 'To [[b]].')}</mediawiki>")
    [document], _ = read(MediaWikiFormat(), path)
    assert [(one.text, one.ids) for one in document.mentions] == [("b", ("B",))]


def test_pages_without_text(put: Put) -> None:
    empty = "<page><title>No revision</title></page><page><title>No text</title><revision/></page>"
    path = put(f"{HEAD}{page('A')}{page('B', ' ')}{empty}{page('C', '{{x}}')}</mediawiki>")
    documents, problems = read(MediaWikiFormat(), path)
    assert [one.text for one in documents] == ["A\n", "B\n", "No revision\n", "No text\n", "C\n"]
    assert [one.passages[0].kind for one in documents] == ["title"] * 5
    assert any("4 pages have no wikitext in the dump" in one for one in problems)
    entities = list(default_registry().open_kb(path))
    assert [(one.name, one.definition) for one in entities] == [
        (name, "") for name in ("A", "B", "No revision", "No text", "C")
    ]


def test_titles_and_leads() -> None:
    assert page_title(" a_b  c ") == "A b c"
    assert page_title("a_b", first_letter=False) == "a b"
    assert lead_of("a\n== b ==\nc") == "a\n"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (DUMP[:-20], "broken XML"),
        ("<!DOCTYPE m [<!ENTITY a 'b'>]><mediawiki>" + PAGES[1] + "</mediawiki>", "is not a MediaWiki dump"),
        ("<mediawiki><!-- --></mediawiki>", "contains no article"),
        ("<other/>", "is not a MediaWiki dump"),
    ],
)
def test_what_is_refused(put: Put, text: str, said: str) -> None:
    with pytest.raises(UserError, match=said):
        list(MediaWikiFormat().open(put(text)))


@FEW
@given(
    st.lists(st.sampled_from([*"[]{}|'=<>&#:*! \n", "[[", "]]", "{{", "}}", "{|", "|}", "a", "\U0001f600", "<ref>"]))
)
def test_links_lie_on_words_whatever_the_text(pieces: list[str]) -> None:
    found = plain_page("".join(pieces))
    for one in found.links:
        words = found.text[one.start : one.end]
        assert words
        assert words == words.strip()
