"""Domains against passes over all entities, drawing against its definition."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from models.core.kb import KnowledgeBase, Ranges, order_entities
from models.types import EntityRecord
from training.data.domains import Domain, Domains, Untyped, common, joined

TYPES = [("A",), ("B",), ("A", "B"), (), ("C",), ("B", "C"), (), ("A",), ("C",), ()]
KB = order_entities(EntityRecord(f"E{n:02}", f"e{n}", types=TYPES[n % 10]) for n in range(40))
spans = st.lists(st.booleans(), max_size=14)


def rows(domain: Domain) -> list[int]:
    return [row for row in range(-1, 45) if domain.holds(np.array([row]))[0]]


def by_pass(kb: KnowledgeBase, types: set[str]) -> list[int]:
    return [row for row, entity in enumerate(kb.entities) if not types.isdisjoint(entity.types)]


def ranges(mask: list[bool]) -> Ranges:
    return joined(*(Domain(((n, n + 1),)) for n, on in enumerate(mask) if on), Domain(())).ranges


@pytest.mark.parametrize("row", range(40))
def test_an_entity_is_in_domain_with_any_of_its_types(row: int) -> None:
    types = set(KB.entities[row].types)
    domain = Domains(KB).of([row])
    assert rows(domain) == (by_pass(KB, types) if types else [row])
    assert len(domain) == len(rows(domain))


def test_without_a_type_alone_or_together() -> None:
    untyped = [row for row, entity in enumerate(KB.entities) if not entity.types]
    typed = by_pass(KB, {"A"})[0]
    assert rows(Domains(KB, untyped=Untyped.TOGETHER).of([untyped[0]])) == untyped
    own = set(KB.entities[typed].types)
    assert rows(Domains(KB).of([typed, untyped[1]])) == sorted({*by_pass(KB, own), untyped[1]})
    assert rows(Domains(KB, untyped=Untyped.TOGETHER).of([typed, untyped[1]])) == sorted({*by_pass(KB, own), *untyped})


def test_composite_mentions_have_the_domains_of_all_their_entities() -> None:
    a, c = (next(r for r, e in enumerate(KB.entities) if e.types == types) for types in (("A",), ("C",)))
    assert rows(Domains(KB).of([a, c])) == by_pass(KB, {"A", "C"})


def test_nil_mentions_have_their_types() -> None:
    domains = Domains(KB)
    assert rows(domains.of([], ("B",))) == by_pass(KB, {"B"})
    assert rows(domains.of([])) == list(range(40))
    assert rows(domains.of([], ("unknown",))) == []


def test_equal_domains_are_one_object() -> None:
    domains = Domains(KB)
    a = [row for row, entity in enumerate(KB.entities) if entity.types == ("A",)]
    assert domains.of([a[0]]) is domains.of([a[1]]) is domains.of([], ("A",))


@given(mask=spans)
@settings(deadline=None)
def test_places_are_numbered_over_the_ranges(mask: list[bool]) -> None:
    domain = Domain(ranges(mask))
    expected = [n for n, on in enumerate(mask) if on]
    assert domain.at(np.arange(len(domain))).tolist() == expected
    assert rows(domain) == expected


@given(first=spans, second=spans)
@settings(deadline=None)
def test_common_rows_of_ranges(first: list[bool], second: list[bool]) -> None:
    both = common(ranges(first), ranges(second))
    assert rows(Domain(both)) == [n for n, on in enumerate(zip(first, second, strict=False)) if all(on)]


def test_draws_are_distinct_uniform_and_leave_out() -> None:
    domain, random = Domain(((2, 5), (7, 8), (20, 26))), np.random.default_rng(8)
    without = np.array([3, 21, 1, 99])
    left = [2, 4, 7, 20, 22, 23, 24, 25]
    counts: Counter[int] = Counter()
    for _ in range(3000):
        drawn = domain.draw(random, 3, without=without).tolist()
        assert len(set(drawn)) == 3
        counts.update(drawn)
    assert set(counts) == set(left)
    expected = 3000 * 3 / len(left)
    assert sum((count - expected) ** 2 / expected for count in counts.values()) < chi2.ppf(0.999, len(left) - 1)
    assert sorted(domain.draw(random, 50, without=without).tolist()) == left
    assert domain.draw(random, 0, without=without).tolist() == []
    assert Domain(()).draw(random, 4, without=without).tolist() == []


def test_two_million_entities_take_no_pass() -> None:
    domain = Domain(((0, 700_000), (1_200_000, 2_000_000)))
    drawn = domain.draw(np.random.default_rng(0), 64, without=np.array([5]))
    assert len(set(drawn.tolist())) == 64
    assert domain.holds(drawn).all()
    assert not domain.holds(np.array([-1, 700_000, 1_199_999, 2_000_000])).any()
