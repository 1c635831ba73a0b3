"""Text of others stays text, and no page opens a file."""

from __future__ import annotations

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QImage, QPainter, QTextDocument
from PySide6.QtWidgets import QLabel, QMessageBox
from pytestqt.qtbot import QtBot

import curator.ui
from curator.ui.kit.foreign_text import (
    LONGEST,
    MOST_PASTED,
    TIP_LINES,
    UNBROKEN,
    PlainEdit,
    PlainLabel,
    StillBrowser,
    escaped,
    shown,
    tip,
)
from curator.ui.kit.row_list import draw_words

UI = Path(curator.ui.__path__[0])
NASTY = ("<b>x</b>", '<img src="file:///etc/hostname">', '<a href="http://x">y</a>', "&amp;", "a & b < c", "&lt;b&gt;")
ODD = "a\0b\u202ec\u2066d\ud800e\x1b[31m\x9b"


def seen(text: str) -> str:
    """What a label of Qt makes of a tooltip."""
    if "<" not in text and "&" not in text:
        return text
    document = QTextDocument()
    document.setHtml(text)
    return document.toPlainText()


@pytest.mark.parametrize("text", NASTY)
def test_a_tooltip_shows_markup_as_written(qtbot: QtBot, text: str) -> None:
    assert seen(tip(text)) == text
    assert seen(tip(f"{text}\n\n{text}")) == f"{text}\n\n{text}"
    assert seen(f"<b>Bold</b> {escaped(text)}") == f"Bold {text}"


def test_plain_words_make_a_plain_tooltip() -> None:
    assert tip("Heart Arrest\nMESH:D006323") == "Heart Arrest\nMESH:D006323"
    assert tip("") == ""


def test_characters_that_are_not_seen_are_replaced(qtbot: QtBot) -> None:
    replaced = "a�b�c�d�e�[31m�"
    assert shown(ODD) == tip(ODD) == replaced
    label = PlainLabel(ODD)
    qtbot.addWidget(label)
    assert label.text() == replaced
    assert shown("α\u200f\u200d 😀\n\tx") == "α\u200f\u200d 😀\n\tx"


def test_a_very_long_text_takes_little_room(qtbot: QtBot) -> None:
    for text in ("x" * 100_000, "x " * 50_000, "x\n" * 50_000, "<" * 100_000):
        lines = seen(tip(text)).split("\n")
        assert len(lines) <= TIP_LINES
        assert max(map(len, lines)) <= 100
        label = PlainLabel(text)
        qtbot.addWidget(label)
        assert len(label.text()) == LONGEST
        assert label.text().endswith("…")
    image = QImage(100, 20, QImage.Format.Format_RGB32)
    painter = QPainter(image)
    width = draw_words(painter, QRectF(0, 0, 100, 20), "x" * 100_000, font=QFont(), colour=QColor("black"))
    painter.end()
    assert 0 < width <= 101


def test_a_label_shows_markup_as_written(qtbot: QtBot) -> None:
    plain, rich = PlainLabel(NASTY[0]), QLabel(NASTY[0])
    for label in (plain, rich):
        qtbot.addWidget(label)
    assert plain.textFormat() is Qt.TextFormat.PlainText
    assert plain.sizeHint().width() > 2 * rich.sizeHint().width()


# --- pages ---


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with an image in it and one beside it."""
    project = tmp_path / "p.curation"
    (project / "images").mkdir(parents=True)
    for path in (project / "images" / "in.png", tmp_path / "out.png", project / "notes.txt"):
        image = QImage(4, 4, QImage.Format.Format_RGB32)
        image.fill(QColor("red"))
        assert image.save(str(path), "PNG")
    (project / "link.png").symlink_to(tmp_path / "out.png")
    (project / "up").symlink_to(tmp_path)
    os.mkfifo(project / "pipe.png")
    return project


def loads(folder: Path | None, url: str, qtbot: QtBot) -> bool:
    """Whether an image of the guidelines, which is red, is painted."""
    browser = StillBrowser(images=folder)
    qtbot.addWidget(browser)
    browser.resize(100, 50)
    browser.setMarkdown(f"![a](<{url}>)")
    painted = browser.grab().toImage()
    return any(painted.pixelColor(x, y) == QColor("red") for x in range(100) for y in range(50))


def test_images_of_the_projects_folder_are_shown(folder: Path, qtbot: QtBot) -> None:
    assert loads(folder, "images/in.png", qtbot)
    assert not loads(None, "images/in.png", qtbot)


def test_nothing_outside_the_projects_folder_is_read(folder: Path, qtbot: QtBot) -> None:
    beside = folder.parent / "out.png"
    for url in (
        "../out.png",
        "images/../../out.png",
        "%2e%2e/out.png",
        "link.png",
        "up/out.png",
        "pipe.png",
        "notes.txt",
        "project.sqlite",
        "images",
        str(beside),
        f"file://{beside}",
        f"file:{beside}",
        f"file://{folder}/images/in.png",
        "//localhost/images/in.png",
        "http://127.0.0.1:9/in.png",
        "data:image/png;base64,iVBORw0KGgo=",
        "qrc:/images/in.png",
        "a\0b.png",
    ):
        assert not loads(folder, url, qtbot), url


def test_html_in_markdown_is_shown_as_written_and_fetches_nothing(folder: Path, qtbot: QtBot) -> None:
    browser = StillBrowser(images=folder)
    qtbot.addWidget(browser)
    text = f"<img src='file://{folder.parent}/out.png'> <b>x</b>"
    browser.setMarkdown(text)
    assert browser.toPlainText().strip() == text
    browser.setHtml("<style>body { background: url(file:///etc/hostname) }</style><a href='file:///etc'>x</a>")
    assert not browser.openLinks()


# --- nothing else is made ---


@pytest.mark.parametrize("text", ["word " * (100 << 20 >> 2), "x" * (UNBROKEN + 1)], ids=["100 MB", "no blank"])
def test_a_clipboard_that_is_too_much_is_refused_with_a_sentence(qtbot: QtBot, text: str) -> None:
    edit = PlainEdit("before")
    qtbot.addWidget(edit)
    data = QMimeData()
    data.setText(text)
    edit.insertFromMimeData(data)
    assert edit.toPlainText() == "before"
    (box,) = edit.findChildren(QMessageBox)
    assert "Nothing was pasted." in box.text()
    box.close()


def test_what_a_person_pastes_is_taken_as_text(qtbot: QtBot) -> None:
    edit = PlainEdit()
    qtbot.addWidget(edit)
    data = QMimeData()
    data.setText("12345678\n" * 1000)
    data.setHtml("<img src='file:///etc/hostname'>")
    edit.insertFromMimeData(data)
    assert edit.toPlainText() == "12345678\n" * 1000
    assert MOST_PASTED > 100_000


def test_guidelines_without_a_blank_can_be_laid_out(qtbot: QtBot) -> None:
    browser = StillBrowser()
    qtbot.addWidget(browser)
    browser.setMarkdown("x" * 100_000)
    words = browser.toPlainText().split()
    assert max(map(len, words)) <= UNBROKEN
    assert "".join(words) == "x" * 100_000


def modules(*words: str) -> Iterator[tuple[str, ast.Module]]:
    """Those with one of the words: to parse the others takes longest."""
    for path in UI.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if any(one in text for one in words):
            yield path.relative_to(UI).as_posix(), ast.parse(text)


OF_QT = ("QLabel", "QTextBrowser", "QTextEdit")
OWN = {
    "kit/foreign_text.py": "the rule",
    "shell/keys_overlay.py": "the keys, which it escapes",
    "document/screen_reader.py": "plain",
}
"""Modules that may make labels and browsers of Qt."""
TIPS_OF_OUR_OWN = {"document/document_view.py": "the painted text, escaped", "queue/facets_panel.py": "our own words"}
"""Modules that show tooltips by themselves."""


def test_labels_and_pages_are_those_of_the_kit() -> None:
    wrong = []
    for module, tree in modules(*OF_QT):
        for node in ast.walk(tree):
            made = [node.func] if isinstance(node, ast.Call) else node.bases if isinstance(node, ast.ClassDef) else []
            names = {one.id for one in made if isinstance(one, ast.Name)} & {*OF_QT}
            if names and module not in OWN:
                wrong.append(f"{module}:{node.lineno} {names}")
    assert not wrong, "use PlainLabel and StillBrowser: " + ", ".join(wrong)


def test_every_tooltip_is_our_own_words_or_goes_through_tip() -> None:
    wrong = []
    for module, tree in modules("ToolTip"):
        names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
        attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        if "ToolTipRole" in attributes and not names & {"tip", "in_role"}:
            wrong.append(f"{module} gives tooltips")
        if "QToolTip" in names and module not in TIPS_OF_OUR_OWN:
            wrong.append(f"{module} shows tooltips")
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setToolTip":
                wrong += [f"{module}:{node.lineno}"] * (not _is_harmless(node.args[-1]))
    assert not wrong, "use tip() or in_role(): " + ", ".join(wrong)


def _is_harmless(words: ast.expr) -> bool:
    """A literal, words of ours without anything put in, or what `tip` gives."""
    if isinstance(words, ast.IfExp):
        return _is_harmless(words.body) and _is_harmless(words.orelse)
    if isinstance(words, ast.Call) and isinstance(words.func, ast.Name):
        return words.func.id == "tip" or (words.func.id == "tr" and not words.keywords)
    return isinstance(words, ast.Constant)
