"""The window speaks the chosen language, English where a sentence has no translation; signals and errors arrive."""

from __future__ import annotations

import os
import signal
import string
import sys
import threading
from collections.abc import Iterator

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from curator.domain import wording
from curator.domain.wording import ENGLISH, Catalogue, ntr, tr
from curator.settings.schema import Language, Settings
from curator.ui.shell import app
from curator.ui.shell.app import EndSignals, catalogue, code_of, read_po
from curator.ui.shell.settings import SettingsDialog
from tests.translations import HEAD, catalogue_of


@pytest.fixture
def german() -> Iterator[Catalogue]:
    found = catalogue("de")
    wording.use(found)
    yield found
    wording.use(ENGLISH)


def test_what_is_filled_in_is_the_same() -> None:
    wrong = []
    for (one, many), forms in catalogue_of("de").items():
        allowed = _fields(one) | _fields(many)
        wrong += [(one, form) for form in forms if _fields(form) - allowed or (_fields(one) - _fields(form) - {"n"})]
    assert wrong == []


def _fields(text: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


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
