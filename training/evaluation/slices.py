"""The slices of a mention. They depend on text, gold and knowledge base, never on a linker's answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from models.core import KnowledgeBase
from models.text import abbreviation_table, expand, is_short_form
from training.data import GoldMention, GoldSet, SnapshotDocument, fold


@dataclass(frozen=True, slots=True)
class SliceFacts:
    """The facts that define slices; None leaves out the slices that need it.

    `surfaces` (with the documents in which each was decided) and `seen_entities` are the training set's. `names` maps
    a folded name to the entities that have it, `kinds` an entity to its types. `long_forms` are the abbreviations that
    each document defines. `tuned_nil_types` are the types with a NIL mention in the split that tunes the NIL threshold.
    """

    surfaces: Mapping[str, frozenset[str]] | None = None
    seen_entities: frozenset[str] | None = None
    names: Mapping[str, tuple[str, ...]] | None = None
    kinds: Mapping[str, frozenset[str]] = field(default_factory=dict)
    long_forms: Mapping[str, Mapping[str, str]] | None = None
    tuned_nil_types: frozenset[str] | None = None

    def seen(self, mention: GoldMention) -> bool | None:
        """Whether the training set has the mention's surface in another document; None if no training set is known."""
        if self.surfaces is None:
            return None
        return bool(self.surfaces.get(mention.surface, frozenset()) - {mention.document})


def slice_facts(
    documents: Iterable[SnapshotDocument],
    kb: KnowledgeBase,
    *,
    train: GoldSet | None = None,
    tuned: GoldSet | None = None,
) -> SliceFacts:
    """Facts about `documents`, the training set (None: nothing is "seen") and the validation decisions."""
    names: dict[str, dict[str, None]] = {}
    for entity in kb.entities:
        for name in entity.names:
            names.setdefault(fold(name), {})[entity.id] = None
    return SliceFacts(
        surfaces=train.surfaces if train else None,
        seen_entities=frozenset(one for mention in train.mentions for one in mention.ids) if train else None,
        names={name: tuple(ids) for name, ids in names.items()},
        kinds={entity.id: frozenset(entity.types) for entity in kb.entities},
        long_forms={document.key: abbreviation_table(document.text) for document in documents},
        tuned_nil_types=frozenset(t for m in tuned.mentions if m.nil for t in m.types) if tuned else None,
    )


def slice_names(mention: GoldMention, facts: SliceFacts) -> list[str]:
    """ "single" or "composite", "type: T" for every allowed type, and the slices that `facts` define."""
    found = ["composite" if mention.composite else "single"]
    found += [f"type: {kind}" for kind in mention.types or ("any",)]
    if (seen := facts.seen(mention)) is not None:
        found.append("seen surface" if seen else "unseen surface")
    if facts.seen_entities is not None and not mention.nil:
        found.append("unseen entity" if facts.seen_entities.isdisjoint(mention.ids) else "seen entity")
    if facts.names is not None:
        found += _name_slices(mention, facts, facts.names)
    if facts.long_forms is not None:
        found += _abbreviation_slices(mention, facts.long_forms.get(mention.document, {}))
    if facts.tuned_nil_types is not None and mention.types:
        known = not facts.tuned_nil_types.isdisjoint(mention.types)
        found.append("type with NIL in tuning" if known else "type without NIL in tuning")
    return found


def _name_slices(mention: GoldMention, facts: SliceFacts, names: Mapping[str, Sequence[str]]) -> list[str]:
    """ "homonym": several entities that the mention may link to have its surface form as a name (ignoring case). "exact
    match": a gold entity has this name; "no exact match": none has."""
    named = [one for one in names.get(mention.surface, ()) if _allowed(one, mention, facts)]
    found = ["homonym"] if len(named) > 1 else []
    if not mention.nil:
        found.append("no exact match" if set(named).isdisjoint(mention.ids) else "exact match")
    return found


def _allowed(entity: str, mention: GoldMention, facts: SliceFacts) -> bool:
    return not mention.types or not facts.kinds.get(entity, frozenset()).isdisjoint(mention.types)


def _abbreviation_slices(mention: GoldMention, long_forms: Mapping[str, str]) -> list[str]:
    """ "abbreviation": the surface looks like a short form, with or without a definition in the document."""
    text = mention.raw.strip()
    if not is_short_form(text) or sum(c.isupper() or c.isdigit() for c in text) < 2:
        return []
    defined = expand(text, long_forms) != text
    return ["abbreviation", "abbreviation, defined" if defined else "abbreviation, not defined"]
