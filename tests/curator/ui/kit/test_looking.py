"""Files are recognised in a background thread: counted, stopped, and never lost."""

from __future__ import annotations

import logging
import threading
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from curator.domain.wording import CancelledError
from curator.io.recognition import Registry
from curator.io.registry import default_registry
from curator.services.importing.import_sources import look
from curator.services.ports.files import DocumentFormat
from curator.ui.files.document_files import DocumentFiles
from curator.ui.files.import_documents import ImportDialog
from curator.ui.kit import worker as looking
from curator.ui.kit.worker import FileScan


@dataclass
class SlowFormats:
    """The real ones, which wait at the file that is called `at` until the gate is open."""

    at: str = ""
    real: Registry = field(default_factory=default_registry)
    gate: threading.Event = field(default_factory=threading.Event)
    waits: threading.Event = field(default_factory=threading.Event)
    asked: Counter[str] = field(default_factory=Counter)
    threads: set[threading.Thread] = field(default_factory=set)

    def recognise(self, path: Path, options: Any = None) -> DocumentFormat:
        self.asked[path.name] += 1
        self.threads.add(threading.current_thread())
        if path.name == self.at:
            self.waits.set()
            assert self.gate.wait(20)
        return self.real.recognise(path, options)

    def files_in(self, path: Path) -> Sequence[Path]:
        return self.real.files_in(path)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.real, name)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "corpus"
    made.mkdir()
    for number in (1, 2, 3):
        (made / f"{number}.txt").write_text(f"{number}|t|Title\n{number}|a|Text.\n\n")
    return made


@pytest.fixture
def slow() -> Iterator[SlowFormats]:
    made = SlowFormats(at="3.txt")
    yield made
    made.gate.set()


def test_import_waits_until_every_file_was_looked_at(
    qtbot: QtBot, slow: SlowFormats, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looking, "EVERY", 0.0)
    dialog = ImportDialog(slow, gold=False, paths=[folder])
    qtbot.addWidget(dialog)
    assert slow.waits.wait(20)
    qtbot.waitUntil(lambda: "3 so far" in dialog.problem.text())  # the folder itself, and two of its files
    assert not dialog.ok.isEnabled()
    assert dialog.files.lines.rowCount() == 0
    dialog.accept()
    assert dialog.result() == 0
    slow.gate.set()
    qtbot.waitUntil(lambda: not dialog.list.reading)
    assert dialog.ok.isEnabled()
    assert dialog.problem.text() == ""
    assert [dialog.files.lines.index(row, 1).data() for row in range(3)] == ["PubTator"] * 3
    assert dialog.wish.paths == tuple(folder / f"{n}.txt" for n in (1, 2, 3))
    assert threading.main_thread() not in slow.threads
    dialog.reject()


def test_return_imports_once_everything_was_looked_at(qtbot: QtBot, slow: SlowFormats, folder: Path) -> None:
    """While it waits, Import is disabled; the focus must not have moved to Cancel."""
    dialog = ImportDialog(slow, gold=False, paths=[folder])
    qtbot.addWidget(dialog)
    dialog.show()
    assert slow.waits.wait(20)
    assert not dialog.ok.isEnabled()
    slow.gate.set()
    qtbot.waitUntil(lambda: not dialog.list.reading)
    focus = dialog.focusWidget()
    assert focus is dialog.list.table
    with qtbot.assertNotEmitted(dialog.accepted):
        qtbot.keyClick(focus, Qt.Key.Key_Return)  # nobody has done anything here yet
    qtbot.keyClick(focus, Qt.Key.Key_Down)
    with qtbot.waitSignal(dialog.accepted):
        qtbot.keyClick(focus, Qt.Key.Key_Return)


def test_what_is_added_meanwhile_is_looked_at_too(qtbot: QtBot, slow: SlowFormats, folder: Path) -> None:
    files = DocumentFiles(slow)
    qtbot.addWidget(files)
    for number in (3, 1, 2):
        files.add_paths([folder / f"{number}.txt"])
    assert slow.waits.wait(20)
    assert files.looking == "Reading the files…"
    slow.gate.set()
    qtbot.waitUntil(lambda: not files.reading)
    assert [one.name for one in files.paths] == ["3.txt", "1.txt", "2.txt"]
    files.table.selectAll()
    files.remove.click()
    assert files.paths == ()
    assert files.table.lines.rowCount() == 0
    files.close_reading()


def test_a_dialog_that_is_left_stops_at_the_next_file(qtbot: QtBot, slow: SlowFormats, folder: Path) -> None:
    slow.at = "1.txt"
    dialog = ImportDialog(slow, gold=False, paths=[folder])
    qtbot.addWidget(dialog)
    assert slow.waits.wait(20)
    asked = dict(slow.asked)
    files = dialog.list

    def go_on_once_left() -> None:
        end = time.monotonic() + 10
        while files.looking and time.monotonic() < end:
            time.sleep(0.001)
        slow.gate.set()

    thread = threading.Thread(target=go_on_once_left)
    thread.start()
    dialog.reject()  # waits for the file that is being looked at
    thread.join()
    assert dict(slow.asked) == asked


def test_a_bug_in_a_format_is_a_file_that_cannot_be_read(
    qtbot: QtBot, folder: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    formats = SlowFormats()
    monkeypatch.setattr(SlowFormats, "recognise", lambda self, path, options=None: 1 // 0)
    files = DocumentFiles(formats)
    qtbot.addWidget(files)
    with caplog.at_level(logging.CRITICAL, "curator.ui.kit.worker"):
        files.add_paths([folder])
        qtbot.waitUntil(lambda: not files.reading)
    assert files.paths == (folder,)
    assert "See the log for the reason" in files.problem
    files.close_reading()


def test_looking_stops_where_it_is_told(slow: SlowFormats, folder: Path) -> None:
    stop = threading.Event()
    with pytest.raises(CancelledError):
        look([folder], slow, count=lambda _: stop.set(), stop=stop)
    assert dict(slow.asked) == {"corpus": 1}


def test_each_file_is_asked_once(slow: SlowFormats, folder: Path) -> None:
    slow.gate.set()
    [found] = look([folder], slow)
    assert [(path.name, title) for path, title in found.sources] == [(f"{n}.txt", "PubTator") for n in (1, 2, 3)]
    assert dict(slow.asked) == {"corpus": 1, "1.txt": 1, "2.txt": 1, "3.txt": 1}


def test_nothing_is_told_after_closing(qapp: QApplication) -> None:
    told: list[object] = []
    made = FileScan()
    made.ask(lambda count, stop: 1, told.append)
    made.close()
    made.ask(lambda count, stop: 2, told.append)
    qapp.processEvents()
    assert not told
    assert not made.busy
