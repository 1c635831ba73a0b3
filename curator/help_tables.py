"""The tables of the manual, made from what they describe when the manual is opened: keys, settings, commands, formats,
recipes. In a page, `<!-- table: NAME -->` is where one goes."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import click

from curator.cli.main import cli
from curator.commands.command import Command, Menu
from curator.domain.entity_pages import PAGES
from curator.io.registry import default_registry
from curator.services.importing.import_sources import COLUMNS, document_formats
from curator.services.training.recipes import load_recipes
from curator.settings.schema import Option, OptionKind, default, options
from curator.ui.kit.key_names import key_name
from curator.ui.shell.catalogue import COMMANDS
from curator.ui.shell.settings import CHOICES
from resources.recipe_files import QUICK, Recipe

MARK = re.compile(r"<!-- table: (?P<name>[a-z-]+) -->")
DIGITS = re.compile(r"(?P<stem>mention\.(?:choose|also))(?P<digit>[1-9])")


def table(head: Sequence[str], rows: Iterator[Sequence[str]]) -> str:
    """A Markdown table; cells may not break lines, and pipes in them are written so that they stay text."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(_cell(one) for one in line) + " |" for line in lines)


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def keys() -> str:
    """A table for each menu."""
    parts = []
    for menu in Menu:
        rows = [row for command in COMMANDS if command.menu is menu for row in _key_row(command)]
        if rows:
            parts.append(f"## {menu.value}\n\n" + table(("Command", "Keys", "What it does"), iter(rows)))
    return "\n\n".join(parts)


def _key_row(command: Command[Any]) -> Iterator[tuple[str, str, str]]:
    """One row for a command; the nine digits share the row of the first."""
    digit = DIGITS.fullmatch(command.id)
    if digit is None:
        shown = " or ".join(f"**{key_name(one)}**" for one in command.shortcuts)
        yield command.title, shown or "–", command.help
    elif digit["digit"] == "1":
        first = key_name(command.shortcuts[0])
        title, words = (text.replace("1", "1 … 9", 1) for text in (command.title, command.help))
        yield title, f"**{first}** … **{first[:-1]}9**", words


def settings() -> str:
    return table(("Setting", "In the file", "What it does", "Values", "Usual"), (_setting(one) for one in options()))


def _setting(option: Option) -> tuple[str, ...]:
    usual = str(default(option.name)) if default(option.name) not in ("", {}) else "empty"
    felt = f" Takes effect {option.felt}." if option.felt else ""
    return option.title, f"`{option.name}`", option.help + felt, _values(option), f"`{usual}`"


def _values(option: Option) -> str:
    if option.kind is OptionKind.INTEGER:
        return f"{option.minimum:,} to {option.maximum:,}"
    if option.kind is OptionKind.CHOICE:
        return ", ".join(f"`{one}`{_in_window(one)}" for one in option.choices)
    words = {OptionKind.FOLDER: "a folder", OptionKind.KEYS: "command: keys", OptionKind.PAGES: "prefix: address"}
    return words.get(option.kind, "a text")


def _in_window(choice: str) -> str:
    """How the dialog says the value, where it says it otherwise."""
    words = CHOICES.get(choice, choice)
    return f" ({words})" if words != choice else ""


def cli_commands(group: click.Command = cli, path: str = "curator") -> Iterator[tuple[str, click.Command]]:
    """Every command that does something, with its words."""
    if not isinstance(group, click.Group):
        yield path, group
        return
    context = click.Context(group, info_name=path)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield from cli_commands(command, f"{path} {name}")


def commands() -> str:
    """A section for each command of the command line: how it is called, what it does, its options."""
    return "\n\n".join(_command_section(path, command) for path, command in cli_commands())


def _command_section(path: str, command: click.Command) -> str:
    context = click.Context(command, info_name=path)
    usage = " ".join([path, *command.collect_usage_pieces(context)])
    rows = list(_options(command, context))
    parts = [f"## {path}", f"```\n{usage}\n```", _as_text(command.help or "")]
    return "\n\n".join([*parts, table(("Option", "What it does"), iter(rows))] if rows else parts)


def _options(command: click.Command, context: click.Context) -> Iterator[tuple[str, str]]:
    for parameter in command.params:
        record = parameter.get_help_record(context) if isinstance(parameter, click.Option) else None
        if record is not None:
            yield f"`{_braces(record[0])}`", _as_text(record[1])


def _braces(text: str) -> str:
    """`[a|b]` as `{a,b}`: a pipe would end the cell in some Markdown readers."""
    return re.sub(r"\[([^\]]*\|[^\]]*)\]", lambda found: "{" + found[1].replace("|", ",") + "}", text)


def _as_text(text: str) -> str:
    return " ".join(text.replace("\b", "").split())


def recipes() -> str:
    """A row for each recipe, with its quick variant."""
    every = {one.id: one for one in load_recipes()}
    rows = (_recipe(one, every) for one in every.values() if not _is_variant(one, every))
    return table(("Recipe", "What it does", "After"), rows)


def _is_variant(recipe: Recipe, every: Mapping[str, Recipe]) -> bool:
    return recipe.id.endswith(QUICK) and recipe.id.removesuffix(QUICK) in every


def _recipe(recipe: Recipe, every: Mapping[str, Recipe]) -> tuple[str, ...]:
    quick = recipe.id + QUICK
    names = f"`{recipe.id}`, `{quick}`" if quick in every else f"`{recipe.id}`"
    return f"**{recipe.title}** {names}", recipe.summary, recipe.citation


def parameters() -> str:
    """Every parameter once for each meaning and usual value, with the recipes that have it so."""
    found: dict[tuple[str, str, str, str], list[str]] = {}
    for recipe in load_recipes():
        for one in recipe.parameters:
            row = (f"`{one.name}`", one.help, _value(one.default), "–" if one.paper is None else _value(one.paper))
            found.setdefault(row, []).append(recipe.id)
    everywhere = len(load_recipes())
    rows = ((*row, "all" if len(ids) == everywhere else ", ".join(ids)) for row, ids in sorted(found.items()))
    return table(("Parameter", "What it does", "Usual", "Published", "Recipes"), rows)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    return f"{value:g}" if isinstance(value, float) else str(value)


def formats() -> str:
    """A row for each document format with what it can carry."""
    rows = (
        (
            f"{one.title} `{one.name}`",
            *("yes" if has else "–" for has in (one.read, one.written, *one.carries.values())),
        )
        for one in document_formats(default_registry())
    )
    return table(("Format", "Read", "Written", *COLUMNS.values()), rows)


def pages() -> str:
    """A row for each prefix whose entities have an address at their source."""
    rows = ((one.prefix, one.registry, f"`{one.pattern}`", one.source) for one in PAGES)
    return table(("Prefix", "Page", "Address", "Its form is that of"), rows)


TABLES: Mapping[str, Callable[[], str]] = {
    "keys": keys,
    "settings": settings,
    "commands": commands,
    "recipes": recipes,
    "formats": formats,
    "pages": pages,
    "parameters": parameters,
}


def filled(page: str) -> str:
    """The page with its tables. Raises KeyError for one that does not exist."""
    return MARK.sub(lambda found: TABLES[found["name"]](), page)
