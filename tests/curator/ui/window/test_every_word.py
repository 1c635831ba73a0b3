"""A crawler for words that no translation reaches: in a made-up language everything that is translated is in ‹ ›."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QDialogButtonBox,
    QGroupBox,
    QLabel,
    QLineEdit,
    QMessageBox,
    QPushButton,
    QTableView,
    QTabWidget,
    QVBoxLayout,
    QWidget,
)
from pytestqt.qtbot import QtBot

from curator.domain import wording
from curator.domain.wording import Catalogue, Key
from tests.curator.ui.window.fakes import MakeDesk
from tests.curator.ui.window.test_reach import INNER, each_dialog

WORD = re.compile(r"[A-Za-z]{2,}")
OF_QT = {"Press shortcut"}
"""Qt's own words, which Qt's own translation has; those of its standard buttons are left out as such."""
AS_THEY_ARE = (
    r"ada|Lidocaine|Heart Arrest|p – Curator",  # who and what is curated
    r"BioC (JSON|XML)|PubTator|brat standoff.*|UIMA (XMI|CAS JSON)|W3C Web Annotation.*|WebAnno TSV 3|Plain text"
    r"|ZESHEL.*|Label Studio|PubAnnotation JSON|PubMed XML|MEDLINE \(nbib\)"
    r"|(BLINK|Curator) JSON lines|.*\b(CSV|TSV|XLSX|DocBin|MediaWiki|Hugging Face)\b.*",  # formats
    r"bf16|fp16|fp32|sq8|flat|pq4|bm25|auto|cpu|cuda",  # as on the command line and in files
    r"Proxy loss and mixed negatives after .*",  # a citation
    r"\d\d \w+ \d{4} .*untrained.*",  # a bundle, by its day and recipe
)


class MadeUp(Catalogue):
    def find(self, key: Key, n: int = 1) -> str:
        return f"‹{key[1] if key[1] and n != 1 else key[0]}›"


def words_of(top: QWidget) -> Iterator[str]:
    """What is to be read or heard of a window and all in it."""
    yield top.windowTitle()
    for one in (top, *top.findChildren(QWidget)):
        if not one.isVisible() or one.objectName() in INNER:
            continue
        yield from (one.accessibleName(), one.accessibleDescription(), one.toolTip())
        if isinstance(one, QAbstractButton) and _is_of_qt(one):
            continue
        if isinstance(one, QLabel | QAbstractButton):
            yield re.sub("<[^>]*>", "", one.text())
        elif isinstance(one, QGroupBox):
            yield one.title()
        elif isinstance(one, QLineEdit):
            yield one.placeholderText()
        elif isinstance(one, QComboBox):
            yield from (one.itemText(row) for row in range(one.count()))
        elif isinstance(one, QTabWidget):
            yield from (one.tabText(tab) for tab in range(one.count()))
        elif isinstance(one, QTableView):
            columns = range(one.horizontalHeader().count() if one.horizontalHeader().isVisible() else 0)
            yield from (str(one.model().headerData(at, Qt.Orientation.Horizontal) or "") for at in columns)


def _is_of_qt(button: QAbstractButton) -> bool:
    """A standard button that still says what Qt calls it, in the language that Qt speaks."""
    for parent in (button.parentWidget(), button.window()):
        if isinstance(parent, QDialogButtonBox | QMessageBox):
            standard = parent.standardButton(button)
            if standard.value:  # the boxes' enumerations have the same values
                return button.text() == _qt_words(standard.value)
    return False


def _qt_words(standard: int) -> str:
    box = QDialogButtonBox(QDialogButtonBox.StandardButton(standard))
    [button] = box.buttons()
    return button.text()


def untranslated(top: QWidget) -> list[str]:
    found = {one for one in words_of(top) if WORD.search(one) and "‹" not in one}
    return sorted(one for one in found - OF_QT if not any(re.fullmatch(data, one) for data in AS_THEY_ARE))


@pytest.fixture
def made_up() -> Iterator[None]:
    """The language of ‹ ›, from here on."""
    wording.use(MadeUp())
    yield
    wording.use(wording.ENGLISH)


def test_a_translation_reaches_every_word(made_up: None, make_desk: MakeDesk) -> None:
    desk = make_desk()
    wrong = {"the project": untranslated(desk.bench)}
    wrong |= {name: untranslated(dialog) for name, dialog in each_dialog(desk)}
    assert len(wrong) > 10
    assert {name: found for name, found in wrong.items() if found} == {}


def test_words_of_qt_are_left_out_only_on_its_own_buttons(qtbot: QtBot) -> None:
    top = QWidget()
    qtbot.addWidget(top)
    whole = QVBoxLayout(top)
    box = QDialogButtonBox(QDialogButtonBox.StandardButton.Cancel | QDialogButtonBox.StandardButton.Ok)
    whole.addWidget(box)
    top.show()
    assert untranslated(top) == []
    other = QPushButton("Cancel")
    whole.addWidget(other)
    other.show()
    box.button(QDialogButtonBox.StandardButton.Ok).setText("Do it")
    assert untranslated(top) == ["Cancel", "Do it"]
