"""What the program says is plain, current English: words that are used in no odd sense, full stops, figures that hold.

`SAID` is everything that users read: translated sentences, the help and messages of the command line, the manual and
the pages at the root. `CLEAN` are the packages whose docstrings and comments are held to the same words.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import click
import pytest

from curator.io import default_registry
from curator.settings.schema import options
from curator.ui.shell.catalogue import COMMANDS
from tests import help_tables, translations

ROOT = help_tables.ROOT
PAGES = [
    *sorted(help_tables.HELP.glob("*.md")),
    *(ROOT / f"{one}.md" for one in ("README", "CHANGELOG", "ARCHITECTURE")),
]
ODD = {
    r"\banew\b": "again, re-…",
    r"\b(?:is|are|was|were|be) told\b(?! apart)|\btold (?:of|that|by|to)\b": "shown, reported",
    r"(?<!`)\btells?\b(?! (?:\w+ ){0,3}apart\b)": "says, shows, reports",
    r"\b(?:wished|wishes)\b": "requested, wants",
    r"\breckon": "calculate",
    r"\b(?:for|to|of|from|by|with|and|or|under) who\b": "people who",
    r"\b(?:what|which|that|it) stands?\b(?! for\b)|\bstands? (?:in|at|on|there|nowhere)\b": "is, appears",
    r"\bbeside (?:it|this|that|the (?:key|window|work|text))\b": "next to; of time: meanwhile, in the background",
    r"\bmend(?:s|ed|ing)?\b": "correct, edit",
    r"\b(?:to|that|which) part (?:them|two)\b|\bparts (?:them|two)\b": "distinguish, split",
    r"\bby now\b": "now",
    r"\b(?:goes|went|gone|to go) on\b|\bgo on (?:with|as)\b": "continue, resume",
    r"\b(?:is|are|was|be) felt\b|\bfelt (?:by|at)\b": "takes effect, noticed",
    r"\bas far as (?!step\b|the\b)": "if, where",
    r"\b(?:is|are|most|what \w+ \w+|being) worth\b|\bworth (?:deciding|most|it)\b": "value, useful",
    r"\bsway": "influence",
    r"\bbears? (?:the|a|its|your|their|no)\b": "has",
    r"\bat hand\b": "available, current",
    r"\bwhatever\b": "any",
    r"\brights and\b": "permissions and",
    r"\bfor ever\b|\bwithout end\b": "permanently, without limit",
    r"\bput(?:s|ting)? (?:it |them )?right\b": "correct",
    r"\bone's own\b": "your own",
    r"\bunder way\b": "running",
    r"\bto and fro\b": "back and forth",
    r"\bturns? (?:it|this|that) round\b": "reverse, turn off",
    r"\bnobody knows\b|\bmay well\b": "is not known, can",
}
"""Phrases in the sense that a reader stumbles over, and what to write instead."""
OF_THE_CODE = {r"\bgate\b": "check", r"\bserves\b": "is in use", r"\bheard by\b": "used by", r"\bpromot\w+": "use"}
"""Words of the code that users do not meet."""
CLEAN = ("models", "training", "resources", "curator")
"""Packages whose docstrings and comments are held to the same words."""
STOPPED = re.compile(r"(?:[.?!:…]|[.?!…][)”\"'’*]|[)”]|\}|\])$")
TWO_SENTENCES = re.compile(r"[a-z0-9)”}]\. (?=[A-Z“*{])")
TIPS = ("setToolTip", "setStatusTip", "showMessage")
PROPER = {
    *("NIL", "CSV", "GPU", "PubMed", "Curator", "JSON", "I", "TensorBoard", "Wikia", "SVG", "W3C", "XML"),
    *("Retrain", "Enter", "Esc", "Tab", "BioC"),
}
"""Words in capitals inside a title or on a button."""


@cache
def said() -> dict[str, str]:
    """Where something is said, and what."""
    found = {f"{place}: {text}": text for key, place in translations.sentences().items() for text in key if text}
    for path, command in help_tables.cli_commands():
        for text in (command.help or "", *(one.help or "" for one in command.params if isinstance(one, click.Option))):
            found[f"{path}: {text}"] = text
    for path in sorted((ROOT / "curator" / "cli").rglob("*.py")):
        found |= {f"{path.name}:{line}": text for line, text in messages(path)}
    return found | {f"{page.name}: {line}": line for page in PAGES for line in page.read_text("utf-8").splitlines()}


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """The literals of a module that have a blank inside, but for docstrings, with their lines."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        text = node.value if isinstance(node, ast.Constant) and id(node) not in silent else None
        if isinstance(text, str) and " " in text:
            yield node.lineno, text


def prose(text: str) -> Iterator[tuple[int, str]]:
    """Docstrings, also of constants, and comments of a module, with their lines."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.lineno, " ".join(node.value.value.split())
    for number, line in enumerate(text.splitlines(), start=1):
        if found := COMMENT.search(line):
            yield number, found[0]


COMMENT = re.compile(r"(?:(?<=\s)|^)#:? .*")
"""A line in a string that looks like a comment is read as one: it is text as well."""


@cache
def any_of(phrases: tuple[str, ...]) -> re.Pattern[str]:
    return re.compile("|".join(phrases), re.IGNORECASE)


def odd_in(text: str, phrases: dict[str, str] = ODD) -> list[str]:
    if not any_of(tuple(phrases)).search(text):
        return []
    return [f"{found[0]} → {better}" for odd, better in phrases.items() for found in re.finditer(odd, text, re.I)]


# --- words -----------------------------------------------------------------------------------------------------------


def test_no_word_is_used_in_an_odd_sense() -> None:
    assert len(said()) > 3000
    wrong = {place: odd for place, text in said().items() if (odd := odd_in(text))}
    assert wrong == {}


def test_users_meet_no_words_of_the_code() -> None:
    code = ("ARCHITECTURE.md:", "parameters.md:", "recipes.md:", "command-line.md:")
    texts = {place: text for place, text in said().items() if not place.startswith(code)}
    shown = {place: re.sub(r"`[^`]*`|{[^}]*}", "", text) for place, text in texts.items()}
    assert {place: odd for place, text in shown.items() if (odd := odd_in(text, OF_THE_CODE))} == {}


@pytest.mark.parametrize("room", CLEAN)
def test_docstrings_and_comments_use_plain_words(room: str) -> None:
    paths = sorted((ROOT / room).rglob("*.py"))
    assert paths
    wrong = {
        f"{path.relative_to(ROOT)}:{line}": odd
        for path in paths
        for line, text in prose(path.read_text(encoding="utf-8"))
        if (odd := odd_in(text))
    }
    assert wrong == {}


@pytest.mark.parametrize(
    "text",
    [
        "Your decisions bear the name “root”.",
        "What is told is the change.",
        "Check the folder's rights and space.",
        "“{text}” stands nowhere else.",
        "The search is done again whatever was found.",
        "It goes on as it was wished.",
        "which stopped it for who is not root",
    ],
)
def test_an_odd_sense_is_found(text: str) -> None:
    assert odd_in(text)


@pytest.mark.parametrize(
    "text",
    [
        "You can tell the states apart by either of them.",
        "T-cell stands for a cell of the thymus.",
        "A new window opens slightly beside the current one.",
        "The part of the program that suggests entities.",
        "The map goes from left to right.",
        "decided mentions are asked again",
    ],
)
def test_the_usual_sense_is_let_pass(text: str) -> None:
    assert odd_in(text) == []


def test_docstrings_and_comments_are_found() -> None:
    text = '"""Of a module."""\nMOST = 3  # things\n"""A constant."""\n\n\ndef f():\n    """Of a function."""\n'
    assert [one for _, one in sorted(prose(text))] == ["Of a module.", "# things", "A constant.", "Of a function."]


# --- full stops and capitals -----------------------------------------------------------------------------------------


def tips() -> Iterator[tuple[str, str]]:
    """The words of every tooltip and status line that are written where it is set."""
    for path in sorted((ROOT / "curator" / "ui").rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if any(one in text for one in TIPS) else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in TIPS:
                for one in ast.walk(node):
                    if isinstance(one, ast.Call) and isinstance(one.func, ast.Name) and one.func.id in ("tr", "ntr"):
                        words = [str(arg.value) for arg in one.args if isinstance(arg, ast.Constant)]
                        yield from ((f"{path.name}:{one.lineno}", each) for each in words)


def without_stop(text: str) -> bool:
    """Several sentences, or clauses, of which the last has no full stop."""
    return bool(TWO_SENTENCES.search(text) or "; " in text) and not text.rstrip().endswith((".", "?", "!", "…", ":"))


def test_tooltips_and_status_lines_are_fragments_or_sentences() -> None:
    found = list(tips())
    assert len(found) > 10
    assert [one for one in found if without_stop(one[1])] == [], "sentences end with a full stop"
    assert [one for one in found if one[1].endswith(".") and one[1][:1].islower()] == [], "a fragment has none"


def test_several_sentences_end_with_a_full_stop() -> None:
    texts = {text: place for key, place in translations.sentences().items() for text in key}
    wrong = {text: place for text, place in texts.items() if TWO_SENTENCES.search(text) and not STOPPED.search(text)}
    assert wrong == {}


RUN_ON = re.compile(r"[a-z] (?:You|It|This|That|Nothing|Choose|Use|Press|Then|There|They|If|To|Check|Try) [a-z]")


def test_no_sentence_runs_into_the_next() -> None:
    assert [f"{place}: {found[0]}" for place, text in said().items() if (found := RUN_ON.search(text))] == []
    assert RUN_ON.search("The new linker is kept in Model › Linkers You can still choose to use it.")


def test_commands_and_settings_are_explained_in_sentences() -> None:
    for command in COMMANDS:
        assert command.help.endswith("."), command.id
        assert not command.title.endswith("."), command.id
    assert [one.name for one in options() if not one.help.endswith(".") or one.title.endswith(".")] == []


def test_the_command_line_is_explained_in_sentences() -> None:
    for path, command in help_tables.cli_commands():
        helps = [one.help for one in command.params if isinstance(one, click.Option) and one.help]
        assert [one for one in (command.help or "", *helps) if not one.rstrip().endswith((".", ":"))] == [], path


def in_title_case(title: str) -> list[str]:
    """The words after the first that begin with a capital and are no names."""
    return [one for one in re.findall(r"\b[A-Z]\w*", title)[1:] if one not in PROPER and not one.isupper()]


def test_commands_are_in_sentence_case() -> None:
    assert {one.id: wrong for one in COMMANDS if (wrong := in_title_case(one.title))} == {}
    assert in_title_case("Export Gold…") == ["Gold"]


# --- figures ---------------------------------------------------------------------------------------------------------


def constant(place: str) -> object:
    """The value of `path:NAME`, written out in that module; `path:NAME.0` is the first of several."""
    path, _, name = place.partition(":")
    name, _, at = name.partition(".")
    for node in ast.walk(ast.parse((ROOT / path).read_text(encoding="utf-8"))):
        target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
        names = [one.id for one in ast.walk(target) if isinstance(one, ast.Name)] if target else []
        if isinstance(node, ast.Assign | ast.AnnAssign) and name in names and node.value is not None:
            value = ast.literal_eval(node.value)
            return value[names.index(name)] if len(names) > 1 else value[int(at)] if at else value
    raise AssertionError(f"{place} is not there")


FIGURES = [
    ("deciding.md", "at least 0.15 seconds before you press", "curator/ui/kit/sight.py:SEEN_SECONDS", 0.15),
    ("window.md", "lists your last ten projects", "curator/ui/shell/recent.py:SHOWN", 10),
    ("window.md", "your last 50 projects", "curator/ui/kit/layout_store.py:MOST", 50),
    ("suggestions.md", "at least 95 %, calibrated", "curator/domain/suggestions.py:ACCEPTABLE", 0.95),
    ("suggestions.md", "the list shows ten candidates", "curator/settings/schema.py:candidates_shown", 10),
    ("linker.md", "Once you have 30 NIL decisions and 100 links", "models/rankers/nil.py:MIN_NIL", 30),
    ("linker.md", "Once you have 30 NIL decisions and 100 links", "models/rankers/nil.py:MIN_LINKED", 100),
    (
        "linker.md",
        "Once the train and validation documents have 200 links",
        "models/linker/tuning.py:MIN_COMBINER",
        200,
    ),
    (
        "retraining.md",
        "At least 20 links are needed",
        "curator/services/training/training_preview.py:LEAST_DECISIONS",
        20,
    ),
    ("retraining.md", "a fifth of the train documents is held out", "training/data/document_splits.py:HELD_OUT", 0.2),
    ("retraining.md", "or at most two minutes earlier", "training/loop/saving.py:MOST_LOST", 120.0),
    ("check.md", "in at least 90 of 100 resamples", "training/job/gate.py:BELOW", 10.0),
    ("check.md", "In at least 95 of 100 resamples, recall@1 falls", "training/job/gate.py:ABOVE", 5.0),
    ("check.md", "Recall@1 falls by less than half a point, if at all", "training/job/gate.py:MAY_FALL", 0.005),
    (
        "check-decisions.md",
        "At most one such mention appears within twenty decisions",
        "curator/services/rounds/consistency.py:APART",
        20,
    ),
    ("agreement.md", "over 1,000 resamples", "curator/domain/rounds.py:RESAMPLES", 1000),
    ("several.md", "1 %, 2 %, 5 % or any other", "curator/ui/deciding/bulk_panel.py:USUAL", (1.0, 2.0, 5.0)),
    ("several.md", "holds with 95 % confidence", "curator/services/curating/bounds.py:ALPHA", 0.05),
    ("queue.md", "Until it has measured 20 decisions", "curator/services/queue/ordering.py:ENOUGH", 20),
    ("queue.md", "assumes three seconds for an accepted", "curator/services/queue/ordering.py:accept", 3.0),
    ("queue.md", "twelve seconds for any other decision", "curator/services/queue/ordering.py:other", 12.0),
    ("release.md", "The usual value is 2", "curator/services/records/kb_export.py:LEAST", 2),
    ("release.md", "at least four fifths of the string's links", "curator/services/records/kb_export.py:SHARE", 0.8),
    ("trouble.md", "tries again every two seconds", "curator/storage/db/syncing.py:RETRY", 2.0),
    ("trouble.md", "more than three times within a minute", "curator/jobs/linker_process.py:MAX_DEATHS", 3),
    ("trouble.md", "more than three times within a minute", "curator/jobs/linker_process.py:DEATHS_WITHIN", 60.0),
    (
        "trouble.md",
        "`curator.log` and the three older files of this log",
        "curator/services/records/diagnostics.py:BACKUPS",
        3,
    ),
    ("seeing.md", "pauses of over a minute do not count", "curator/ui/bench/effort_meter.py:IDLE_SECONDS", 60.0),
    ("evaluate.md", "among the first 64 candidates", "curator/services/training/evaluation.py:K", 64),
    ("search.md", "two in words of eight letters", "curator/storage/kb/kb_fuzzy.py:LONG", 8),
]
"""A page of the manual, its words, and the constant that makes them true."""


@pytest.mark.parametrize(("page", "words", "place", "value"), FIGURES, ids=[one[2] for one in FIGURES])
def test_figures_of_the_manual_are_those_of_the_program(page: str, words: str, place: str, value: object) -> None:
    text = " ".join((help_tables.HELP / page).read_text(encoding="utf-8").split())
    assert words in text
    assert constant(place) == value


# --- controls and keys -----------------------------------------------------------------------------------------------

KEY = re.compile(r"(?<!\*)\*\*((?:(?:Ctrl|Shift|Alt)\+)+[^*\s]+|F\d\d?)\*\*")
ITALIC = re.compile(r"(?<![*\w])\*([^*]+)\*(?!\*)")
CONTROL = re.compile(r"[A-Z](?:[^›]* [^›]*|[^› ]*…)$")
"""Names of several words, or with dots; other italics may be examples."""
OF_PARTS = {
    *("Ctrl+T", "Ctrl+Enter", "Shift+Enter", "Shift+1", "Shift+9", "Ctrl+-", "Ctrl+−", "Ctrl++", "Ctrl+C", "F5"),
    *("Ctrl+Home", "Ctrl+End"),
}
"""Keys of a form, a list or a text field, of digits in a range, and of a terminal."""
EXAMPLES = {"heart diseases", "heart failure"}
"""Entities that the manual names."""
ARROWS = {"←": "Left", "→": "Right", "↑": "Up", "↓": "Down"}


def test_controls_in_the_manual_have_the_names_in_the_window() -> None:
    texts = {plain(text) for key in translations.sentences() for text in key if text}
    titles = [one.title for one in default_registry().formats()]
    texts |= {re.split(r": | \(\{", one)[0] for one in texts} | {plain(one) for one in titles}
    patterns = (re.sub(r"\\\{[^}]*\\\}", ".+", re.escape(one)) for one in texts if "{" in one)
    filled = [re.compile(one) for one in patterns if len(re.findall(r"[a-z]{2,}", one)) > 1]  # not “{name}: {what}”
    found, wrong = 0, set()
    for path in help_tables.HELP.glob("*.md"):
        text = re.sub(
            r"```.*?```|`[^`]*`", "", help_tables.BLOCK.sub("", path.read_text(encoding="utf-8")), flags=re.DOTALL
        )
        named = {plain(one) for one in ITALIC.findall(" ".join(text.split())) if CONTROL.match(one)}
        found += len(named)
        for one in named - texts - EXAMPLES:
            if not any(each.fullmatch(one) or each.fullmatch(f"{one} …") for each in filled):
                wrong.add((path.name, one))
    assert found > 100
    assert wrong == set()


def test_the_plots_of_the_dashboard_have_their_names_in_the_manual() -> None:
    texts = {plain(text) for key in translations.sentences() for text in key if text}
    table = (help_tables.HELP / "seeing.md").read_text(encoding="utf-8").partition("| Plot |")[2].partition("\n\n")[0]
    names = [one.strip() for line in table.splitlines()[2:] for one in line.split("|")[1].split(" · ")]
    assert len(names) > 9
    assert [one for one in names if plain(one) not in texts] == []


def plain(name: str) -> str:
    """As the window and the manual write it, without mnemonics and closing dots."""
    return " ".join(name.split()).replace("&", "").rstrip("….:").strip().casefold()


def test_keys_in_the_manual_are_keys_of_the_window() -> None:
    there = {key for one in COMMANDS for key in one.shortcuts} | OF_PARTS
    pages = [path for path in PAGES if path.name != "keys.md"]
    found = {(path.name, key) for path in pages for key in KEY.findall(path.read_text(encoding="utf-8"))}
    assert len(found) > 50
    written = {(page, key, key[:-1] + ARROWS.get(key[-1], key[-1])) for page, key in found}
    assert sorted((page, key) for page, key, key_of_qt in written if key_of_qt not in there) == []
