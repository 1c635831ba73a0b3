"""The window's sentences and their translations; `python tests/translations.py --write` renews the .po files.

What is translated is found in the source: the arguments of `tr` and `ntr`, and of `say` and `nsay` in what the child
processes run (`models`, `training`), written out or as the name of a constant, the values of a table that is
subscripted there, and data that is translated where it is shown (`SHOWN`). New sentences get an empty translation,
those that are gone are dropped.
Until it is filled in, a sentence is shown in English. `make bundle` refuses while one is missing.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
if not __package__:  # run as a file: `tests/curator` must not hide the program
    sys.path[0] = str(ROOT)

from curator.commands.command import Menu  # noqa: E402
from curator.domain.wording import Key, read_po  # noqa: E402
from curator.services.training.recipes import load_recipes  # noqa: E402
from curator.settings.schema import options  # noqa: E402
from curator.ui.deciding.kwic_rows import CheckMark  # noqa: E402
from curator.ui.kit.mention_state import MentionState  # noqa: E402
from curator.ui.shell.catalogue import COMMANDS  # noqa: E402

LOCALE = ROOT / "resources" / "locale"
HEAD = """msgid ""
msgstr ""
"Content-Type: text/plain; charset=UTF-8\\n"
"Plural-Forms: nplurals=2; plural=(n != 1);\\n"
"Language: {language}\\n"
"""
SHOWN = (
    "curator.commands.reasons.NEEDS",
    "curator.ui.files.new_project.TITLES",
    "curator.ui.files.import_documents.SPLITS",
    "curator.ui.training.evaluate.GATE_FIGURES",
    "curator.ui.shell.keys_overlay.MORE",
    "curator.ui.queue.queue_head.ORDER_WORDS",
    "curator.ui.files.save_as.SCOPES",
    "curator.ui.deciding.propagation.SCOPES",
    "curator.ui.queue.facets_panel._WORDS",
    "curator.ui.dashboard.dashboard.TIMES",
    "curator.ui.bench.refresher.EMPTY_KB",
    "curator.ui.bench.refresher.IMPORTING",
    "curator.ui.bench.refresher.EMPTY_PROJECT",
    "curator.ui.bench.refresher.NO_DOCUMENT",
    "curator.ui.shell.windows.WORKING",
    "curator.ui.shell.windows.TRAINING",
    "curator.services.records.plots_of_models.QUALITIES",
    "curator.services.records.plots_of_cost.NAMES",
    "curator.ui.training.promotion_diff.FILTERS",
    "curator.ui.people.agreement_window.PARTS",
    "curator.ui.training.evaluate.OTHER_AND_THIS",
    "curator.ui.training.retrain.ROLES",
    "curator.ui.training.retrain.OFFERED",
    "curator.ui.training.parameter_panel.GROUPS",
    "curator.ui.training.parameter_panel.PARTS",
    "curator.ui.training.parameter_panel.OTHERS",
    "curator.ui.people.rounds.KIND_CHOICES",
    "curator.ui.candidates.candidate_model.HEADERS",
    "curator.ui.candidates.candidate_model.BELOW",
    "curator.ui.candidates.candidate_model.OTHER_TYPE",
    "curator.ui.candidates.candidate_model.GONE",
    "curator.ui.entities.use_list.HEADINGS",
    "curator.ui.corpus.hit_list.HEADINGS",
)
"""Tables that are gone through, so that no `tr` names their values one by one."""
HINTS = (
    "curator.ui.deciding.bulk_panel.HINTS",
    "curator.ui.deciding.propagation.HINTS",
    "curator.ui.entities.uses_page.HINTS",
    "curator.ui.corpus.corpus_page.HINTS",
    "curator.ui.inconsistencies.inconsistency_page.HINTS",
)
"""Pairs of a key and what it does."""
COUNTED = (
    *("documents", "mentions", "linked", "nil", "entities", "names", "definitions"),
    *("decisions to review", "already here", "changed, left as they are", "documents brought back"),
    *("new texts taken", "decisions moved", "decisions without a place", "mentions added"),
    *("left undecided, ambiguous", "left undecided, of another type"),
)
"""Words of an import report."""
STEPS = ("curator", "models", "training")
"""Where the steps of long work are named; they are translated where they are shown."""
SPOKEN = {"curator": ("tr", "ntr"), "models": ("say", "nsay"), "training": ("say", "nsay")}
"""The packages that speak to a reader, and the functions that they do it with: for one form, and for two."""


@cache
def sentences() -> dict[Key, str]:
    """Everything that is translated, with its first place."""
    found: dict[Key, str] = {}
    for package, (one, counted) in SPOKEN.items():
        for path in sorted((ROOT / package).rglob("*.py")):
            for key in _of_file(path, one, counted):
                found.setdefault(key, path.relative_to(ROOT).as_posix())
    for text in _of_data():
        found.setdefault((text, ""), "data")
    return {key: place for key, place in found.items() if any(one.isalpha() for one in key[0])}


def _of_data() -> Iterator[str]:
    for command in COMMANDS:
        yield from (command.title, command.help)
    yield from (menu.value for menu in Menu)
    for option in options():
        yield from (one for one in (option.title, option.help, option.felt) if one)
    yield from COUNTED
    for recipe in load_recipes():
        yield from (recipe.title.removesuffix(", quick"), recipe.description)
    yield from (mark.value for mark in CheckMark)
    yield from _phases()
    for name in HINTS:
        module, _, constant = name.rpartition(".")
        yield from (words for _, words in getattr(importlib.import_module(module), constant))
    yield from (state.value for state in MentionState if state is not MentionState.NIL)
    for name in SHOWN:
        module, _, constant = name.rpartition(".")
        yield from _texts(getattr(importlib.import_module(module), constant))


def _phases() -> Iterator[str]:
    """What a step of long work is called: written out where progress is reported, or a phase of a training."""
    for folder in STEPS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            text = path.read_text(encoding="utf-8")
            if "Progress(" not in text and "class Phase" not in text:
                continue
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Progress":
                    yield from (str(one.value) for one in node.args[:1] if isinstance(one, ast.Constant))
                elif isinstance(node, ast.ClassDef) and node.name == "Phase":
                    values = (one.value for one in node.body if isinstance(one, ast.Assign))
                    yield from (str(one.value) for one in values if isinstance(one, ast.Constant))


def _texts(value: Any) -> Iterator[str]:
    """Every sentence in a table; what looks like an identifier is none."""
    if isinstance(value, str):
        if " " in value or value[:1].isupper():
            yield value
    elif isinstance(value, Mapping):
        for one in (*value.values(), *(key for key in value if type(key) is str)):
            yield from _texts(one)
    elif isinstance(value, list | tuple):
        for one in value:
            yield from _texts(one)


def _of_file(path: Path, one: str, counted: str) -> Iterator[Key]:
    text = path.read_text(encoding="utf-8")
    if f"{one}(" not in text and f"{counted}(" not in text:
        return
    tree = ast.parse(text)
    given = _given(tree)
    for node in ast.walk(tree):
        if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in (one, counted)):
            continue
        found = [list(_resolved(each, path, given)) for each in node.args[: 2 if node.func.id == counted else 1]]
        if node.func.id == counted:
            yield from zip(*found, strict=True)
        else:
            yield from ((each, "") for each in found[0])


def _given(tree: ast.AST) -> dict[str, list[ast.expr]]:
    """Variable -> what the functions of a module assign to it: one of several sentences, or a constant."""
    found: dict[str, list[ast.expr]] = {}
    for function in ast.walk(tree):
        for node in ast.walk(function) if isinstance(function, ast.FunctionDef) else ():
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.IfExp | ast.Name):
                for target in node.targets:
                    if isinstance(target, ast.Name):
                        found.setdefault(target.id, []).append(node.value)
    return found


def _resolved(node: ast.expr, path: Path, given: Mapping[str, list[ast.expr]] | None = None) -> Iterator[str]:
    """The sentences that an argument of `tr` can be; none where it is data. `given`: see `_given`."""
    if isinstance(node, ast.Constant):
        yield str(node.value)
    elif isinstance(node, ast.IfExp):
        yield from _resolved(node.body, path, given)
        yield from _resolved(node.orelse, path, given)
    elif isinstance(node, ast.Name):
        value = _constant(path, node.id)
        if isinstance(value, str):
            yield value
        for one in (given or {}).get(node.id, ()):
            yield from _resolved(one, path)
    elif isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name):
        value = _constant(path, node.value.id)
        if isinstance(value, Mapping):
            yield from (one for one in value.values() if isinstance(one, str))


def _constant(path: Path, name: str) -> Any:
    """What a name is at the top of a module. Of `models` and `training` only what is written out there: they are not
    imported, for what they load takes seconds."""
    module = path.relative_to(ROOT).with_suffix("")
    if module.parts[0] == "curator":
        return getattr(importlib.import_module(".".join(module.parts)), name, None)
    for node in _top_of(path):
        if isinstance(node, ast.Assign) and any(isinstance(one, ast.Name) and one.id == name for one in node.targets):
            return _written_out(node.value)
        if isinstance(node, ast.ImportFrom) and any((one.asname or one.name) == name for one in node.names):
            source = next(one.name for one in node.names if (one.asname or one.name) == name)
            other = ROOT / f"{(node.module or '').replace('.', '/')}.py"
            return _constant(other, source) if other.exists() else None
    return None


def _written_out(node: ast.expr) -> Any:
    """A text, or a table's texts by their order."""
    if isinstance(node, ast.Dict):
        return dict(enumerate(one.value for one in node.values if isinstance(one, ast.Constant)))
    return node.value if isinstance(node, ast.Constant) else None


@cache
def _top_of(path: Path) -> list[ast.stmt]:
    return ast.parse(path.read_text(encoding="utf-8")).body


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


def missing(language: str) -> list[str]:
    """Sentences without a translation."""
    known = catalogue_of(language)
    return [key[0] for key in sentences() if not all(known.get(key, ("",)))]


def main() -> int:
    """0 when every sentence is translated, 1 when some are not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="bring the .po files up to date")
    write = parser.parse_args().write
    code = 0
    for path in sorted(LOCALE.glob("*.po")):
        if write:
            path.write_text(written(path.stem), encoding="utf-8")
        without = missing(path.stem)
        code = code or min(len(without), 1)
        sys.stdout.write(f"{path.name}: {len(sentences())} sentences, {len(without)} without a translation\n")
        sys.stdout.writelines(f"  {one}\n" for one in without)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
