"""Every sentence of the window has a German one that fits, and none is written past `tr`."""

from __future__ import annotations

import ast
import os
import signal
import string
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from curator.domain import wording
from curator.domain.wording import ENGLISH, Catalogue, ntr, tr
from curator.settings.schema import Language, Settings
from curator.ui.shell import app
from curator.ui.shell.app import EndSignals, catalogue, code_of, languages, read_po
from curator.ui.shell.catalogue import COMMANDS
from curator.ui.shell.settings import SettingsDialog
from tests.translations import HEAD, ROOT, catalogue_of, missing, sentences, written

SINKS = {
    "QLabel", "QPushButton", "QCheckBox", "QRadioButton", "QGroupBox", "sentence", "tell", "ask", "setText",
    "setToolTip",
    "setAccessibleName", "setAccessibleDescription", "setWindowTitle", "setPlaceholderText", "addTab", "insertTab",
    "addRow", "add_button", "set_empty_words", "set_note", "say", "setHorizontalHeaderLabels", "setTitle",
}  # fmt: skip
"""Whatever is handed to these is read by somebody."""
AS_THEY_ARE = {"Curator", "PubMed", "Wikia", "pubmed", "wikia", "NIL", "TensorBoard", "– Curator"}
"""Names and words that are the same in every language."""


@pytest.fixture
def german() -> Iterator[Catalogue]:
    found = catalogue("de")
    wording.use(found)
    yield found
    wording.use(ENGLISH)


def unwrapped(path: Path) -> Iterator[str]:
    """Literals that reach the user without `tr`."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in SINKS:
            for argument in node.args:
                yield from (f"{path.relative_to(ROOT)}:{node.lineno} {words!r}" for words in _plain_words(argument))


def _plain_words(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        if _is_read(node.value):
            yield node.value
    elif isinstance(node, ast.JoinedStr):
        words = "".join(part.value for part in node.values if isinstance(part, ast.Constant))
        if _is_read(words):
            yield words
    elif isinstance(node, ast.IfExp):
        yield from _plain_words(node.body)
        yield from _plain_words(node.orelse)
    elif isinstance(node, ast.List | ast.Tuple):
        for one in node.elts:
            yield from _plain_words(one)


def _is_read(words: str) -> bool:
    letters = sum(one.isalpha() for one in words)
    return letters > 2 and words.strip() not in AS_THEY_ARE and not words.startswith(("<", "QProgressBar"))


def test_no_sentence_is_written_past_the_translation() -> None:
    found = [one for path in sorted((ROOT / "curator" / "ui").rglob("*.py")) for one in unwrapped(path)]
    assert not found, "\n".join(found)


def test_every_sentence_is_german_too() -> None:
    assert languages() == ["de"]
    assert len(sentences()) > 500
    assert missing("de") == []


def test_the_file_is_what_the_source_asks_for() -> None:
    asked = sentences()
    gone = [key[0] for key in catalogue_of("de") if key not in asked]
    assert gone == [], "python tests/translations.py --write"
    assert dict(read_po(written("de"))).keys() - {("", "")} == asked.keys()


def test_what_is_filled_in_is_the_same() -> None:
    wrong = []
    for (one, many), forms in catalogue_of("de").items():
        allowed = _fields(one) | _fields(many)
        wrong += [(one, form) for form in forms if _fields(form) - allowed or (_fields(one) - _fields(form) - {"n"})]
    assert wrong == []


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


def test_every_command_and_its_help_are_translated(german: Catalogue) -> None:
    same = {one.title for one in COMMANDS if german.find((one.title, "")) is None or tr(one.help) == one.help}
    assert same == set()


def test_numbers_choose_their_form(german: Catalogue) -> None:
    forms = [ntr("{n} decision", "{n:,} decisions", n) for n in (1, 2, 0)]
    assert forms == ["1 Entscheidung", "2 Entscheidungen", "0 Entscheidungen"]


def test_without_a_translation_english_is_spoken(german: Catalogue) -> None:
    assert tr("Nobody translated {this}.", this="that") == "Nobody translated that."
    assert ntr("{n} cat", "{n} cats", 2) == "2 cats"
    assert tr("Undo") == "Rückgängig"


def test_a_widget_that_is_made_now_speaks_german(german: Catalogue, qtbot: QtBot, qapp: QApplication) -> None:
    dialog = SettingsDialog(Settings())
    qtbot.addWidget(dialog)
    assert dialog.windowTitle() == "Einstellungen"
    assert dialog.ok.text() == "Speichern"


def test_the_setting_names_the_language() -> None:
    assert code_of(Language.GERMAN) == "de"
    assert code_of(Language.ENGLISH) == "en"
    assert code_of(Language.SYSTEM) in ("en", "de")


def test_a_po_file_is_read_with_its_plurals_and_line_breaks() -> None:
    text = HEAD.format(language="xx") + '\nmsgid "a\\n"\n"b \\"c\\""\nmsgstr "d"\n\nmsgid "x"\nmsgid_plural "xs"\n'
    text += 'msgstr[0] "y"\nmsgstr[1] "ys"\n'
    found = dict(read_po(text))
    assert found[('a\nb "c"', "")] == ("d",)
    assert found[("x", "xs")] == ("y", "ys")


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_signals_that_end_the_program_arrive_in_the_event_loop(qtbot: QtBot, qapp: QApplication) -> None:
    """A logout or a closed terminal ended it at once: the project was not closed, and no last backup was made."""
    numbers = (signal.SIGTERM, signal.SIGHUP, signal.SIGINT)
    former = [signal.signal(one, signal.SIG_DFL) for one in numbers]  # one may be ignored here, as under nohup
    got: list[int] = []
    signals = EndSignals(qapp, got.append)
    try:
        for one in numbers:
            os.kill(os.getpid(), one)
        assert got == []
        assert [signal.getsignal(one) for one in numbers] == [signal.SIG_DFL] * 3, "a second one ends it at once"
        qtbot.waitUntil(lambda: len(got) == len(numbers))
    finally:
        signals.close()
        after = [signal.signal(one, handler) for one, handler in zip(numbers, former, strict=True)]
    assert set(got) == set(numbers)
    assert after == [signal.SIG_DFL] * 3


def test_a_thread_that_ends_with_an_error_is_said_in_the_window_s_thread(qtbot: QtBot) -> None:
    said: list[tuple[type[BaseException], bool]] = []

    def hook(kind: type[BaseException], *_: object) -> None:
        said.append((kind, threading.current_thread() is threading.main_thread()))

    for work in (lambda: 1 // 0, sys.exit):
        thread = threading.Thread(target=work)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(threading, "excepthook", app._of_threads(hook))
            thread.start()
            thread.join()
    qtbot.waitUntil(lambda: bool(said))
    assert said == [(ZeroDivisionError, True)]
