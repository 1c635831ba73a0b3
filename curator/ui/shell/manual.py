"""The manual (F1): the Markdown files of `resources/help`, with a list of pages and a search at the left."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from importlib import metadata, resources

from PySide6.QtCore import QEvent, Qt, QUrl, qVersion
from PySide6.QtGui import QDesktopServices, QFont, QKeyEvent, QTextCursor
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from curator import __version__
from curator.domain.wording import ntr, tr
from curator.services.records.installation import HOW_WORDS, this_installation
from curator.ui.kit.compose import pane, splitter
from curator.ui.kit.foreign_text import StillBrowser, tip
from curator.ui.kit.form import ShowDialog, sentence
from curator.ui.kit.labels import FindLine, ScaledLabel
from curator.ui.kit.worker import Worker

FOLDER = "help"
FIRST = "index.md"
LINKED = re.compile(r"\]\(([\w-]+\.md)\)")
MARKUP = re.compile(r"<!--.*?-->|\]\([^)]*\)|^\|[-| :]+\|$|[*`|\[\]#\\]", re.MULTILINE)
BEFORE, AFTER = 12, 60
"""Characters shown before and after a search result."""


def pages() -> dict[str, str]:
    """Map of file name to Markdown: the first page, then the others in the order of its links."""
    folder = resources.files("resources") / FOLDER
    if not folder.is_dir():
        return {}
    found = {one.name: one.read_text(encoding="utf-8") for one in folder.iterdir() if one.name.endswith(".md")}
    named = [FIRST, *LINKED.findall(found.get(FIRST, ""))]
    order = dict.fromkeys([*(one for one in named if one in found), *sorted(found)])
    return {name: found[name] for name in order}


def with_tables(name: str, page: str) -> tuple[str, str]:
    """A page with its tables. Those of the command line and of the formats take a second the first time: each command
    and each format is imported."""
    from curator.help_tables import filled

    return name, filled(page)


@dataclass(frozen=True, slots=True)
class Found:
    """A page that contains all search words; `words` is the text around the first."""

    name: str
    words: str


def search(found: dict[str, str], query: str) -> list[Found]:
    """The pages with all words of `query`, in any case: first matches in the title, then those with adjacent words,
    then the others, each in the order of the manual."""
    words = query.casefold().split()
    hits: list[tuple[int, Found]] = []
    for name, markdown in found.items():
        text = " ".join(MARKUP.sub("", markdown).split())
        low = text.casefold()
        if not words or not all(word in low for word in words):
            continue
        phrase = low.find(" ".join(words))
        at = phrase if phrase >= 0 else low.find(words[0])
        start = text.rfind(" ", 0, max(0, at - BEFORE)) + 1
        around = text[start : at + len(query) + AFTER]
        in_title = all(word in title_of(name, markdown).casefold() for word in words)
        hits.append((0 if in_title else 1 if phrase >= 0 else 2, Found(name, f"…{around}…")))
    return [hit for _, hit in sorted(hits, key=lambda one: one[0])]


def title_of(name: str, markdown: str) -> str:
    """The first heading, else the file's name."""
    heading = next((line for line in markdown.splitlines() if line.startswith("# ")), f"# {name.removesuffix('.md')}")
    return heading[2:].strip()


class _Search(FindLine):
    """Enter goes to the next hit, the arrow keys to the pages."""

    def __init__(self, name: str, placeholder: str, manual: Manual) -> None:
        super().__init__(name, placeholder, manual)
        self._manual = manual

    def keyPressEvent(self, event: QKeyEvent) -> None:
        rows = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}
        super().keyPressEvent(event)
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._manual.onward()
        elif event.key() in rows:
            self._manual.list.setCurrentRow(self._manual.list.currentRow() + rows[Qt.Key(event.key())])


class Manual(ShowDialog):
    """Not modal: it can stay open next to the window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Manual"), parent)
        self._pages = pages()
        self._worker = Worker(self, in_turn=True)
        self.finished.connect(self._worker.close)
        self.list = QListWidget(self)
        self.list.setAccessibleName(tr("Pages"))
        for name, markdown in self._pages.items():
            item = QListWidgetItem(title_of(name, markdown), self.list)
            item.setData(Qt.ItemDataRole.UserRole, name)
        self.page = StillBrowser(self)
        self.page.setAccessibleName(tr("Page of the manual"))
        self.page.setOpenLinks(False)
        self.page.document().setDocumentMargin(18)
        self.line = _Search(tr("Search the manual"), tr("Search the manual"), self)
        self.count = sentence("", muted=True)
        self.count.hide()
        left = pane(self.line, self.count, self.list, parent=self)
        self.splitter = splitter(left, self.page, parent=self, sizes=(320, 580), stretch=(0, 1), across=True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.body.addWidget(self.splitter, 1)
        self.resize(900, 680)
        self.list.currentItemChanged.connect(self._chosen)
        self.page.anchorClicked.connect(self._follow)
        self.line.textChanged.connect(self._search)
        self.line.setFocus()
        if self._pages:
            self.list.setCurrentRow(0)
            for name, page in self._pages.items():
                if "<!-- table:" in page:
                    self._worker.ask(partial(with_tables, name, page), self._take)
        else:
            self.page.setPlainText(tr("The manual is not installed with this copy of Curator."))

    def _take(self, made: tuple[str, str]) -> None:
        """Show the tables of a page, and search in them."""
        name, page = made
        self._pages[name] = page
        if self.line.text().strip():
            self._search(self.line.text())
        elif (item := self.list.currentItem()) is not None and item.data(Qt.ItemDataRole.UserRole) == name:
            self._show(name)

    # --- searching ---

    def _search(self, query: str) -> None:
        """List the pages with the words (all without words), and show the first hit."""
        hits = search(self._pages, query)
        listed = hits if query.strip() else [Found(name, "") for name in self._pages]
        shown = self.list.currentItem()
        before = shown.data(Qt.ItemDataRole.UserRole) if shown is not None else FIRST
        self.list.blockSignals(True)
        self.list.clear()
        for hit in listed:
            title = title_of(hit.name, self._pages[hit.name])
            item = QListWidgetItem(f"{title}\n{hit.words}" if hit.words else title, self.list)
            item.setData(Qt.ItemDataRole.UserRole, hit.name)
            item.setToolTip(tip(hit.words))
        self.list.blockSignals(False)
        self.count.setVisible(bool(query.strip()))
        self.count.setText(
            ntr("{n} page", "{n} pages", len(hits)) if hits else tr("No page has “{query}”.", query=query.strip())
        )
        if query.strip():
            self.list.setCurrentRow(0)
        elif listed:
            self.list.setCurrentRow([hit.name for hit in listed].index(before))

    def _places(self) -> list[QTextCursor]:
        """The positions of the search words on the page, in order."""
        found: list[QTextCursor] = []
        for word in self.line.text().split():
            at = self.page.document().find(word)
            while not at.isNull():
                found.append(at)
                at = self.page.document().find(word, at)
        return sorted(found, key=lambda one: one.selectionStart())

    def _mark(self) -> None:
        """Highlight the hits, and scroll to the first."""
        places, marks = self._places(), []
        for place in places:
            mark = QTextEdit.ExtraSelection()
            mark.cursor = place
            mark.format.setBackground(self.palette().highlight())
            mark.format.setForeground(self.palette().highlightedText())
            marks.append(mark)
        self.page.setExtraSelections(marks)
        if places:
            self._go(places[0])

    def _go(self, place: QTextCursor) -> None:
        here = QTextCursor(place)
        here.setPosition(place.selectionStart())
        self.page.setTextCursor(here)
        bar = self.page.verticalScrollBar()
        bar.setValue(bar.value() + self.page.cursorRect(here).top() - self.page.viewport().height() // 3)

    def onward(self) -> None:
        """Go to the next hit on the page, else to the next page."""
        places, here = self._places(), self.page.textCursor().position()
        later = [one for one in places if one.selectionStart() > here]
        if later:
            self._go(later[0])
        elif self.list.count():
            self.list.setCurrentRow((self.list.currentRow() + 1) % self.list.count())
            if self.list.count() == 1 and places:
                self._go(places[0])

    # --- showing ---

    def _chosen(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self._show(str(item.data(Qt.ItemDataRole.UserRole)))

    def _show(self, name: str) -> None:
        self.page.setMarkdown(self._pages[name])
        self._mark()

    def changeEvent(self, event: QEvent) -> None:
        """Reload the page, as links keep the colour of the time of loading."""
        super().changeEvent(event)
        item = self.list.currentItem() if hasattr(self, "list") else None
        if event.type() is QEvent.Type.PaletteChange and item is not None:
            place = self.page.verticalScrollBar().value()
            self._show(str(item.data(Qt.ItemDataRole.UserRole)))
            self.page.verticalScrollBar().setValue(place)

    def _follow(self, url: QUrl) -> None:
        """Open another page, an anchor in this page, or a web page in the browser."""
        name = url.fileName()
        if url.isRelative() and name in self._pages:
            self.line.clear()
            self.list.setCurrentRow(list(self._pages).index(name))
        elif url.isRelative() and url.hasFragment():
            self.page.scrollToAnchor(url.fragment())
        elif url.scheme() in ("http", "https"):
            QDesktopServices.openUrl(url)


# *Help > About*: version, place and kind of installation, licences, the device in use.

PLACE = "Installed {how}, in {folder}"
WHAT = "Curate entity links in PubMed and Wikia documents with an embedded, retrainable entity linker."
QT = (
    "The window uses Qt {qt} through PySide6 {pyside} under the GNU LGPL version 3, linked dynamically: "
    "you may replace these libraries with your own."
)


class AboutDialog(ShowDialog):
    """`device` is the linker's sentence about it."""

    def __init__(self, *, device: str, parent: QWidget | None = None) -> None:
        super().__init__(tr("About Curator"), parent)
        name = ScaledLabel(tr("Curator {version}", version=__version__), scale=1.5, bold=True)
        self.device = sentence(device or tr("The linker is not running, so no device is in use."), selectable=True)
        self.device.setAccessibleName(tr("Device"))
        found = this_installation()
        self.place = sentence(tr(PLACE, folder=found.folder, how=tr(HOW_WORDS[found.how])), selectable=True)
        self.place.setAccessibleName(tr("Installation"))
        qt = tr(QT, qt=qVersion(), pyside=metadata.version("PySide6-Essentials"))
        for widget in (
            name,
            sentence(tr(WHAT)),
            self.place,
            self.device,
            sentence(tr("Curator is licensed under the Apache License 2.0. {qt}", qt=qt)),
        ):
            self.body.addWidget(widget)
        self.notice = QPlainTextEdit(notice(), self)
        self.notice.setReadOnly(True)
        self.notice.setTabChangesFocus(True)
        self.notice.setAccessibleName(tr("Licences of included components"))
        self.notice.setFont(QFont(self.font()))
        self.body.addWidget(self.notice, 1)
        self.resize(620, 520)


def notice() -> str:
    """The parts of Curator and their licences."""
    return (resources.files("resources") / "NOTICE").read_text(encoding="utf-8")
