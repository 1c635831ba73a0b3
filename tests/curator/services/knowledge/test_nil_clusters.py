"""Clusters of NIL mentions."""

from __future__ import annotations

import random

from curator.domain.decisions import Verdict
from curator.domain.same_string import string_key
from curator.services.knowledge.nil_clusters import NilCluster, clustered, jaccard, merged, split, trigrams
from curator.services.ports.queue import MentionContext, NilMention
from tests.curator.services.fakes import World


def nil(number: int, text: str, *, type_: str = "Disease", expanded: str = "", document: int = 0) -> NilMention:
    return NilMention(number, document or number, text, type_, string_key(text), expanded)


def names(mentions: list[NilMention]) -> list[tuple[str, tuple[int, ...]]]:
    return [(one.name, one.mention_ids) for one in clustered(mentions)]


def test_variants_of_one_string_are_one_cluster_and_types_are_apart() -> None:
    found = clustered(
        [
            nil(1, "blorbitis"),
            nil(2, "Blorbitis", document=1),
            nil(3, "snorbs"),
            nil(4, "blorbitis", type_="Chemical"),
            nil(5, "blorbitis", document=1),
        ]
    )
    assert [(one.name, one.type, one.mention_ids, one.documents) for one in found] == [
        ("blorbitis", "Disease", (1, 2, 5), 1),
        ("blorbitis", "Chemical", (4,), 1),
        ("snorbs", "Disease", (3,), 1),
    ]
    assert found[0].strings == (("blorbitis", 2), ("Blorbitis", 1))
    assert found[0].synonyms == ()


def test_an_abbreviation_goes_with_its_long_form() -> None:
    mentions = [
        nil(1, "LQTS", expanded="long QT syndrome"),
        nil(2, "long QT syndrome"),
        nil(3, "LQTS"),  # its document does not say what it means: there is one meaning
        nil(4, "CAD", expanded="coronary artery disease"),
        nil(5, "CAD", expanded="cold agglutinin disorder"),
        nil(6, "CAD"),  # which of the two?
    ]
    found = {one.mention_ids: one for one in clustered(mentions)}
    assert set(found) == {(1, 2, 3), (4,), (5,), (6,)}
    assert found[1, 2, 3].name == "long QT syndrome"
    assert found[1, 2, 3].synonyms == ("LQTS",)
    assert found[4,].name == "coronary artery disease"


def test_strings_that_are_nearly_alike_join_the_more_frequent_one() -> None:
    assert names(
        [nil(1, "blorbitic syndrome"), nil(2, "blorbitic syndrom"), nil(4, "blorbitic syndrome"), nil(3, "snorb")]
    ) == [
        ("blorbitic syndrome", (1, 2, 4)),
        ("snorb", (3,)),
    ]


def test_what_looks_alike_and_means_another_thing_stays_apart() -> None:
    pairs = [
        ("type 1 blorbitis", "type 2 blorbitis"),
        ("hyperparathyroidism", "hypoparathyroidism"),
        ("vitamin A deficiency", "vitamin B deficiency"),
        ("left blorb", "right blorb"),
    ]
    for one, other in pairs:
        assert len(clustered([nil(1, one), nil(2, other)])) == 2, one


def test_the_order_of_the_mentions_changes_nothing() -> None:
    words = ["blorbitic syndrome", "blorbitic syndromes", "blorbic syndrome", "snorb fever", "snorb fevers type"]
    mentions = [nil(n, words[n % 5], document=n // 3) for n in range(40)]
    shuffled = list(mentions)
    random.Random(3).shuffle(shuffled)
    assert clustered(shuffled) == clustered(mentions)
    assert sum(len(one.mention_ids) for one in clustered(mentions)) == 40


def test_no_chain_of_small_steps_joins_what_is_far_apart() -> None:
    chain = ["abcdefghij", "bcdefghijk", "cdefghijkl", "defghijklm", "efghijklmn", "fghijklmno"]
    mentions = [nil(n, word) for n, word in enumerate(chain)]
    for cluster in clustered(mentions):
        keys = [trigrams(string_key(text)) for text, _ in cluster.strings]
        assert max(jaccard(keys[0], one) for one in keys) == 1
        assert any(all(jaccard(first, one) >= 0.6 for one in keys) for first in keys)


def context(number: int, text: str, document: int = 1) -> MentionContext:
    return MentionContext(number, document, "d", 0, "", text, "", "Disease", None, "", None)


def test_clusters_are_merged_and_split_by_hand() -> None:
    small = NilCluster("snorb", "Disease", (("snorb", 1),), (9,), 1)
    big = NilCluster("blorb", "Disease", (("blorb", 2), ("Blorbs", 1)), (1, 2, 3), 2)
    lines = [context(9, "snorb", 3), context(1, "blorb", 1), context(2, "blorb", 2), context(3, "Blorbs", 2)]
    one = merged([small, big], lines)
    assert (one.name, sorted(one.mention_ids), one.documents) == ("blorb", [1, 2, 3, 9], 3)
    assert one.synonyms == ("Blorbs", "snorb")
    taken, rest = split(one, lines, [9, 3])
    assert (taken.mention_ids, taken.strings) == ((9, 3), (("Blorbs", 1), ("snorb", 1)))
    assert (rest.name, rest.mention_ids, rest.documents) == ("blorb", (1, 2), 2)
    assert split(one, lines, []) == split(one, lines, [1, 2, 3, 9]) == (one,)


def test_decided_and_suggested_nils_are_listed_apart(filled: World) -> None:
    project, blorb = filled.project, [filled.mentions(document)[3] for document in (1, 2)]
    assert project.nils.clusters() == project.nils.clusters(decided=False) == []
    project.curation.decide(blorb[0], Verdict.nil())
    [cluster] = project.nils.clusters()
    assert (cluster.name, cluster.mention_ids) == ("blorbitis", (blorb[0],))
    assert [one.text for one in project.nils.contexts(cluster.mention_ids)] == ["blorbitis"]
