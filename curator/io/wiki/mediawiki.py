"""MediaWiki's XML dump of a wiki: its articles as documents, their links as mentions.

The text of a document is its title and the running text of the page; a mention's identifier is the title of its link's
target, which is known if the same dump is the knowledge base, including redirects. The type of mentions is the wiki's
name, like the type of its entities. Redirects, and pages outside of the articles' namespace, are not documents.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from curator.domain.documents import Passage, SourceDocument, SourceMention, Span
from curator.domain.wording import localised, ntr, tr
from curator.io.files.format import ReadOnly
from curator.io.files.reading import Reader
from curator.io.files.source import Source, plain_text
from curator.io.files.xml_stream import records
from curator.io.wiki.wikitext import Plain, page_title, plain_page
from curator.services.ports.files import Carries

_ROOT = re.compile(rb"\s*(<\?xml[^>]*>\s*)?(<!--(?:(?!-->).)*+-->\s*)*+<mediawiki[\s>]", re.DOTALL)
_WIKITEXT = ("", "wikitext")
NO_DUMP = "{path} is not a MediaWiki dump: its XML has no root <mediawiki>; choose another file"
MOST_NAMES = 30
"""Names of templates in a report."""
_HIDDEN = ("-2", "6", "14")
"""Keys of the namespaces of media, files and categories: links to them are not part of the running text."""


@dataclass(frozen=True, slots=True)
class Wiki:
    """The dump's data about the wiki: its name, the prefixes of its other namespaces, the case of its titles."""

    name: str
    namespaces: frozenset[str] = frozenset()
    hidden: frozenset[str] = frozenset()  # those of files and categories
    first_letter: bool = True

    def plain(self, wikitext: str, title: str) -> Plain:
        """The running text of the page called `title`. Raises ValueError if it cannot be parsed."""
        return plain_page(
            wikitext, title=title, namespaces=self.namespaces, hidden=self.hidden, first_letter=self.first_letter
        )


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the articles' namespace. `redirect` is the title of its target, '' for an article."""

    title: str
    text: str
    line: int
    redirect: str = ""


class Dump:
    """Pages of a dump, in order; `others` counts pages that are not articles. Raises UserError for broken XML."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.wiki = Wiki(_stem(source.path))
        self.others = 0  # pages of other namespaces

    def pages(self) -> Iterator[Page]:
        self.wiki, self.others = Wiki(_stem(self._source.path)), 0
        for element in records(self._source, ("{*}siteinfo", "{*}page")):
            if _name(element) == "siteinfo":
                self.wiki = _wiki(element, self.wiki.name)
                continue
            title = page_title(_text(element, "title"), first_letter=self.wiki.first_letter)
            if _text(element, "ns") not in ("", "0") or not title:
                self.others += 1
                continue
            yield self._page(element, title)

    def _page(self, element: Any, title: str) -> Page:
        line = element.sourceline or 0
        redirect = element.find("{*}redirect")
        if redirect is not None:
            target = page_title(redirect.get("title", "").partition("#")[0], first_letter=self.wiki.first_letter)
            return Page(title, "", line, target or title)
        revisions = element.findall("{*}revision")
        last = revisions[-1] if revisions else element
        wikitext = _text(last, "model") in _WIKITEXT
        return Page(title, _text(last, "text") if wikitext else "", line)


class MediaWikiReader(Reader):
    format = "mediawiki"
    none = "{path} contains no article: choose a dump of pages with their texts"

    def documents(self) -> Iterator[SourceDocument]:
        dump = Dump(self.source)
        redirects = empty = 0
        lost: Counter[str] = Counter()
        for page in dump.pages():
            if page.redirect:
                redirects += 1
                continue
            try:
                plain = dump.wiki.plain(page.text, page.title)
            except ValueError as error:
                words = tr("page {title}: its text cannot be parsed ({error})", title=page.title, error=error)
                self.problems.set_aside(words, page.line)
                continue
            empty += not page.text.strip()
            lost.update(plain.lost)
            yield _document(page, plain, dump.wiki.name)
        if lost:
            self.problems.note(_lost_words(lost))
        for number, one, several in (
            (
                empty,
                "{n:,} page has no wikitext in the dump: its document contains only the title",
                "{n:,} pages have no wikitext in the dump: their documents contain only the title",
            ),
            (
                redirects,
                "{n:,} redirect was left out: it is not a document. Imported as a knowledge base, the dump keeps it.",
                "{n:,} redirects were left out: they are not documents. Imported as a knowledge base, the dump keeps "
                "them.",
            ),
            (
                dump.others,
                "{n:,} page of another namespace was left out",
                "{n:,} pages of other namespaces were left out",
            ),
        ):
            if number:
                self.problems.note(ntr(one, several, number))


def _lost_words(lost: Counter[str]) -> str:
    names = [f"{plain_text(name)} ({localised(n, ',')})" for name, n in lost.most_common(MOST_NAMES)]
    names += ["…"] if len(lost) > MOST_NAMES else []
    return ntr(
        "The text of {n:,} template or formula is missing, since Curator does not know what it shows: {names}",
        "The text of {n:,} templates or formulas is missing, since Curator does not know what they show: {names}",
        lost.total(),
        names=", ".join(names),
    )


class MediaWikiFormat(ReadOnly):
    name = "mediawiki"
    title = "MediaWiki XML dump (Wikia)"
    refusal = NO_DUMP
    reader = MediaWikiReader
    carries = Carries(mentions=True)

    def sniff(self, path: Path, head: bytes) -> bool:  # noqa: ARG002
        return is_dump(head)


def is_dump(head: bytes) -> bool:
    return _ROOT.match(head) is not None


def _document(page: Page, plain: Plain, world: str) -> SourceDocument:
    shift = len(page.title) + 1
    text = f"{page.title}\n{plain.text}"
    mentions = tuple(
        SourceMention(
            (Span(link.start + shift, link.end + shift),),
            plain.text[link.start : link.end],
            world,
            (link.target,),
            link.target,
            record=number,
        )
        for number, link in enumerate(plain.links)
    )
    body = (Passage("section", shift, len(text)),) if plain.text else ()
    return SourceDocument(
        page.title, page.title, text, (Passage("title", 0, shift - 1), *body), mentions, "", page.line
    )


def _wiki(element: Any, stem: str) -> Wiki:
    found = element.findall("{*}namespaces/{*}namespace")
    names = frozenset((one.text or "").strip().lower() for one in found)
    hidden = frozenset((one.text or "").strip().lower() for one in found if one.get("key") in _HIDDEN) - {""}
    site = _text(element, "sitename")
    name = _text(element, "dbname") or site or stem
    return Wiki(name, (names | {site.lower()}) - {""}, hidden, _text(element, "case") != "case-sensitive")


def _text(element: Any, tag: str) -> str:
    return (element.findtext(f"{{*}}{tag}") or "").strip() if tag != "text" else element.findtext("{*}text") or ""


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _stem(path: Path) -> str:
    return path.name.partition(".")[0]
