"""The program's sentences and their translations; `python tests/translations.py --write` renews the .po files.

A sentence is found where it is translated: in the arguments of `tr` and `ntr`, of `say` and `nsay` in what the child
processes run (`models`, `training`) and of `Progress`, written out or as a name of the same module; in the tables at
the top of the window's modules; and in commands, settings and recipes. A sentence that the .po file has stays as long
as its words are written anywhere in the source. New sentences get an empty translation. Until it is filled in, they
are shown in English. `make bundle` refuses while one is missing.
"""

from __future__ import annotations

import argparse
import ast
import re
import sys
from collections.abc import Iterator
from functools import cache
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
if not __package__:  # run as a file: `tests/curator` must not hide the program
    sys.path[0] = str(ROOT)

from curator.domain.wording import Key, read_po  # noqa: E402
from curator.services.training.recipes import load_recipes  # noqa: E402
from curator.settings.schema import options  # noqa: E402
from curator.ui.shell.catalogue import COMMANDS  # noqa: E402

LOCALE = ROOT / "resources" / "locale"
HEAD = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"
"Language: {language}\\n"
"""
ONE, COUNTED = ("tr", "say", "Progress"), ("ntr", "nsay")
"""The functions that take one form of a sentence, and two."""
WINDOW = ("curator/ui/", "curator/commands/", "curator/settings/")
NO_SENTENCE = re.compile(
    r"(?:(?:Ctrl|Shift|Alt)\+)+\S+|\S|F\d+|PgUp|PgDown|Up|Down|Left|Right|Tab|Return|Enter|Backspace|Del"  # keys
    r"|Q[A-Z]\w+|SELECT .*|\W.*|.*(?:[\n\t]|\w\(\w).*",  # Qt's classes, SQL, ends of sentences, styles, code
    re.DOTALL,
)


@cache
def sentences() -> dict[Key, str]:
    """Everything that is translated, with its first place."""
    found: dict[Key, str] = {}
    written: set[str] = set()
    for path in sorted(one for package in ("curator", "models", "training") for one in (ROOT / package).rglob("*.py")):
        place, tree = path.relative_to(ROOT).as_posix(), ast.parse(path.read_text(encoding="utf-8"))
        written |= set(_texts(tree))
        for key in _translated(tree):
            found.setdefault(key, place)
        for key in _tables(tree) if place.startswith(WINDOW) else ():
            found.setdefault(key, place)
    for text in _data():
        found.setdefault((text, ""), "data")
    for path in LOCALE.glob("*.po"):
        for one, many in catalogue_of(path.stem):
            if one in written and (not many or many in written):
                found.setdefault((one, many), "data")
    halves = {text for key in found if key[1] for text in key}
    return {
        key: place
        for key, place in found.items()
        if any(one.isalpha() for one in key[0]) and (key[1] or key[0] not in halves)
    }


def _data() -> Iterator[str]:
    for command in COMMANDS:
        yield from (command.title, command.help, command.menu.value)
    for option in options():
        yield from (one for one in (option.title, option.help, option.felt) if one)
    for recipe in load_recipes():
        yield from (recipe.title.removesuffix(", quick"), recipe.summary)


def _texts(node: ast.AST) -> Iterator[str]:
    for one in ast.walk(node):
        if isinstance(one, ast.Constant) and isinstance(one.value, str):
            yield one.value


def _choices(node: ast.expr) -> Iterator[str]:
    """What an argument can be."""
    if isinstance(node, ast.IfExp):
        yield from (*_choices(node.body), *_choices(node.orelse))
    elif isinstance(node, ast.Constant):
        yield str(node.value)


def _translated(tree: ast.Module) -> Iterator[Key]:
    """The sentences in the calls, and in what is assigned to the names in them."""
    names: set[str] = set()
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name)):
            continue
        if node.func.id in COUNTED:
            yield from zip(*(list(_choices(one)) for one in node.args[:2]), strict=False)
        elif node.func.id in ONE and node.args:
            yield from ((text, "") for text in _choices(node.args[0]))
            names |= {one.id for one in ast.walk(node.args[0]) if isinstance(one, ast.Name)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Assign) and names & {one.id for one in node.targets if isinstance(one, ast.Name)}:
            yield from ((text, "") for text in _texts(node.value) if _is_sentence(text))


def _tables(tree: ast.Module) -> Iterator[Key]:
    """The sentences in what a module or a class of it assigns; one before another with a number is its singular."""
    for node in (*tree.body, *(one for each in tree.body if isinstance(each, ast.ClassDef) for one in each.body)):
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
            texts = [text for text in _texts(node.value) if _is_sentence(text)]
            counted = dict(pair for pair in pairwise(texts) if "{n:,}" in pair[1])
            yield from ((text, counted.get(text, "")) for text in texts)


def _is_sentence(text: str) -> bool:
    """Not an identifier, a key or a line of code."""
    return (" " in text or text[:1].isupper()) and not NO_SENTENCE.fullmatch(text)


def catalogue_of(language: str) -> dict[Key, tuple[str, ...]]:
    """The translations that there are, without the head."""
    path = LOCALE / f"{language}.po"
    found = dict(read_po(path.read_text(encoding="utf-8"))) if path.exists() else {}
    found.pop(("", ""), None)
    return found


def written(language: str) -> str:
    """The .po file with every sentence of the source, by place, translated where it was."""
    known = catalogue_of(language)
    parts = [HEAD.format(language=language)]
    for (one, many), place in sorted(sentences().items(), key=lambda entry: (entry[1], entry[0])):
        forms = known.get((one, many), ("", "") if many else ("",))
        lines = [f"#: {place}", f"msgid {_quoted(one)}"]
        if many:
            lines.append(f"msgid_plural {_quoted(many)}")
            lines += [f"msgstr[{at}] {_quoted(form)}" for at, form in enumerate(forms)]
        else:
            lines.append(f"msgstr {_quoted(forms[0])}")
        parts.append("\n".join(lines) + "\n")
    return "\n".join(parts)


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\t", "\\t")
    return f'"{escaped}"'


def main() -> int:
    """0 when every sentence is translated, 1 when some are not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="bring the .po files up to date")
    write = parser.parse_args().write
    code = 0
    for path in sorted(LOCALE.glob("*.po")):
        if write:
            path.write_text(written(path.stem), encoding="utf-8")
        known = catalogue_of(path.stem)
        without = [key[0] for key in sentences() if not all(known.get(key, ("",)))]
        code = code or min(len(without), 1)
        sys.stdout.write(f"{path.name}: {len(sentences())} sentences, {len(without)} without a translation\n")
        sys.stdout.writelines(f"  {one!r}\n" for one in without)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
