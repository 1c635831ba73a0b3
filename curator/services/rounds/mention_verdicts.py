"""The verdicts of a round's curators on each mention, read once for agreement and adjudication."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from curator.domain.attributes import Attribute, AttributeValue, Given
from curator.domain.decisions import Outcome, Verdict
from curator.domain.documents import Mention
from curator.domain.rounds import Judgement, RoundMention, same_answer
from curator.services.curating.attributes import given_of
from curator.services.ports.storage import UnitOfWork


@dataclass(frozen=True, slots=True)
class MentionVerdicts:
    """The verdicts on one mention by curator. None means that the curator judged the document but did not mark this
    mention, which somebody else made in the round; curators who see it and have not judged it are absent. `attributes`
    are those that curators set; curators without any are absent."""

    document_id: int
    mention: Mention
    verdicts: Mapping[str, Verdict | None]
    attributes: Mapping[str, Given] = field(default_factory=dict)

    @property
    def common(self) -> Verdict | None:
        """The common verdict of at least two curators, which can be gold; None if they differ, including in an
        attribute's value."""
        first = next(iter(self.verdicts.values()), None)
        if len(self.verdicts) < 2 or first is None or first.outcome is Outcome.SKIPPED or self._set is None:
            return None
        return first if all(one is not None and same_answer(one, first) for one in self.verdicts.values()) else None

    @property
    def contested(self) -> bool:
        """Whether at least two curators judged differently; if all skipped, it is contested too."""
        return len(self.verdicts) > 1 and self.common is None

    @property
    def agreed_attributes(self) -> Given:
        """The attributes that curators set; empty if two set different values of an attribute. A curator who set no
        value agrees with every value."""
        return self._set or ()

    @property
    def _set(self) -> Given | None:
        found = dict[int, tuple[Attribute, AttributeValue]]()
        for name, given in self.attributes.items():
            for one, value in given if name in self.verdicts else ():
                if found.setdefault(one.id, (one, value))[1].id != value.id:
                    return None
        return tuple(found.values())


@dataclass(frozen=True, slots=True)
class JudgedDocument:
    """A document of a round: its mentions in text order, and the curators who judged all their visible mentions in
    it."""

    document_id: int
    mentions: tuple[MentionVerdicts, ...]
    complete: tuple[str, ...]


def judged_documents(unit: UnitOfWork, round_id: int) -> Iterator[JudgedDocument]:
    """The documents of a round with judgements, in queue order."""
    by_mention: dict[int, dict[str, Judgement]] = {}
    for one in unit.rounds.current(round_id):
        by_mention.setdefault(one.mention_id, {})[one.curator] = one
    setting = unit.mentions.attribute_curators(round_id)
    for document_id in unit.rounds.document_ids(round_id):
        mentions = unit.rounds.mentions(round_id, document_id)
        for item in mentions:
            for twin in item.twins:
                by_mention[item.mention.id] = by_mention.get(twin, {}) | by_mention.get(item.mention.id, {})
        present = sorted({name for one in mentions for name in by_mention.get(one.mention.id, {})})
        if present:
            ids = [number for one in mentions for number in (one.mention.id, *one.twins)]
            given = {name: given_of(unit, ids, round_id=round_id, curator=name) for name in setting}
            verdicts = tuple(
                _verdicts_on(document_id, one, by_mention.get(one.mention.id, {}), present, given) for one in mentions
            )
            complete = tuple(
                name
                for name in present
                if all(name in by_mention.get(one.mention.id, {}) for one in mentions if one.is_for(name))
            )
            yield JudgedDocument(document_id, verdicts, complete)


def _verdicts_on(
    document_id: int,
    item: RoundMention,
    judged: Mapping[str, Judgement],
    present: list[str],
    given: Mapping[str, Mapping[int, Given]],
) -> MentionVerdicts:
    verdicts: dict[str, Verdict | None] = {}
    for name in present:
        if name in judged:
            verdicts[name] = judged[name].verdict
        elif not item.is_for(name):
            verdicts[name] = None
    own = (item.mention.id, *item.twins)
    attributes = {name: next(of[one] for one in own if one in of) for name, of in given.items() if of.keys() & {*own}}
    return MentionVerdicts(document_id, item.mention, verdicts, attributes)
