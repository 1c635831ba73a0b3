"""Converts annotations of a file to decisions by `import:FILE`."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from curator.domain.curies import kind_of, kinds_of, local_part, with_prefix
from curator.domain.decisions import FileDecision, Outcome, Verdict
from curator.domain.documents import DocumentState, SourceDocument, SourceMention, Split
from curator.domain.entities import WIKI, Entity, KnowledgeSource
from curator.domain.wording import ntr, tr
from curator.services.knowledge.knowledge import types_by_name
from curator.services.ports.files import Problem
from curator.services.ports.processes import Clock
from curator.services.ports.storage import UnitOfWork

# Curators' data in the program's own files: decisions, comments and flags are restored.

Stored = tuple[SourceDocument, tuple[int, list[int]]]


def restore_comments(unit: UnitOfWork, documents: Sequence[Stored]) -> None:
    """Restore comments with their authors and times, and flags."""
    for source, (document_id, mention_ids) in documents:
        for one in source.comments:
            unit.comments.add(document_id, None, author=one.author, at=one.at, text=one.text)
        if source.flagged:
            unit.documents.flag_documents([document_id], True)
        for mention_id, mention in zip(mention_ids, source.mentions, strict=True):
            for one in mention.comments:
                unit.comments.add(document_id, mention_id, author=one.author, at=one.at, text=one.text)
        if flagged := [at for at, one in zip(mention_ids, source.mentions, strict=True) if one.flagged]:
            unit.mentions.flag_mentions(flagged, True)


def restore_splits(unit: UnitOfWork, documents: Sequence[Stored], *, wished: Split) -> None:
    """Restore the splits in the file, unless another than the default split is requested for all documents."""
    if wished is not Split.TRAIN:
        return
    splits: dict[Split, list[int]] = defaultdict(list)
    for source, (document_id, _) in documents:
        if source.split not in (None, wished):
            splits[source.split or wished].append(document_id)
    for split, ids in splits.items():
        unit.documents.set_split(ids, split)


def restore_decisions(unit: UnitOfWork, documents: Sequence[Stored], counts: Counter[str]) -> None:
    """Restore decisions with their curators, times and notes, and the documents' states.

    A link keeps its entities that are in the knowledge base. If there are none, it is left out and counted, and its
    mention stays undecided.
    """
    found = [
        (mention_id, mention.decision)
        for source, (_, mention_ids) in documents
        for mention_id, mention in zip(mention_ids, source.mentions, strict=True)
        if mention.decision is not None
    ]
    resolved = unit.kb.resolve({one for _, decision in found for one in decision.verdict.entity_ids})
    groups: dict[tuple[str, datetime], list[tuple[int, FileDecision, Verdict]]] = defaultdict(list)
    for mention_id, decision in found:
        verdict = _held(decision.verdict, resolved)
        if verdict is None:
            counts["decisions left out"] += 1
        else:
            groups[decision.curator, decision.at].append((mention_id, decision, verdict))
    for (curator, at), group in sorted(groups.items(), key=lambda one: one[0][1]):
        unit.decisions.append(
            [mention_id for mention_id, _, _ in group],
            [verdict for _, _, verdict in group],
            curator=curator,
            at=at,
            operation_id=0,
            shown=[None] * len(group),
            notes=[decision.note for _, decision, _ in group],
        )
    counts["decisions"] += sum(map(len, groups.values()))
    _restore_states(unit, documents)


def says_more(source: SourceDocument) -> bool:
    """Whether a document has decisions and a state."""
    return source.state is not None or any(one.decision is not None for one in source.mentions)


def _held(verdict: Verdict, resolved: Mapping[str, str]) -> Verdict | None:
    if verdict.outcome is not Outcome.LINK:
        return verdict
    held = tuple(dict.fromkeys(resolved[one] for one in verdict.entity_ids if one in resolved))
    return Verdict.link(*held) if held else None


def _restore_states(unit: UnitOfWork, documents: Sequence[Stored]) -> None:
    states = {document_id: source.state for source, (document_id, _) in documents if source.state is not None}
    unit.documents.set_states(states)


MOST_PROBLEMS = 50
MOST_UNCLEAR = 10_000
"""Mentions with an ambiguous id, or a number of another type, that are listed one by one; the others are counted."""
AMBIGUOUS, OTHER_TYPE = "left undecided, ambiguous", "left undecided, of another type"
"""Words of the report's counts."""
UNCLEAR = {
    AMBIGUOUS: 'document {document}: "{mention}" ({type}): id {id} matches {entities}: left undecided',
    OTHER_TYPE: 'document {document}: "{mention}" ({type}): id {id} is {entities} in the knowledge base, of another '
    "type: left undecided",
}
KEPT, ELSEWHERE = "kept", "elsewhere"
"""Links to an entity of another type, by an id that names its vocabulary; links of a wiki to a title that only another
has."""
ONE = {
    "unclear": "{n} more mention has an ambiguous id, or one of another type: left undecided",
    "unresolved": "{n} more id is not in the knowledge base",
    "bare": "the knowledge base has {n} of these ids without a prefix and without its vocabulary ({first}). If it is "
    "the same id, import the knowledge base again and name the vocabulary of its ids.",
    KEPT: "{n} mention links to an entity of another type, by an id that names its vocabulary: kept (document {first})",
    ELSEWHERE: "{n} link leads to a title that its wiki does not have, but another one in the knowledge base: NIL "
    "(document {first})",
    "left out": "{n} decision links to entities that are not in the knowledge base: left undecided",
}
SEVERAL = {
    "unclear": "{n:,} more mentions have an ambiguous id, or one of another type: left undecided",
    "unresolved": "{n:,} more ids are not in the knowledge base",
    "bare": "the knowledge base has {n:,} of these ids without their prefixes and without their vocabulary (for "
    "example {first}). If they are the same ids, import the knowledge base again and name the vocabulary of its ids.",
    KEPT: "{n:,} mentions link to entities of another type, by ids that name their vocabulary: kept (first: document "
    "{first})",
    ELSEWHERE: "{n:,} links lead to titles that their wiki does not have, but another one in the knowledge base: NIL "
    "(first: document {first})",
    "left out": "{n:,} decisions link to entities that are not in the knowledge base: left undecided",
}
"""What the report says in sum, of one and of several."""


@dataclass(frozen=True, slots=True)
class _Ids:
    """The meanings of the ids of some mentions: `resolved` by id, and for ambiguous ids the matching entities. The ids
    of mentions of a wiki that is in the knowledge base are titles and mean only its pages: `titles` are the entities
    that each may mean, the best first."""

    given: Collection[str]
    resolved: Mapping[str, str]
    fitting: Mapping[str, tuple[str, ...]]
    types: Mapping[str, Collection[str]]  # of the entities
    kinds: Mapping[str, Collection[str]]  # of the same, by the vocabularies of their ids
    allowed: Mapping[str, frozenset[str]]  # mention type -> the types of entities that it may have
    wikis: Mapping[str, frozenset[str]]  # mention type -> those of these types that are wikis
    titles: Mapping[str, Sequence[str]]

    @classmethod
    def of(cls, unit: UnitOfWork, mentions: Sequence[SourceMention]) -> _Ids:
        given = {one for mention in mentions for one in mention.ids}
        info, mapping = unit.kb.info(), unit.meta.type_mapping()
        known = info.types if info is not None else ()
        allowed = {
            one: frozenset(mapping.types_for(one) or types_by_name(one, known))
            for one in {mention.type for mention in mentions}
        }
        every = _wikis(unit)
        wikis = {one: every & types for one, types in allowed.items()}
        resolved = unit.kb.resolve(given)
        fitting = unit.kb.ambiguous(given - resolved.keys())
        matching = unit.kb.matching({one for mention in mentions if wikis[mention.type] for one in mention.ids})
        checked = {*resolved.values(), *(one for found in (fitting, matching) for ids in found.values() for one in ids)}
        entities = unit.kb.get_many(sorted(checked))
        titles = {title: _exact_first(title, [entities[one] for one in ids]) for title, ids in matching.items()}
        types = {one.id: one.types for one in entities.values()}
        sources = unit.kb.sources()
        only = sources[0] if len(sources) == 1 else KnowledgeSource("")
        kinds = {one: kinds_of(with_prefix(one, only.vocabulary_of(types[one]))) for one in types}
        return cls(given, resolved, fitting, types, kinds, allowed, wikis, titles)

    def entity(self, given: str, mention_type: str) -> str:
        """The entity of an id; if several match, the only one of the mention's type; '' for none. For a wiki's title,
        the page of this wiki."""
        if own := self.wikis[mention_type]:
            return next((one for one in self.titles.get(given, ()) if not own.isdisjoint(self.types[one])), "")
        if given not in self.fitting:
            return self.resolved.get(given, "")
        found = [one for one in self.fitting[given] if self._fits(one, mention_type)]
        return found[0] if len(found) == 1 else ""

    def is_ambiguous(self, given: str, mention_type: str) -> bool:
        """Whether several entities match an id, and the mention's type does not decide between them."""
        return given in self.fitting and not self.wikis[mention_type] and not self.entity(given, mention_type)

    def elsewhere(self, given: str, mention_type: str) -> bool:
        """Whether an id of a wiki's mention is the title only of something outside the wiki."""
        return bool(self.wikis[mention_type] and self.titles.get(given) and not self.entity(given, mention_type))

    def bare(self, unit: UnitOfWork) -> set[str]:
        """The ids that do not resolve, but would without their prefixes."""
        missing = {one for one in self.given if one not in self.resolved and one not in self.fitting}
        parts = {local: one for one in missing if (local := local_part(one))}
        return {parts[one] for one in unit.kb.held(parts)} if parts else set()

    def contradicts(self, given: str, mention_type: str) -> bool:
        """Whether an id is a mere number, and its only entity is of another type than the mention. Other ids name their
        vocabulary, by their prefix or their form, and mean their entity with any type of mention: ARCHITECTURE.md says
        why, under "Decisions that affect several rooms"."""
        if self.wikis[mention_type]:
            return False
        return given.isdecimal() and self.differs(self.resolved.get(given, ""), mention_type)

    def differs(self, entity: str, mention_type: str) -> bool:
        """Whether an entity is known to be of another type than a mention."""
        return bool(entity) and self._fits(entity, mention_type) is False

    def _fits(self, entity: str, mention_type: str) -> bool | None:
        """Whether the entity is of the mention's type; None if this is not known."""
        types, allowed, kind = self.types.get(entity, ()), self.allowed[mention_type], kind_of(mention_type)
        kinds = set(map(kind_of, types)) - {""} or set(self.kinds.get(entity, ()))
        if not allowed.isdisjoint(types) or kind in kinds:
            return True
        return False if (allowed and types) or (kind and kinds) else None


def _exact_first(title: str, pages: Sequence[Entity]) -> list[str]:
    """The ids of the pages, first of those with exactly this title or redirect, case included."""
    return [one.id for one in sorted(pages, key=lambda one: title not in (one.id, *one.alt_ids))]


def _wikis(unit: UnitOfWork) -> frozenset[str]:
    """The types of the entities that come from wikis' dumps."""
    found, start = set[str](), 0
    for source in unit.kb.sources():
        if source.format == WIKI:
            found.update(one for entity in unit.kb.part(start, 1) for one in entity.types)
        start += source.entities
    return frozenset(found)


class GoldWriter:
    """Appends one decision for each annotation with a link or NIL, with nothing shown.

    A mention links to all of its ids that resolve, primary or alternate; it is NIL if none does or the file states it.
    If an id without prefix matches several entities, the mention's type decides; a number means no entity of another
    type. A wiki's title means only a page of that wiki, if the knowledge base has the wiki. Links of other ids to an
    entity of another type are kept and counted in a note. A mention with an id that stays ambiguous, with a number of
    another type, or without any statement, stays undecided. Documents without an undecided mention are done.
    """

    def __init__(self, file_name: str, clock: Clock) -> None:
        self._curator = f"import:{file_name}"
        self._clock = clock
        self._unresolved: Counter[str] = Counter()
        self._first: dict[str, tuple[int, str]] = {}  # unresolved id -> line and document of its first mention
        self._bare: set[str] = set()  # unresolved ids that the knowledge base has without their prefix
        self._unclear: list[Problem] = []
        self._summed: Counter[str] = Counter()  # KEPT and ELSEWHERE
        self._firsts: dict[str, tuple[int, str]] = {}  # line and words of the first of each
        self.counts: Counter[str] = Counter()

    def write(self, unit: UnitOfWork, documents: Sequence[Stored], *, finish: bool = True) -> None:
        """Write the gold. Decisions in documents that have them are restored, each with its curator. Without `finish`
        no document becomes done, since it has other mentions."""
        restored = [one for one in documents if says_more(one[0])]
        if restored:
            restore_decisions(unit, restored, self.counts)
            documents = [one for one in documents if not says_more(one[0])]
        ids_of = _Ids.of(unit, [mention for source, _ in documents for mention in source.mentions])
        self._bare |= ids_of.bare(unit)
        mention_ids: list[int] = []
        verdicts: list[Verdict] = []
        for source, (document_id, ids) in documents:
            found = [self._verdict(source, mention, ids_of) for mention in source.mentions]
            decided = [(i, v) for i, v in zip(ids, found, strict=True) if v is not None]
            mention_ids += [i for i, _ in decided]
            verdicts += [v for _, v in decided]
            if finish and len(decided) == len(found):
                unit.documents.set_state(document_id, DocumentState.DONE)
        self._append(unit, mention_ids, verdicts)

    def problems(self) -> list[Problem]:
        """Mentions that stay undecided because of their ids; one note for each id missing from the knowledge base, most
        frequent first; then what is only counted."""
        common = self._unresolved.most_common(MOST_PROBLEMS)
        counts = {
            "unclear": self.counts[AMBIGUOUS] + self.counts[OTHER_TYPE] - len(self._unclear),
            "unresolved": len(self._unresolved) - len(common),
            "bare": len(self._bare),
            **self._summed,
            "left out": self.counts["decisions left out"],
        }
        firsts = {**self._firsts, "bare": (0, ", ".join(sorted(self._bare)[:3]))}
        notes = [*self._unclear, *(self._problem(unresolved, number) for unresolved, number in common)]
        for why, number in counts.items():
            if number > 0:
                line, first = firsts.get(why, (0, ""))
                notes.append(Problem(line, "note", ntr(ONE[why], SEVERAL[why], number, first=first)))
        return notes

    def _verdict(self, source: SourceDocument, mention: SourceMention, ids_of: _Ids) -> Verdict | None:
        meant = {one: ids_of.entity(one, mention.type) for one in mention.ids}
        if unclear := [one for one in meant if ids_of.is_ambiguous(one, mention.type)]:
            self._note(AMBIGUOUS, source, mention, {one: ids_of.fitting[one] for one in unclear})
            return None
        if others := [one for one in meant if ids_of.contradicts(one, mention.type)]:
            self._note(OTHER_TYPE, source, mention, {one: (meant[one],) for one in others})
            return None
        for one in (unresolved := [one for one, entity in meant.items() if not entity]):
            if ids_of.elsewhere(one, mention.type):
                self._sum_up(ELSEWHERE, source, one)
                continue
            self._unresolved[one] += 1
            self._first.setdefault(one, (source.line, source.external_id))
        self.counts["unresolved ids"] += len(unresolved)
        if ids := tuple(dict.fromkeys(one for one in meant.values() if one)):
            if other := next((one for one in ids if ids_of.differs(one, mention.type)), ""):
                types = ", ".join(ids_of.types[other])
                shown = f"{other} ({types})" if types else other
                self._sum_up(KEPT, source, f'"{mention.text[:80]}" ({mention.type}), {shown}')
            self.counts["linked"] += 1
            return Verdict.link(*ids)
        if mention.nil or mention.ids:
            self.counts["nil"] += 1
            return Verdict.nil()
        self.counts["without a statement"] += 1
        return None

    def _note(
        self, why: str, source: SourceDocument, mention: SourceMention, meant: Mapping[str, Sequence[str]]
    ) -> None:
        """Count the mention, and note the entities that its ids may mean."""
        self.counts[why] += 1
        if len(self._unclear) == MOST_UNCLEAR:
            return
        words = tr(
            UNCLEAR[why],
            document=source.external_id,
            mention=mention.text[:80],
            type=mention.type,
            id=", ".join(meant),
            entities=", ".join(dict.fromkeys(one for several in meant.values() for one in several)),
        )
        self._unclear.append(Problem(source.line, "note", words))

    def _sum_up(self, why: str, source: SourceDocument, words: str) -> None:
        self._summed[why] += 1
        self._firsts.setdefault(why, (source.line, f"{source.external_id}, {words}"))

    def _append(self, unit: UnitOfWork, mention_ids: Sequence[int], verdicts: Sequence[Verdict]) -> None:
        if mention_ids:
            unit.decisions.append(
                mention_ids,
                verdicts,
                curator=self._curator,
                at=self._clock.now(),
                operation_id=0,
                shown=[None] * len(mention_ids),
            )

    def _problem(self, unresolved: str, number: int) -> Problem:
        line, document = self._first[unresolved]
        text = ntr(
            "id {id} is not in the knowledge base (once, in document {document}): NIL unless the "
            "mention has another id that is",
            "id {id} is not in the knowledge base ({n:,} times, first in document {document}): NIL "
            "unless the mention has another id that is",
            number,
            id=unresolved,
            document=document,
        )
        return Problem(line, "note", text)
