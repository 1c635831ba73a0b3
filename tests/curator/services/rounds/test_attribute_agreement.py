"""Agreement of a round's curators over attributes."""

from __future__ import annotations

import pytest

from curator.domain.attributes import Scheme
from tests.curator.services.fakes import World


def test_attributes_are_compared_over_values_of_two_curators(filled: World) -> None:
    project, (first, second, third, _) = filled.project, filled.mentions(1)
    project.attributes.save(
        Scheme().with_attribute("negation", ("affirmed", "negated")).with_attribute("time", ("past",))
    )
    found = project.rounds.create("pilot", [1])
    for name, values in (("ann", {first: 1, second: 2, third: 1}), ("ben", {first: 1, second: 2, third: 2})):
        seat = project.rounds.seat(found, name).for_window
        assert seat.attributes is not None
        for mention, value in values.items():
            seat.attributes.set([mention], 1, value)
    report = project.agreement.report("pilot", resamples=10)
    (row,) = report.by_attribute
    assert (row.part, row.items, row.exact) == ("negation", 3, None)
    assert row.observed == pytest.approx(2 / 3)
    assert row.cohen == pytest.approx((2 / 3 - 4 / 9) / (1 - 4 / 9))
    assert report.as_csv().splitlines()[-1].startswith("attribute,negation,3,")
