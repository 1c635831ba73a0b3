"""Everything about one entity: scores as bars, definition, synonyms, types, identifiers, and ancestors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from itertools import accumulate

from PySide6.QtCore import QUrl, Signal
from PySide6.QtWidgets import QWidget

from curator.domain.entities import Entity, is_new
from curator.domain.suggestions import Candidate, Suggestion
from curator.domain.wording import tr
from curator.ui.candidates.candidate_delegate import USUAL_LINE, bars_html, candidate_bars, lead_words
from curator.ui.candidates.late_browser import LateBrowser
from curator.ui.kit.theme import Theme, theme_of

Lookup = Callable[[str], Entity | None]
APART = " › "
MADE_HERE = "A new entity, created in this project; the knowledge base does not have it yet."
MOST_LETTERS = 110
"""The most letters of synonyms under the name, two lines of a usual column, so that the definition is visible, too."""
USES, PAGE = "uses:", "page:"
"""Targets of the links in a record."""
MOST_PARENTS = 8
"""The most parents named without their path."""
STEPS = 6
"""The most entities shown of a path; those left out in the middle become dots."""


class EntityCard(LateBrowser):
    """Shows an entity, or a candidate whose record `lookup` finds. Everything shown is escaped.

    The path to the top follows later, by `show_path`, since it needs too many queries for a key press.
    """

    entity_changed = Signal()
    uses_wanted = Signal(str)  # entity id
    page_wanted = Signal(str)

    def __init__(self, lookup: Lookup, parent: QWidget | None = None) -> None:
        super().__init__(tr("Entity"), parent)
        self._lookup = lookup
        self._shown: tuple[Entity | None, Candidate | None, Suggestion | None] = (None, None, None)
        self._asked: tuple[Candidate | None, Suggestion | None] | None = None  # not yet looked up
        self._stale = True
        self._path: tuple[Entity, ...] = ()
        self._linked = False
        self._names_parents = False

    def offer_links(self) -> None:
        """Show links to all uses of the entity and to its page; the caller handles the signals."""
        self._linked = True
        self.anchorClicked.connect(self._follow)
        self.render_soon()

    def name_parents(self) -> None:
        """Name the direct parents of an entity without a path, if no path is looked up."""
        self._names_parents = True

    def _follow(self, link: QUrl) -> None:
        wanted = {USES: self.uses_wanted, PAGE: self.page_wanted}.get(link.toString())
        if wanted is not None and self.entity_id is not None:
            wanted.emit(self.entity_id)

    @property
    def entity_id(self) -> str | None:
        """The id of the shown record, or of a candidate no longer in the knowledge base."""
        entity, candidate = self.entity, self._shown[1]
        return entity.id if entity is not None else candidate.entity_id if candidate is not None else None

    @property
    def entity(self) -> Entity | None:
        """The record shown."""
        self._look_up()
        return self._shown[0]

    def show_candidate(self, candidate: Candidate | None, suggestion: Suggestion | None = None) -> None:
        """Show a candidate, with its scores if its suggestion is given; the record is looked up shortly after."""
        self._asked = (candidate, suggestion)
        self._late.start()

    def show_entity(self, entity: Entity | None) -> None:
        self._asked = None
        self._show(entity, None, None)

    def stop(self) -> None:
        """Stop look-ups, since the project is being closed."""
        self._asked = None
        self._late.stop()

    def show_path(self, entity_id: str, path: Sequence[Entity]) -> None:
        """Show the ancestors of the entity, topmost first; results for another entity are dropped."""
        if self.entity is not None and self.entity.id == entity_id and tuple(path) != self._path:
            self._path = tuple(path)
            self.render_soon()

    def render_soon(self, *, from_top: bool = False) -> None:
        self._stale = True
        super().render_soon(from_top=from_top)

    def _render(self) -> None:
        self._look_up()
        if self._stale:
            self._stale = False
            super()._render()
        self._late.stop()

    def _look_up(self) -> None:
        if self._asked is not None:
            (candidate, suggestion), self._asked = self._asked, None
            entity = self._lookup(candidate.entity_id) if candidate is not None else None
            self._show(entity, candidate, suggestion)

    def _show(self, entity: Entity | None, candidate: Candidate | None, suggestion: Suggestion | None) -> None:
        if (entity, candidate, suggestion) == self._shown:
            return
        other = entity != self._shown[0]
        if other:
            self._path = ()
        self._shown = (entity, candidate, suggestion)
        self.render_soon(from_top=True)
        if other:
            self.entity_changed.emit()

    def html_now(self) -> str:
        entity, candidate, suggestion = self._shown
        theme = theme_of(self.palette())
        if entity is not None:
            larger = self.fontMetrics().height() / USUAL_LINE
            scores = _scores(candidate, suggestion, theme, larger) if candidate and suggestion else ""
            matched = candidate.matched if candidate is not None else ""
            links, above = self._linked, self._parents(entity)
            return card_html(
                entity, scores=scores, path=self._path, above=above, theme=theme, matched=matched, links=links
            )
        if candidate is None:
            return ""
        gone = tr("The knowledge base no longer holds this entity.")
        missing = f"<p style='color:{theme.muted.name()}'>{gone}</p>"
        return _head(candidate.name, candidate.entity_id, candidate.types, theme) + missing

    def _parents(self, entity: Entity) -> list[str]:
        """The parents' names, or unknown identifiers; only the first few."""
        if self._path or not self._names_parents:
            return []
        found = [(self._lookup(one), one) for one in entity.parents[:MOST_PARENTS]]
        more = ["…"] if len(entity.parents) > MOST_PARENTS else []
        return [parent.name if parent is not None else one for parent, one in found] + more


def card_html(
    entity: Entity,
    *,
    scores: str = "",
    path: Sequence[Entity] = (),
    above: Sequence[str] = (),
    theme: Theme,
    matched: str = "",
    links: bool = False,
) -> str:
    """The card as rich text; `scores` is rich text already. The first synonyms are under the name, the `matched` one
    first; all are listed below if there are more. With `links` the identifier links to the entity's page, and the words
    after it to its uses."""
    missing = f"<span style='color:{theme.muted.name()}'>{tr('No definition in the knowledge base.')}</span>"
    under = path_words([one.name for one in path]) if path else "; ".join(above or entity.parents)
    first = first_synonyms(entity.synonyms, matched)
    left = len(entity.synonyms) - len(first)
    rows = [
        (tr("Under"), under),
        (tr("Synonyms"), "; ".join(entity.synonyms) if left else ""),
        (tr("Tree"), ", ".join(entity.tree_numbers)),
        (tr("Also known as"), ", ".join(entity.alt_ids)),
    ]
    made_here = f"<p style='margin:0; color:{theme.muted.name()}'>{tr(MADE_HERE)}</p>" if is_new(entity.id) else ""
    parts = [
        _head(entity.name, entity.id, entity.types, theme, links=links) + made_here,
        _also(first, left, theme),
        f"<p style='margin:5px 0 8px 0; line-height:130%'>{escape(entity.definition) or missing}</p>",
        scores,
        "<table cellspacing='0' cellpadding='0' style='margin-top:6px'>",
        *(_row(name, words, theme) for name, words in rows if words),
        "</table>",
    ]
    return "".join(parts)


def first_synonyms(synonyms: Sequence[str], matched: str) -> list[str]:
    """The synonyms shown first: at least one, and as many as fit into `MOST_LETTERS`."""
    ordered = sorted(synonyms, key=lambda one: one.casefold() != matched.casefold())
    lengths = accumulate(len(one) + 2 for one in ordered)
    many = sum(length <= MOST_LETTERS for length in lengths)
    return ordered[: max(many, 1)]


def _also(first: Sequence[str], left: int, theme: Theme) -> str:
    if not first:
        return ""
    more = f" <span style='color:{theme.muted.name()}'>{tr('and {n:,} more', n=left)}</span>" if left else ""
    label = f"<span style='color:{theme.muted.name()}'>{tr('Synonyms')}:</span>"
    return f"<p style='margin:3px 0 0 0'>{label} {escape('; '.join(first))}{more}</p>"


def path_words(names: Sequence[str]) -> str:
    """The path from the top down; a long path keeps its top and its last steps."""
    shown = list(names) if len(names) <= STEPS else [names[0], "…", *names[-(STEPS - 1) :]]
    return APART.join(shown)


def _scores(candidate: Candidate, suggestion: Suggestion, theme: Theme, larger: float) -> str:
    lead = lead_words(candidate, suggestion)
    words = f"<p style='margin:0 0 2px 0; color:{theme.muted.name()}'>{escape(lead)}</p>" if lead else ""
    return words + bars_html(candidate_bars(candidate, suggestion), theme, larger=larger)


def _head(name: str, entity_id: str, types: tuple[str, ...], theme: Theme, *, links: bool = False) -> str:
    parts = [escape(entity_id), escape(", ".join(types))]
    if links:
        uses = tr("all uses").replace(" ", "\N{NO-BREAK SPACE}")
        parts = [_link(PAGE, parts[0], theme), parts[1], _link(USES, uses, theme)]
    facts = " · ".join(part for part in parts if part)
    return f"<p style='margin:0'><b>{escape(name)}</b> <span style='color:{theme.muted.name()}'>{facts}</span></p>"


def _link(to: str, words: str, theme: Theme) -> str:
    return f"<a href='{to}' style='color:{theme.accent.name()}'>{words}</a>"


def _row(name: str, words: str, theme: Theme) -> str:
    cell = f"<td style='padding:0 10px 5px 0; color:{theme.muted.name()}; white-space:nowrap'>{name}</td>"
    return f"<tr>{cell}<td style='padding:0 0 5px 0'>{escape(words)}</td></tr>"
