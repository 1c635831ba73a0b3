"""Dataclasses whose methods are compiled late: the same classes as ever (`compile_methods_late`)."""

from __future__ import annotations

import dataclasses

import pytest

from curator import compile_methods_late


@pytest.fixture(autouse=True)
def _late(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dataclasses, "_create_fn", dataclasses._create_fn)  # type: ignore[attr-defined]
    compile_methods_late()


def test_behave_like_others() -> None:
    @dataclasses.dataclass(frozen=True, slots=True, order=True)
    class Base:
        __module__ = "curator"
        number: int
        names: list[str] = dataclasses.field(default_factory=list, compare=False)

    @dataclasses.dataclass(frozen=True, slots=True)
    class More(Base):
        __module__ = "curator"
        other: str = "x"

        def __post_init__(self) -> None:
            object.__setattr__(self, "other", self.other * 2)

    one, two = Base(1), Base(number=2)
    assert one < two
    assert one == Base(1, ["a"])
    assert one not in (two, More(1))
    assert hash(one) == hash(Base(1))
    assert one.names is not Base(1).names
    assert repr(More(1, [], "y")).endswith("More(number=1, names=[], other='yy')")
    assert dataclasses.replace(two, number=3) == Base(3)
    with pytest.raises(dataclasses.FrozenInstanceError, match="number"):
        one.number = 5  # type: ignore[misc]
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'number'"):
        Base()  # type: ignore[call-arg]


def test_a_method_is_compiled_once() -> None:
    @dataclasses.dataclass
    class One:
        __module__ = "curator"
        number: int

    @dataclasses.dataclass
    class Two(One):
        __module__ = "curator"

        def __init__(self) -> None:
            One.__init__(self, 1)

    before = One.__init__
    assert Two().number == One(1).number == 1
    compiled = One.__init__
    assert compiled is not before
    assert compiled.__qualname__ == before.__qualname__
    before(One(2), 3)  # kept by somebody
    assert One.__init__ is compiled


def test_classes_of_other_packages_stay_as_they_are() -> None:
    @dataclasses.dataclass
    class Theirs:
        number: int

    assert Theirs.__init__.__code__.co_varnames == ("self", "number")
