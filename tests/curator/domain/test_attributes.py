"""The project's list of attributes: changes of it lose no id, and refuse what could not be chosen."""

from __future__ import annotations

import pytest

from curator.domain.attributes import MOST, MOST_VALUES, Scheme, dump_scheme, load_scheme
from curator.domain.wording import UserError


def scheme() -> Scheme:
    return (
        Scheme()
        .with_attribute("negation", ("affirmed", "negated"))
        .with_attribute("severity", ("mild", "severe"), ("Disease",))
    )


def test_ids_stay_while_names_change_and_what_is_deleted_is_hidden() -> None:
    changed = scheme().renamed(1, "polarity").value_renamed(2, "denied").value_hidden(1, True).hidden(2, True)
    assert [(one.id, one.name, one.hidden) for one in changed.attributes] == [
        (1, "polarity", False),
        (2, "severity", True),
    ]
    assert [(one.id, one.name) for one in changed.get(1).shown] == [(2, "denied")]
    assert changed.given({1: 2, 2: 3}) == ((changed.get(1), changed.get(1).values[1]),)
    assert changed.given({1: 1}) == ()
    assert changed.value_hidden(1, False).hidden(2, False).given({1: 1, 2: 4})[1][1].name == "severe"


def test_new_ids_are_never_those_of_what_was_deleted() -> None:
    changed = scheme().hidden(2, True).value_hidden(2, True).with_value(1, "possible").with_attribute("time", ("past",))
    assert [one.id for one in changed.get(1).values] == [1, 2, 5]
    assert (changed.attributes[-1].id, changed.attributes[-1].values[0].id) == (3, 6)


def test_taking_back_a_change_hides_what_came_with_it() -> None:
    before = scheme()
    later = before.with_value(1, "possible").with_attribute("time", ("past",))
    back = later.put_back(before)
    assert [one.name for one in back.shown] == ["negation", "severity"]
    assert [one.name for one in back.get(1).shown] == ["affirmed", "negated"]
    assert back.put_back(later) == later
    assert back.with_attribute("time", ("past",)).attributes[-1].id == 4


def test_an_attribute_for_some_types_is_not_offered_for_others() -> None:
    assert [one.name for one in scheme().of_type("Chemical")] == ["negation"]
    assert [one.name for one in scheme().of_type("Disease")] == ["negation", "severity"]
    assert [one.name for one in scheme().limited(2, ()).of_type("Chemical")] == ["negation", "severity"]


@pytest.mark.parametrize("name", ["", "  ", "Negation", "x" * 61, "a\tb", "a=b", "a;b"])
def test_names_that_could_not_be_told_apart_or_written_are_refused(name: str) -> None:
    with pytest.raises(UserError):
        scheme().with_attribute(name, ("a",))
    with pytest.raises(UserError):
        scheme().renamed(2, name)


def test_values_are_few_enough_for_a_digit_each_and_differ() -> None:
    for values in ((), ("a", "A"), tuple(map(str, range(MOST_VALUES + 1)))):
        with pytest.raises(UserError):
            Scheme().with_attribute("a", values)
    full = Scheme()
    for number in range(MOST):
        full = full.with_attribute(f"a{number}", ("x",))
    with pytest.raises(UserError):
        full.with_attribute("one more", ("x",))
    hidden = scheme().value_hidden(1, True).with_value(1, "affirmed")
    with pytest.raises(UserError):
        hidden.value_hidden(1, False)


def test_unknown_ids_and_names_are_said() -> None:
    with pytest.raises(UserError, match="Its attributes: negation, severity"):
        scheme().named("time")
    with pytest.raises(UserError):
        scheme().get(9)
    with pytest.raises(UserError):
        scheme().value_renamed(9, "x")


def test_it_is_stored_and_read_back() -> None:
    changed = scheme().hidden(2, True).value_hidden(1, True)
    assert load_scheme(dump_scheme(changed)) == changed
    assert load_scheme("") == Scheme()
