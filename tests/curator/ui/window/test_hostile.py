"""Whatever documents, knowledge bases, files and colleagues are called is shown as written, in every window."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import QAbstractListModel, QModelIndex, Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QComboBox,
    QGroupBox,
    QLabel,
    QTabBar,
    QTextEdit,
    QWidget,
)

from curator.bootstrap import join
from curator.domain.attributes import Scheme
from curator.domain.decisions import Verdict
from curator.services.ports.queue import QueueFilter
from curator.settings.schema import Settings
from curator.ui.kit.messages import ask, choose, tell
from curator.ui.shell.keys_overlay import KeysOverlay
from curator.ui.shell.main_window import MainWindow
from tests.curator.services import fakes
from tests.curator.services.fakes import FakeLinker, World, finish, make_store
from tests.curator.ui.window import every_window
from tests.curator.ui.window.fakes import Desk, WindowJobs
from tests.curator.ui.window.test_reach import each_dialog

NASTY = '<b>x</b><img src="file:///etc/hostname"><a href="x">y</a>&amp;\u202e'
"""What a stranger calls things."""
NAME = NASTY.replace("/", "∕").replace('"', "'")
"""As the name of a file."""
SHOWN_ROWS = 5
TAGS = re.compile(r"<(?:b>x|img|a )")
ALONE = re.compile("(?<!&)&amp;")


def nasty(what: str) -> str:
    return f"{what} {NASTY}"


KB: tuple[dict[str, Any], ...] = tuple(
    {
        "id": nasty(f"N:{n}"),
        "name": nasty(f"Name {n}"),
        "synonyms": [nasty("Synonym"), nasty("Other")],
        "types": [nasty("Type")],
        "definition": nasty("Definition"),
        "parents": [nasty("N:1")] if n > 1 else [],
    }
    for n in (1, 2, 3)
)


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    """A project in which everything that has a name, a text or a comment has that of a stranger."""
    monkeypatch.setattr(fakes, "KB", KB)
    linker, jobs = FakeLinker(), WindowJobs(tmp_path / "log")
    store = make_store(tmp_path, name=f"p{NAME}")
    project = join(store, Settings(), curator=nasty("ada"), linker=True, linker_port=linker, job_port=jobs)
    made = World(project, store, linker, jobs, tmp_path)
    made.kb(KB, name=f"kb{NAME}.jsonl")
    mention, type_ = nasty("gout"), nasty("Type")
    for number in (1, 2):
        title, text = f"{mention} and {mention}", f"{mention} hurts"
        at = len(title) + 1
        spans = ((0, len(mention)), (len(mention) + 5, len(title)), (at, at + len(mention)))
        rows = [f"{number}\t{start}\t{end}\t{mention}\t{type_}\t-\n" for start, end in spans]
        file = made.write(f"{number}|t|{title}\n{number}|a|{text}\n{''.join(rows)}\n", name=f"{number}{NAME}.pubtator")
        finish(project.importing.documents([file]))
    project.retraining.build_index(on_progress=fakes.ignore, on_end=fakes.ignore)
    ids = project.queue.ids(QueueFilter())
    project.suggestions.request(ids, urgent=False)
    first, second, *_ = made.mentions(ids[0])
    project.curation.decide(first, Verdict.link(str(KB[0]["id"])))
    project.curation.decide(second, Verdict.nil())
    project.notes.comment(ids[0], nasty("Comment"), mention_id=first)
    project.attributes.save(Scheme().with_attribute("<b>x</b>", ("<img>", "R&D")))
    project.rounds.create(nasty("Round"), ids[:1])
    project.guidelines.set_text(f"# {nasty('Heading')}\n\n{NASTY}\n")
    return made


@pytest.fixture
def desk(window: MainWindow, world: World) -> Desk:
    window.session.show(world.project)
    return Desk(window, world)


# --- what is wrong in a window ---


def wrong_in(top: QWidget, met: Counter[str]) -> Iterator[str]:
    """Each text that Qt would take for something else than text; `met` counts those that are shown as they should."""
    for one in (top, *top.findChildren(QWidget)):
        name = f"{type(one).__name__} {one.objectName()}"
        yield from _rich(f"tooltip of {name}", one.toolTip(), met)
        yield from _rich(f"What's this of {name}", one.whatsThis(), met)
        if isinstance(one, QLabel) and not isinstance(one.parentWidget(), _sheet()):
            plain = one.textFormat() is Qt.TextFormat.PlainText
            met["label"] += plain and "<img" in one.text()
            if TAGS.search(one.text()) and not plain:
                yield f"{name}: {one.text()}"
        elif isinstance(one, QAbstractButton):
            yield from _underlined(name, one.text(), met)
        elif isinstance(one, QGroupBox):
            yield from _underlined(name, one.title(), met)
        elif isinstance(one, QTabBar):
            for tab in range(one.count()):
                yield from _underlined(name, one.tabText(tab), met)
                yield from _rich(f"tab of {name}", one.tabToolTip(tab), met)
        elif isinstance(one, QTextEdit):
            text = one.toPlainText()
            met["page"] += "<img" in text
            if "\N{OBJECT REPLACEMENT CHARACTER}" in text or 'href="x"' in one.toHtml():
                yield f"{name} has an image or a link: {one.toHtml()}"
        if isinstance(one, QAbstractItemView | QComboBox) and one.model() is not None:
            for text in _tips(one.model(), QModelIndex()):
                yield from _rich(f"row of {name}", text, met, "row")
    for action in top.findChildren(QAction):
        yield from _rich(f"tooltip of {action.text()}", action.toolTip(), met)
        yield from _underlined("menu", action.text(), met)


def _sheet() -> type[QWidget]:
    """The keys, which are rich text of our own words."""
    return KeysOverlay


def _rich(where: str, text: str, met: Counter[str], kind: str = "tooltip") -> Iterator[str]:
    met[kind] += "&lt;img" in text
    if TAGS.search(text):
        yield f"{where}: {text}"


def _underlined(where: str, text: str, met: Counter[str]) -> Iterator[str]:
    """A single & underlines what follows and is not shown itself."""
    met["button"] += "<img" in text
    if ALONE.search(text):
        yield f"{where} loses its &: {text}"


def _tips(model: Any, parent: QModelIndex) -> Iterator[str]:
    role = Qt.ItemDataRole
    columns = 1 if isinstance(model, QAbstractListModel) else model.columnCount(parent)
    for row in range(min(model.rowCount(parent), SHOWN_ROWS)):
        for column in range(columns):
            index = model.index(row, column, parent)
            for one in (role.ToolTipRole, role.WhatsThisRole, role.StatusTipRole):
                yield str(index.data(one) or "")
        yield from _tips(model, model.index(row, 0, parent))
    for way in Qt.Orientation:
        for section in range(columns):
            yield str(model.headerData(section, way, role.ToolTipRole) or "")


def test_every_window_shows_the_words_of_strangers_as_written(desk: Desk, tmp_path: Path) -> None:
    met: Counter[str] = Counter()
    bench = desk.bench
    bench.guidelines.show_panel()
    QApplication.processEvents()
    wrong = {"the window": list(wrong_in(desk.window, met))}
    for name, dialog in each_dialog(desk):
        wrong[name] = list(wrong_in(dialog, met))
    for name, make in every_window.MAKERS.items():
        if not isinstance(make, str) and name != "MainWindow":
            made = make(desk, tmp_path)
            wrong[name] = list(wrong_in(made, met))
            made.close()
    assert {name: found for name, found in wrong.items() if found} == {}
    assert all(met[one] > 0 for one in ("label", "tooltip", "page", "row", "button")), met


def test_questions_and_messages_show_them_as_written(desk: Desk) -> None:
    met: Counter[str] = Counter()
    boxes = [
        tell(desk.window, nasty("Title"), nasty("Words"), details=nasty("Details"), wrong=True),
        ask(desk.window, nasty("Title"), nasty("Words"), yes="Yes", then=lambda: None),
        choose(desk.window, nasty("Title"), nasty("Words"), {"Close": lambda: None}),
    ]
    assert [found for box in boxes for found in wrong_in(box, met)] == []
    assert met["label"] == len(boxes)
    for box in boxes:
        box.reject()
