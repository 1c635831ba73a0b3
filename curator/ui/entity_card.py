"""Everything about one entity: definition, synonyms, types, identifiers, parents, and the scores of each stage."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from html import escape

from PySide6.QtCore import QEvent, Qt
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

from curator.domain.entities import Entity
from curator.domain.suggestions import Candidate
from curator.ui.row_painting import figure
from curator.ui.theme import Theme, theme_of

Lookup = Callable[[str], Entity | None]


class EntityCard(QTextBrowser):
    """Shows an entity, or a candidate whose record `lookup` finds. Everything shown is escaped."""

    def __init__(self, lookup: Lookup, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._lookup = lookup
        self._shown: tuple[Entity | None, Candidate | None] = (None, None)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setAccessibleName("Entity")
        self.document().setDocumentMargin(12)

    def show_candidate(self, candidate: Candidate | None) -> None:
        self._show(self._lookup(candidate.entity_id) if candidate is not None else None, candidate)

    def show_entity(self, entity: Entity | None) -> None:
        self._show(entity, None)

    def _show(self, entity: Entity | None, candidate: Candidate | None) -> None:
        if (entity, candidate) == self._shown:
            return
        self._shown = (entity, candidate)
        self._render()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() is QEvent.Type.PaletteChange and hasattr(self, "_shown"):
            self._render()

    def _render(self) -> None:
        entity, candidate = self._shown
        theme = theme_of(self.palette())
        if entity is None and candidate is None:
            self.setHtml("")
        elif entity is None and candidate is not None:
            missing = f"<p style='color:{theme.muted.name()}'>The knowledge base no longer holds this entity.</p>"
            self.setHtml(_head(candidate.name, candidate.entity_id, candidate.types, theme) + missing)
        elif entity is not None:
            parents = {one: found.name for one in entity.parents[:8] if (found := self._lookup(one)) is not None}
            self.setHtml(card_html(entity, candidate, parents=parents, theme=theme))


def card_html(entity: Entity, candidate: Candidate | None, *, parents: Mapping[str, str], theme: Theme) -> str:
    """The card as rich text; `parents` gives the names of the parents that are known."""
    missing = f"<span style='color:{theme.muted.name()}'>No definition in the knowledge base.</span>"
    rows = [
        ("Synonyms", "; ".join(entity.synonyms)),
        ("Under", "; ".join(f"{parents[one]} ({one})" if one in parents else one for one in entity.parents)),
        ("Tree", ", ".join(entity.tree_numbers)),
        ("Also known as", ", ".join(entity.alt_ids)),
    ]
    parts = [
        _head(entity.name, entity.id, entity.types, theme),
        f"<p style='margin:3px 0 0 0; color:{theme.muted.name()}'>{escape(_stages(candidate))}</p>"
        if candidate
        else "",
        f"<p style='margin:6px 0 8px 0; line-height:130%'>{escape(entity.definition) or missing}</p>",
        "<table cellspacing='0' cellpadding='0'>",
        *(_row(name, words, theme) for name, words in rows if words),
        "</table>",
    ]
    return "".join(parts)


def _head(name: str, entity_id: str, types: tuple[str, ...], theme: Theme) -> str:
    facts = " · ".join(escape(part) for part in (entity_id, ", ".join(types)) if part)
    return f"<p style='margin:0'><b>{escape(name)}</b> <span style='color:{theme.muted.name()}'>{facts}</span></p>"


def _row(name: str, words: str, theme: Theme) -> str:
    cell = f"<td style='padding:0 10px 5px 0; color:{theme.muted.name()}; white-space:nowrap'>{name}</td>"
    return f"<tr>{cell}<td style='padding:0 0 5px 0'>{escape(words)}</td></tr>"


def _stages(candidate: Candidate) -> str:
    return " · ".join(f"{stage} {figure(score)}" for stage, score in candidate.scores.items())
