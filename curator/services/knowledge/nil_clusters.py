"""Clusters of NIL mentions that may mean the same missing entity, for a curator to name.

1. Mentions of one type with the same string (`domain.same_string`) belong together. An abbreviation with a long form in
   its document belongs to the long form; one without belongs there too if its type has only one long form of it.
2. Of the groups of one type, most mentions first, each joins the cluster with the most similar first string, by the
   Jaccard coefficient of character trigrams, if it is at least LIKE; else it begins a new cluster. Comparing only with
   first strings prevents chains of small differences. Strings with different numbers, single letters or opposite
   prefixes (hypo-, hyper-) never join: they name different things, even if they look similar.

The result depends only on the mentions. It is a proposal: the curator unticks, splits and merges.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from curator.domain.same_string import string_key
from curator.services.core.context import Service
from curator.services.core.keys import active_bundle
from curator.services.ports.queue import MentionContext, NilMention

LIKE = 0.6
"""Least Jaccard coefficient of trigrams: “blorbitic syndrome” and “blorbitic syndromes type” join, “left” and “right”
do not."""
_TELLING = re.compile(r"[0-9]+|\b[^\W\d_]\b|\b(?:hyper|hypo|anti|non|pre|post|pro|intra|inter|endo|exo|micro|macro)")
Grams = frozenset[str]


@dataclass(frozen=True, slots=True)
class NilCluster:
    """Mentions of one type; `strings` are their texts with numbers, the most frequent first. `name` is the name for a
    new entity: a long form if there is one."""

    name: str
    type: str
    strings: tuple[tuple[str, int], ...]
    mention_ids: tuple[int, ...]
    documents: int

    @property
    def synonyms(self) -> tuple[str, ...]:
        """The other strings; of those that differ only in case, one."""
        seen = {self.name.casefold(): self.name}
        for text, _ in self.strings:
            seen.setdefault(text.casefold(), text)
        return tuple(seen.values())[1:]


class NilService(Service):
    """Read-only; a call costs up to a second with ten thousand NIL mentions: call it in a worker thread."""

    def clusters(self, *, decided: bool = True) -> list[NilCluster]:
        """The clusters of mentions decided NIL, or else of undecided ones with a NIL suggestion; the largest first."""
        with self._store.read() as unit:
            mentions = unit.links.nils(decided=decided)
        return clustered(mentions)

    def contexts(self, mention_ids: Sequence[int]) -> list[MentionContext]:
        """The mentions with the text around them, in the given order."""
        with self._store.read() as unit:
            return unit.queue.contexts(mention_ids, bundle_id=active_bundle(unit.meta))


def clustered(mentions: Iterable[NilMention]) -> list[NilCluster]:
    """The clusters, largest first, then by name and type."""
    groups = _groups(list(mentions))
    clusters: dict[str, _Clusters] = defaultdict(_Clusters)
    for (type_, key), members in sorted(groups.items(), key=lambda item: (-len(item[1]), item[0])):
        clusters[type_].add(key, members)
    made = (_cluster(type_, members) for type_, found in clusters.items() for members in found.members)
    return sorted(made, key=_order)


def merged(clusters: Sequence[NilCluster], mentions: Sequence[MentionContext]) -> NilCluster:
    """One cluster from several, with the name and type of the largest; `mentions` are all of theirs.

    Raises ValueError without any cluster.
    """
    biggest = min(clusters, key=_order)
    ids = [one for cluster in clusters for one in cluster.mention_ids]
    strings: Counter[str] = Counter()
    for cluster in clusters:
        strings.update(dict(cluster.strings))
    documents = len({one.document_id for one in mentions if one.mention_id in set(ids)})
    return NilCluster(biggest.name, biggest.type, _frequent(strings), tuple(ids), documents)


def split(cluster: NilCluster, mentions: Sequence[MentionContext], apart: Iterable[int]) -> tuple[NilCluster, ...]:
    """The mentions in `apart` and the rest as separate clusters; only one if either is empty.

    `mentions` are those of the cluster.
    """
    wanted = set(apart)
    taken = [one for one in mentions if one.mention_id in wanted]
    rest = [one for one in mentions if one.mention_id not in wanted]
    return tuple(_of_contexts(cluster, part) for part in (taken, rest)) if taken and rest else (cluster,)


def _of_contexts(cluster: NilCluster, mentions: Sequence[MentionContext]) -> NilCluster:
    strings = _frequent(Counter(one.text for one in mentions))
    texts = {text for text, _ in strings}
    others = {text for text, _ in cluster.strings}
    name = cluster.name if cluster.name in texts or cluster.name not in others else strings[0][0]
    ids = tuple(one.mention_id for one in mentions)
    return NilCluster(name, cluster.type, strings, ids, len({one.document_id for one in mentions}))


def _order(cluster: NilCluster) -> tuple[int, str, str, int]:
    return -len(cluster.mention_ids), cluster.name.casefold(), cluster.type, cluster.mention_ids[0]


def _groups(mentions: Sequence[NilMention]) -> dict[tuple[str, str], list[NilMention]]:
    """Groups by type and string, abbreviations with their long forms."""
    long_forms: dict[tuple[str, str], set[str]] = defaultdict(set)
    for one in mentions:
        if one.expanded:
            long_forms[one.type, one.key].add(string_key(one.expanded))
    groups: dict[tuple[str, str], list[NilMention]] = defaultdict(list)
    for one in mentions:
        known = long_forms.get((one.type, one.key), set())
        key = string_key(one.expanded) if one.expanded else next(iter(known)) if len(known) == 1 else one.key
        groups[one.type, key].append(one)
    return groups


@dataclass(slots=True)
class _Clusters:
    """Clusters of one type being built, with an index of the trigrams in their first strings."""

    members: list[list[NilMention]] = field(default_factory=list)
    firsts: list[tuple[Grams, tuple[str, ...]]] = field(default_factory=list)
    holding: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def add(self, key: str, members: Sequence[NilMention]) -> None:
        grams, telling = trigrams(key), tuple(sorted(_TELLING.findall(key)))
        at = self._nearest(grams, telling)
        if at is None:
            at = len(self.firsts)
            self.members.append([])
            self.firsts.append((grams, telling))
            for gram in grams:
                self.holding[gram].append(at)
        self.members[at] += members

    def _nearest(self, grams: Grams, telling: tuple[str, ...]) -> int | None:
        """The most similar cluster, of equals the first. A similarity of LIKE needs so many common trigrams that one of
        the few rarest must be among them."""
        rare = sorted(grams, key=lambda gram: (len(self.holding.get(gram, ())), gram))
        probed = rare[: len(grams) - _needed(len(grams)) + 1]
        places = {at for gram in probed for at in self.holding.get(gram, ()) if self._may(len(grams), telling, at)}
        best = max(((jaccard(grams, self.firsts[at][0]), -at) for at in places), default=(0.0, 0))
        return -best[1] if best[0] >= LIKE else None

    def _may(self, size: int, telling: tuple[str, ...], at: int) -> bool:
        """Whether sets of these sizes can be similar enough."""
        first, told = self.firsts[at]
        return LIKE * len(first) <= size and LIKE * size <= len(first) and told == telling


def _needed(size: int) -> int:
    """The fewest trigrams that a set must share for a Jaccard coefficient of LIKE."""
    return max(int(-(-LIKE * size // 1)), 1)


def trigrams(key: str) -> Grams:
    """The trigrams of every word padded with spaces; a word of one letter is one trigram."""
    return frozenset(gram for word in key.split() for gram in _of_word(f" {word} "))


def jaccard(one: Grams, other: Grams) -> float:
    """Common trigrams as a share of all of both; 0 for none."""
    common = len(one & other)
    return common / (len(one) + len(other) - common) if common else 0.0


def _of_word(padded: str) -> Iterator[str]:
    for at in range(len(padded) - 2):
        yield padded[at : at + 3]


def _cluster(type_: str, members: Sequence[NilMention]) -> NilCluster:
    strings = _frequent(Counter(one.text for one in members))
    expanded = _frequent(Counter(one.expanded for one in members if one.expanded))
    long_keys = {string_key(text) for text, _ in expanded}
    spelt = next((text for text, _ in strings if string_key(text) in long_keys), None)
    name = spelt or (expanded[0][0] if expanded else strings[0][0])
    ids = tuple(sorted(one.mention_id for one in members))
    return NilCluster(name, type_, strings, ids, len({one.document_id for one in members}))


def _frequent(strings: Counter[str]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted(strings.items(), key=lambda item: (-item[1], item[0])))
