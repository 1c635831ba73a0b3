"""The documentation says what is true: links resolve, commands and keys exist, blocks run."""

from __future__ import annotations

import gzip
import json
import re
import shlex
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import click
import pytest

from curator import bootstrap, help_tables
from curator.cli.main import cli, run
from curator.commands.command import Menu
from curator.io.registry import default_registry
from curator.ui.shell.catalogue import COMMANDS

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "resources" / "help"
HELP = sorted(FOLDER.glob("*.md"))
ARCHITECTURE = ROOT / "ARCHITECTURE.md"
PROSE = [ROOT / "README.md", ARCHITECTURE, ROOT / "CHANGELOG.md", *HELP]
LINK = re.compile(r"\[[^\]]*\]\((?P<target>[^)\s]+)\)")
FENCE = re.compile(
    r"(?P<mark><!-- runs -->\s*\n)?^```(?P<language>[a-z]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL
)
SHELL = ("sh", "console", "shell", "bash")
MENU_PATH = re.compile(r"(?<!\*)\*(?P<menu>[A-Z][a-z]+) › (?P<title>[^*]+)\*(?: \(\*\*(?P<key>[^*]+)\*\*\))?")
CODE = (".py", ".json", ".po")
ROOMS = ("curator/", "models/", "training/", "resources/", "tests/")
WALKED = re.compile(r"\((?P<path>(?:curator|models|training)/[^)\s]+\.py)\)")
"""A path behind a function's name, as the walks write it."""

ENTITIES = (
    {"id": "MESH:D008012", "name": "Lidocaine", "synonyms": ["lignocaine"], "types": ["Chemical"]},
    {"id": "MESH:D006323", "name": "Heart Arrest", "synonyms": ["cardiac arrest"], "types": ["Disease"]},
)


@cache
def text_of(path: Path) -> str:
    """A page as readers see it, with its tables."""
    return help_tables.filled(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT))


# --- tables ----------------------------------------------------------------------------------------------------------


def test_every_table_is_in_one_page() -> None:
    found = [name for path in HELP for name in help_tables.MARK.findall(path.read_text(encoding="utf-8"))]
    assert sorted(found) == sorted(help_tables.TABLES)


def test_the_nine_digits_share_a_row() -> None:
    assert "| Choose candidate 1 … 9 | **1** … **9** |" in help_tables.TABLES["keys"]()


def test_every_command_of_the_command_line_says_what_it_does() -> None:
    commands = dict(help_tables.cli_commands())
    assert len(commands) > 30
    assert [path for path, one in commands.items() if not one.help] == []


def test_every_format_of_knowledge_bases_is_documented() -> None:
    page = text_of(FOLDER / "knowledge-bases.md").casefold()
    names = [title.removeprefix("a ").split()[0] for _, title in default_registry().knowledge_bases()]
    assert [name for name in names if name.casefold() not in page] == []


# --- the architecture's page -----------------------------------------------------------------------------------------


def code_paths(text: str) -> set[str]:
    """The files and folders of code that a page names, from the repository's root; a star is any part of a name."""
    quoted = [word for code in re.findall(r"`([^`\n]+)`", text) for word in code.split()]
    found = {word.split("::")[0] for word in quoted if word.split("::")[0].endswith(CODE) or word.startswith(ROOMS)}
    return found | set(WALKED.findall(text))


def test_the_architecture_names_files_that_are_there() -> None:
    missing = [one for one in sorted(code_paths(text_of(ARCHITECTURE))) if not any(ROOT.glob(one.rstrip("/")))]
    assert missing == []


# --- links and menus in prose ---------------------------------------------------------------------------------


def relative_links(text: str) -> list[str]:
    found = [match["target"] for match in LINK.finditer(without_code(text))]
    return [one.partition("#")[0] for one in found if not one.startswith(("http:", "https:", "mailto:", "#"))]


def without_code(text: str) -> str:
    return re.sub(r"`[^`\n]*`", "", FENCE.sub("", text))


@pytest.mark.parametrize("path", PROSE, ids=name_of)
def test_relative_links_resolve(path: Path) -> None:
    missing = [one for one in relative_links(text_of(path)) if not (path.parent / one).exists()]
    assert not missing


def test_every_page_is_reached_from_the_first() -> None:
    reached, left = set(), ["index.md"]
    while left:
        name = left.pop()
        if name not in reached:
            reached.add(name)
            left += [one for one in relative_links(text_of(FOLDER / name)) if one.endswith(".md")]
    assert reached == {path.name for path in HELP}


@pytest.mark.parametrize("path", HELP, ids=name_of)
def test_pages_link_only_to_pages(path: Path) -> None:
    """The manual's window knows no places inside pages, and opens nothing on the web."""
    targets = [match["target"] for match in LINK.finditer(without_code(text_of(path)))]
    assert not [one for one in targets if "#" in one or "//" in one]


def wrong_menu_paths(text: str) -> Iterator[str]:
    """Each *Menu › Command* (**Key**) that the window does not have; *Help › About* is enough for *About Curator*."""
    for found in MENU_PATH.finditer(" ".join(text.split())):
        if found["menu"] not in set(Menu):
            yield found[0]
            continue
        title = found["title"].removesuffix("…")
        there = [one for one in COMMANDS if one.menu == found["menu"]]
        exact = [one for one in there if one.title.removesuffix("…") == title]
        command = next(iter(exact or [one for one in there if one.title.startswith(f"{title} ")]), None)
        keys = [] if command is None else [one.casefold() for one in command.shortcuts]
        if command is None or (found["key"] and found["key"].casefold() not in keys):
            yield found[0]


@pytest.mark.parametrize("path", PROSE, ids=name_of)
def test_menu_paths_and_their_keys_exist(path: Path) -> None:
    assert not list(wrong_menu_paths(text_of(path)))


KEY = re.compile(r"(?<!\*)\*\*((?:(?:Ctrl|Shift|Alt)\+)+[^*\s]+|F\d\d?)\*\*")
OF_PARTS = {
    *("Ctrl+T", "Ctrl+Enter", "Shift+Enter", "Shift+1", "Shift+9", "Ctrl+-", "Ctrl+−", "Ctrl++", "Ctrl+C", "F5"),
    *("Ctrl+Home", "Ctrl+End"),
}
"""Keys of a form, a list or a text field, of digits in a range, and of a terminal."""
ARROWS = {"←": "Left", "→": "Right", "↑": "Up", "↓": "Down"}


def test_keys_in_the_manual_are_keys_of_the_window() -> None:
    there = {key for one in COMMANDS for key in one.shortcuts} | OF_PARTS
    found = {(path.name, key) for path in HELP for key in KEY.findall(path.read_text(encoding="utf-8"))}
    assert len(found) > 50
    assert [one for one in sorted(found) if one[1][:-1] + ARROWS.get(one[1][-1], one[1][-1]) not in there] == []


def test_a_wrong_menu_path_is_noticed() -> None:
    text = (
        "*Model › Retrain…* (**Ctrl+R**), *Model ›\nLinkers*, *Model › Unlearn*, *Edit › Undo* (**Ctrl+U**), *Nil › A*"
    )
    assert [one.split(" (")[0] for one in wrong_menu_paths(text)] == ["*Model › Unlearn*", "*Edit › Undo*", "*Nil › A*"]


def test_the_manual_shows_its_pages(qtbot: object) -> None:
    """Qt's Markdown reader makes text and tables of them, without remains of the markers."""
    from PySide6.QtGui import QTextDocument

    for path in HELP:
        page = QTextDocument()
        page.setMarkdown(text_of(path))
        shown = page.toPlainText()
        assert shown.strip(), path
        assert not [one for one in ("<!--", "-->", "| ---", "**", "```") if one in shown], path


def test_the_notice_names_what_is_shipped() -> None:
    notice = text_of(ROOT / "resources" / "NOTICE")
    for word in ("all-MiniLM-L6-v2", "Medical Subject Headings", "MeSH", "Icons", "Qt", "PySide6", "Lesser General"):
        assert word in notice, word


def test_the_changelog_names_the_version() -> None:
    from curator import __version__

    assert f"## [{__version__}]" in text_of(ROOT / "CHANGELOG.md")


# --- blocks of commands ----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Block:
    """Lines of a shell block that call `curator`, split into words; `runs` where the block is marked for running."""

    page: str
    number: int
    runs: bool
    commands: tuple[tuple[str, ...], ...]


def blocks(text: str, page: str) -> list[Block]:
    found = []
    for number, fence in enumerate(FENCE.finditer(text), start=1):
        if fence["language"] in SHELL:
            calls = tuple(curator_calls(fence["body"]))
            found.append(Block(page, number, fence["mark"] is not None, calls))
    return found


def curator_calls(body: str) -> Iterator[tuple[str, ...]]:
    """The words behind `curator` of each line that begins so, after a prompt or a path to it."""
    for line in body.replace("\\\n", " ").splitlines():
        words = shlex.split(line.removeprefix("$ "), comments=True)
        if words and Path(words[0]).name == "curator":
            yield tuple(words[1:])


BLOCKS = [block for path in PROSE for block in blocks(text_of(path), name_of(path)) if block.commands]
MARKED = [block for block in BLOCKS if block.runs]


def parsed(words: tuple[str, ...]) -> click.Context:
    """The context of the innermost command. Raises ClickException where a command or an option does not exist."""
    command: click.Command = cli
    context = click.Context(cli, info_name="curator")
    rest = list(words)
    while isinstance(command, click.Group):
        if not rest:
            raise click.UsageError(f"{' '.join(words)} names no command")
        _, next_command, rest = command.resolve_command(context, rest)
        assert next_command is not None
        command, context = next_command, click.Context(next_command, parent=context, info_name=next_command.name)
    return command.make_context(command.name, rest)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda one: f"{one.page}:{one.number}")
def test_documented_commands_parse(block: Block) -> None:
    for words in block.commands:
        with parsed(words):
            pass


@pytest.mark.parametrize("line", ["curator unlearn P", "curator link P --fast", "curator new", "curator kb P"])
def test_wrong_commands_do_not_parse(line: str) -> None:
    (words,) = curator_calls(line)
    with pytest.raises(click.ClickException), parsed(words):
        pass


@pytest.mark.parametrize("path", [*HELP, ROOT / "README.md"], ids=name_of)
def test_commands_in_sentences_exist(path: Path) -> None:
    found = {one.split()[0] for one in re.findall(r"`curator ([a-z][^`]*)`", text_of(path))}
    assert found <= set(cli.list_commands(click.Context(cli)))


def test_blocks_are_found_with_their_marks() -> None:
    text = (
        "<!-- runs -->\n```console\n$ curator new a \\\n  --json  # makes it\nMade a.\n```\n\n```sh\nmake demo\n```\n"
    )
    first, second = blocks(text, "page")
    assert (first.runs, first.commands) == (True, (("new", "a", "--json"),))
    assert (second.runs, second.commands) == (False, ())


def make_input(path: Path) -> None:
    """A small file of the kind that its name says, where the block takes it from the reader's disk."""
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    if "obo" in path.name:
        text = "format-version: 1.2\n\n[Term]\nid: DOID:1\nname: heart arrest\nnamespace: Disease\n"
    elif "json" in path.name:
        text = "".join(json.dumps(one) + "\n" for one in ENTITIES)
    else:
        text = pubtator(path.name)
    data = text.encode()
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)


def pubtator(name: str) -> str:
    """Two documents that differ from file to file: the same content is imported once only."""
    one = "{n}|t|Lidocaine and cardiac arrest in {name}\n{n}|a|\n{n}\t0\t9\tLidocaine\tChemical\tD008012\n"
    return "\n".join(one.format(n=n, name=name) + f"{n}\t14\t28\tcardiac arrest\tDisease\tD006323\n" for n in (1, 2))


def open_without_window(path: Path) -> int:
    """In place of the window: the project can be opened."""
    bootstrap.open_project(path, linker=False).close()
    return 0


def run_block(block: Block, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Run a block's commands in the working folder; those that open a window only open the project."""
    monkeypatch.setattr("curator.ui.shell.app.run", open_without_window)
    for words in block.commands:
        with suppress(click.exceptions.Exit), parsed(words) as context:
            given = context.params.get("files") or [context.params.get("file")]
            for path in (one for one in given if one is not None):
                make_input(path)
        code = run(words)
        assert code == 0, f"curator {shlex.join(words)}: {code}\n{capsys.readouterr().err}"


@pytest.mark.parametrize("block", MARKED, ids=lambda one: f"{one.page}:{one.number}")
def test_marked_blocks_run(
    block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    run_block(block, monkeypatch, capsys)
