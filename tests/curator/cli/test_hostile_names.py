"""Whatever documents, entities, files and colleagues are called, no command lets them command the terminal."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

import curator.cli
from curator.cli.main import COMMANDS
from tests.curator.cli.conftest import Cli

ESCAPES = "\x1b[2J\x1b]0;x\x07\x9b31m\x7f\u202e\u2066"
"""Without characters that end a line or a cell, which the formats take for their own."""
OF_KB = "\x9b[2J\x9b31m\u202e\u2066"
"""The same without those that no knowledge base keeps."""
FORBIDDEN = {*map(chr, (*range(0x20), *range(0x7F, 0xA0), *range(0x202A, 0x202F), *range(0x2066, 0x206A)))} - {
    "\t",
    "\n",
}


def nasty(what: str) -> str:
    return f"{what} {ESCAPES}"


def of_kb(what: str) -> str:
    return f"{what} {OF_KB}"


KB = [
    {
        "id": of_kb(f"N:{n}"),
        "name": of_kb(f"name {n}"),
        "synonyms": [of_kb("synonym")],
        "types": [of_kb("Type")],
        "definition": of_kb("definition"),
        "parents": [of_kb("N:1")] if n > 1 else [],
    }
    for n in (1, 2)
]

SHOWING: dict[str, tuple[str, ...]] = {
    "info": ("info", "P"),
    "check": ("check", "P"),
    "restore": ("restore", "P"),
    "stats": ("stats", "P"),
    "work": ("work", "P"),
    "rounds": ("rounds", "list", "P"),
    "linkers": ("linkers", "P"),
    "kb": ("kb", "search", "P", of_kb("name 1")),
    "undo": ("undo", "P"),
}
"""Commands that show what others wrote, with arguments; P stands for the project."""


@pytest.fixture
def strange(cli: Cli, tmp_path: Path) -> Path:
    project = tmp_path / f"p{ESCAPES}.curation"
    kb, file = tmp_path / f"kb{ESCAPES}.jsonl", tmp_path / f"d{ESCAPES}.jsonl"
    kb.write_text("".join(json.dumps(one) + "\n" for one in KB))
    mention = nasty("gout")
    document = {
        "text": f"{mention} hurts",
        "denotations": [{"id": "T1", "span": {"begin": 0, "end": len(mention)}, "obj": nasty("Type")}],
        "sourcedb": nasty("db"),
        "sourceid": nasty("1"),
    }
    file.write_text(json.dumps(document))
    for arguments in (
        ["new", project],
        ["kb", "import", project, kb],
        ["import", project, file, "--format", "pubannotation"],
        ["rounds", "new", project, nasty("round"), "--documents", 1],
    ):
        answer = cli(*arguments)
        assert answer.code == 0, answer.err
        assert not set(answer.out + answer.err) & FORBIDDEN, arguments
    return project


def test_no_command_lets_what_strangers_wrote_command_the_terminal(cli: Cli, strange: Path) -> None:
    assert SHOWING.keys() <= COMMANDS.keys()
    shown = set()
    for name, arguments in SHOWING.items():
        for more in ((), ("--json",)):
            answer = cli(*(strange if one == "P" else one for one in arguments), *more)
            told = answer.out + answer.err
            assert answer.code == 0, (name, more, told)
            assert not set(told) & FORBIDDEN, (name, more, told)
            if "\N{REPLACEMENT CHARACTER}[2J" in told or "\\u001b[2J" in told:
                shown.add(name)
    assert len(shown) > len(SHOWING) / 2, "the test shows nothing of it"


def test_commands_print_through_one_function() -> None:
    """`echo` in `console.py`, or the progress bar there."""
    wrong = []
    for path in Path(curator.cli.__path__[0]).glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Call) or path.name == "console.py":
                continue
            function = node.func
            if isinstance(function, ast.Name) and function.id == "print":
                wrong += [f"{path.name}:{node.lineno}"] * all(one.arg != "file" for one in node.keywords)
            if isinstance(function, ast.Attribute) and function.attr in ("echo", "secho", "write"):
                owner = function.value
                wrong += [f"{path.name}:{node.lineno}"] * (isinstance(owner, ast.Name) and owner.id in ("click", "sys"))
    assert not wrong, wrong
