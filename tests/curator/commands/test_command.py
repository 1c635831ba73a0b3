"""The order of the menus, and the handlers of commands."""

from __future__ import annotations

import gc
from collections.abc import Callable

from curator.commands.command import Command, Commands, Menu, in_menu_order


class Feature:
    """Counts what it is asked for."""

    def __init__(self) -> None:
        self.asked = 0

    def act(self) -> None:
        self.asked += 1


def command(name: str, menu: Menu = Menu.EDIT, *, group: int = 0, after: str = "") -> Command[Feature]:
    act: Callable[[Feature], object] = Feature.act
    return Command(name, name, menu, "Acts.", act, group=group, after=after)


def test_menus_then_groups_then_features_and_what_names_another_stands_behind_it() -> None:
    early = [command("among", after="one"), command("help", Menu.HELP), command("last", group=1)]
    late = [command("one"), command("two"), command("project", Menu.PROJECT)]
    assert [one.id for one in in_menu_order((early, late))] == ["project", "one", "among", "two", "last", "help"]


def test_who_registered_last_carries_out() -> None:
    commands, act = Commands(), command("act")
    first, second = Feature(), Feature()
    commands.register([act], first)
    commands.register([act], second)
    commands.run(act)
    assert (first.asked, second.asked) == (0, 1)


def test_a_feature_that_is_gone_is_asked_for_nothing() -> None:
    commands, act = Commands(), command("act")
    commands.register([act], Feature())
    gc.collect()
    commands.run(act)
