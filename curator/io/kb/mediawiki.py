"""A MediaWiki dump as a knowledge base: its articles are entities.

The identifier is the title, as in links when the same dump is imported as documents; redirects are alternate
identifiers and synonyms. The type is the wiki's name, the definition the beginning of the running text. The dump is
read twice, since redirects may be before or after their target; between the passes only their titles are kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path

from curator.domain.entities import Entity
from curator.domain.wording import UserError, ntr, tr
from curator.io.files.reading import SourceReader
from curator.io.files.source import Source
from curator.io.kb.base import KbSource, clean_names, first_of_each, needs_some
from curator.io.kb.zeshel import definition_of, synonyms_of
from curator.io.wiki.mediawiki import Dump, Page, Wiki, is_dump
from curator.io.wiki.wikitext import lead_of

FURTHEST = 5
"""Redirects to redirects are followed this far."""


class MediaWikiKbReader(SourceReader):
    format = "mediawiki"

    def __iter__(self) -> Iterator[Entity]:
        self.problems = []
        dump = Dump(self._source)
        others = _redirects(dump)
        entities = first_of_each(self._entities(dump, others), self.problems)
        yield from needs_some(entities, self._source.path, self.problems)
        if others:
            number = sum(map(len, others.values()))
            self._problem(
                0,
                "note",
                ntr(
                    "{n} redirect leads to a page that is not in the dump",
                    "{n:,} redirects lead to pages that are not in the dump",
                    number,
                ),
            )

    def _entities(self, dump: Dump, others: dict[str, list[str]]) -> Iterator[tuple[int, Entity]]:
        for page in dump.pages():
            if not page.redirect:
                yield page.line, self._entity(page, dump.wiki, others.pop(page.title, []))

    def _entity(self, page: Page, wiki: Wiki, redirects: list[str]) -> Entity:
        names = [name for one in (page.title, *redirects) for name in (one, *synonyms_of(one))]
        return Entity(
            page.title,
            page.title,
            synonyms=clean_names(names, besides=page.title),
            types=(wiki.name,),
            definition=definition_of("", self._beginning(page, wiki)),
            alt_ids=clean_names(redirects, besides=page.title),
        )

    def _beginning(self, page: Page, wiki: Wiki) -> str:
        """Running text before the first heading, or of the whole page if there is none before it."""
        try:
            for text in (lead_of(page.text), page.text):
                found = wiki.plain(text, page.title).text
                if found:
                    return " ".join(found.split())
        except ValueError as error:
            self._problem(
                page.line, "note", tr("page {title} has no definition: {error}", title=page.title, error=error)
            )
        return ""


def _redirects(dump: Dump) -> dict[str, list[str]]:
    """Title of a page -> titles that lead to it."""
    direct = {page.title: page.redirect for page in dump.pages() if page.redirect}
    found: dict[str, list[str]] = defaultdict(list)
    for title in direct:
        found[_end(title, direct)].append(title)
    return found


def _end(title: str, direct: Mapping[str, str]) -> str:
    for _ in range(FURTHEST):
        if title not in direct:
            break
        title = direct[title]
    return title


def open_reader(path: Path) -> MediaWikiKbReader:
    """Raises UserError for a missing, empty, truncated or foreign file."""
    if not is_dump(Source(path).head()):
        raise UserError(
            tr("{path} is not a MediaWiki dump: its XML has no root <mediawiki>; choose another file", path=path)
        )
    reader = MediaWikiKbReader(path)
    reader.prepare()
    return reader


MEDIAWIKI = KbSource("mediawiki", "MediaWiki XML dump (Wikia)", is_dump, open_reader)
