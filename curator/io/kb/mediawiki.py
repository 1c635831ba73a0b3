"""A MediaWiki dump as a knowledge base: its articles are entities.

The identifier is the title, as in links when the same dump is imported as documents; redirects are alternate
identifiers and synonyms. The type is the wiki's name, the definition the beginning of the running text. The dump is
read twice, since redirects may be before or after their target; between the passes only their titles are kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from curator.domain.entities import Entity
from curator.domain.wording import ntr, tr
from curator.io.kb.base import KbReader, clean_names
from curator.io.kb.zeshel import definition_of, synonyms_of
from curator.io.wiki.mediawiki import NO_DUMP, Dump, Page, Wiki, is_dump
from curator.io.wiki.wikitext import lead_of

FURTHEST = 5
"""Redirects to redirects are followed this far."""


class MediaWikiKbReader(KbReader):
    format = "mediawiki"
    title = "MediaWiki XML dump (Wikia)"
    refusal = NO_DUMP
    sniff = staticmethod(is_dump)

    def entities(self) -> Iterator[tuple[int, Entity]]:
        dump = Dump(self.source)
        others = _redirects(dump)
        for page in dump.pages():
            if not page.redirect:
                yield page.line, self._entity(page, dump.wiki, others.pop(page.title, []))
        if others:
            one = "{n} redirect leads to a page that is not in the dump"
            several = "{n:,} redirects lead to pages that are not in the dump"
            self.problems.note(ntr(one, several, sum(map(len, others.values()))))

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
            self.problems.note(tr("page {title} has no definition: {error}", title=page.title, error=error), page.line)
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
