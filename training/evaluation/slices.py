"""The slices of a mention. They depend on text, gold and knowledge base, never on a linker's answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from models.core.kb import KnowledgeBase
from models.text.abbreviations import abbreviation_table, expand, is_short_form
from training.data.gold import GoldMention, GoldSet, fold
from training.data.snapshot import SnapshotDocument


class NameClass(StrEnum):
    """How the words of a mention resemble the names of its gold entity, from easy to hard: the preferred name; another
    name; the preferred name without what is in brackets at its end; part of a name; none of these. The values, with
    spaces, are the names of slices. The program classifies in the same way (`curator.domain.same_string`)."""

    SAME = "same_name"
    OTHER_NAME = "another_name"
    NO_BRACKETS = "name_without_brackets"
    PART = "part_of_a_name"
    OTHER = "other_words"


def name_class(surface: str, names: Sequence[str]) -> NameClass:
    """The class of a folded surface. `names` begin with the preferred name. The name without brackets counts as such
    even if it is also listed as a synonym, as readers of wikis do."""
    folded = [fold(name) for name in names]
    first = folded[0] if folded else ""
    if surface == first:
        return NameClass.SAME
    if first.endswith(")") and surface == first.rpartition("(")[0].strip():
        return NameClass.NO_BRACKETS
    if surface in folded:
        return NameClass.OTHER_NAME
    return NameClass.PART if any(surface in name for name in folded) else NameClass.OTHER


@dataclass(frozen=True, slots=True)
class SliceFacts:
    """The facts that define slices; None leaves out the slices that need it.

    `surfaces` (with the documents in which each was decided) and `seen_entities` are the training set's. `names` maps
    a folded name to the entities that have it, `names_of` an entity to its names, the preferred one first, `kinds` an
    entity to its types. `long_forms` are the abbreviations that each document defines. `tuned_nil_types` are the types
    with a NIL mention in the split that tunes the NIL threshold.
    """

    surfaces: Mapping[str, frozenset[str]] | None = None
    seen_entities: frozenset[str] | None = None
    names: Mapping[str, tuple[str, ...]] | None = None
    names_of: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    kinds: Mapping[str, frozenset[str]] = field(default_factory=dict)
    long_forms: Mapping[str, Mapping[str, str]] | None = None
    tuned_nil_types: frozenset[str] | None = None

    def seen(self, mention: GoldMention) -> bool | None:
        """Whether the training set has the mention's surface in another document; None if no training set is known."""
        if self.surfaces is None:
            return None
        return bool(self.surfaces.get(mention.surface, frozenset()) - {mention.document})

    def name_class(self, mention: GoldMention) -> NameClass | None:
        """The easiest class among the mention's gold entities; None for NIL, or if their names are not known."""
        found = {name_class(mention.surface, self.names_of[one]) for one in mention.ids if one in self.names_of}
        return next((one for one in NameClass if one in found), None)


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
        names_of={entity.id: entity.names for entity in kb.entities},
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
    if (words := facts.name_class(mention)) is not None:
        found.append(words.replace("_", " "))
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
