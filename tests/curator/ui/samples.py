"""Documents, mentions and suggestions for the tests of the widgets; texts are invented."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime

from curator.domain.decisions import Decision, Shown, ShownCandidate, Verdict
from curator.domain.documents import Document, DocumentState, Mention, MentionOrigin, Passage, Span, Split, slice_spans
from curator.domain.entities import Entity
from curator.domain.suggestions import Candidate, NilEstimate, Stamp, Suggestion
from curator.services.queue.queue import MentionView, OpenDocument

TITLE = "A 🫀 warning about tacrolimus"
BODY = "Na\u0308ive 🧬🧬 patients on FK506 had acute renal failure, and left or right ventricular failure."
TEXT = f"{TITLE}\n{BODY}"
AT = datetime(2026, 11, 20, 10, 42, 7, tzinfo=UTC)
ENTITY = Entity(
    "MESH:D016559",
    "Tacrolimus",
    ("FK506", "Fujimycin"),
    ("Chemical",),
    "A macrolide <lactone> & more.",
    ("MESH:C1",),
    ("D02.540",),
    ("MESH:D018942",),
)
PARENT = Entity("MESH:D018942", "Macrolides")


def lookup(entity_id: str) -> Entity | None:
    return {ENTITY.id: ENTITY, PARENT.id: PARENT}.get(entity_id)


def span(words: str, text: str = TEXT) -> Span:
    start = text.index(words)
    return Span(start, start + len(words))


def document(text: str = TEXT, **changes: object) -> Document:
    passages: tuple[Passage, ...] = (Passage("section", 0, len(text)),)
    if text == TEXT:
        passages = (Passage("title", 0, len(TITLE)), Passage("abstract", len(TITLE) + 1, len(TEXT), "RESULTS"))
    made = Document(1, 1, "9041187", 0, TITLE, text, passages, Split.TRAIN, DocumentState.IN_PROGRESS, 1)
    return replace(made, **changes)  # type: ignore[arg-type]


def suggestion(mention_id: int, count: int = 3, *, nil: bool = False, expanded: str = "") -> Suggestion:
    names = ["Tacrolimus", "Sirolimus", *(f"Entity {i}" for i in range(2, count))][:count]
    candidates = tuple(
        Candidate(
            f"MESH:D{16559 + i:06d}", name, ("Chemical",), "FK506" if i == 0 else name, 0.9 / (i + 1), {"lexical": 0.8}
        )
        for i, name in enumerate(names)
    )
    return Suggestion(mention_id, candidates, NilEstimate(0.7 if nil else 0.1, nil, False), Stamp("b1", 1), expanded)


def decision(mention_id: int, verdict: Verdict, *, curator: str = "Anna", at: datetime = AT) -> Decision:
    shown = Shown("b1", tuple(ShownCandidate(f"MESH:D{16559 + i:06d}", 0.9 / (i + 1)) for i in range(3)), 0.1)
    return Decision(mention_id, mention_id, verdict, curator, at, shown)


def view(
    mention_id: int,
    *spans: Span,
    verdict: Verdict | None = None,
    text: str = TEXT,
    made: Suggestion | None = None,
    stale: bool = False,
) -> MentionView:
    mention = Mention(mention_id, 1, spans, slice_spans(text, spans), "Chemical", MentionOrigin.SOURCE)
    decided = decision(mention_id, verdict) if verdict is not None else None
    return MentionView(mention, decided, made or suggestion(mention_id), stale)


def opened(views: Sequence[MentionView] | None = None) -> OpenDocument:
    chosen = views or (
        view(1, span("tacrolimus"), verdict=Verdict.link("MESH:D016559")),
        view(2, span("FK506")),
        view(3, span("acute renal failure"), verdict=Verdict.nil()),
        view(4, span("renal failure"), verdict=Verdict.reject()),
        view(5, span("left"), span("ventricular failure"), verdict=Verdict.skip()),
    )
    return OpenDocument(document(), tuple(chosen))
