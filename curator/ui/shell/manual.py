"""The manual (F1): the Markdown files of `resources/help`, with a list of pages at the left."""

from __future__ import annotations

from importlib import metadata, resources

from PySide6.QtCore import QEvent, Qt, QUrl, qVersion
from PySide6.QtGui import QDesktopServices, QFont, QShowEvent
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QPlainTextEdit, QSplitter, QTextBrowser, QWidget

from curator import __version__
from curator.domain.wording import tr
from curator.ui.kit import ScaledLabel, ShowDialog, sentence

FOLDER = "help"
FIRST = "index.md"


def pages() -> dict[str, str]:
    """File name -> Markdown, the first page first."""
    folder = resources.files("resources") / FOLDER
    if not folder.is_dir():
        return {}
    found = {one.name: one.read_text(encoding="utf-8") for one in folder.iterdir() if one.name.endswith(".md")}
    return dict(sorted(found.items(), key=lambda page: (page[0] != FIRST, page[0])))


def title_of(name: str, markdown: str) -> str:
    """The first heading, else the file's name."""
    heading = next((line for line in markdown.splitlines() if line.startswith("# ")), f"# {name.removesuffix('.md')}")
    return heading[2:].strip()


class Manual(ShowDialog):
    """Not modal: it can stay beside the window."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(tr("Manual"), parent)
        self._pages = pages()
        self.list = QListWidget(self)
        self.list.setAccessibleName(tr("Pages"))
        for name, markdown in self._pages.items():
            item = QListWidgetItem(title_of(name, markdown), self.list)
            item.setData(Qt.ItemDataRole.UserRole, name)
        self.page = QTextBrowser(self)
        self.page.setAccessibleName(tr("Page of the manual"))
        self.page.setOpenLinks(False)
        self.page.document().setDocumentMargin(18)
        splitter = QSplitter(Qt.Orientation.Horizontal, self)
        splitter.addWidget(self.list)
        splitter.addWidget(self.page)
        splitter.setStretchFactor(1, 1)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setTextElideMode(Qt.TextElideMode.ElideRight)
        self.splitter = splitter
        self.body.addWidget(splitter, 1)
        self.resize(900, 680)
        self.list.currentItemChanged.connect(lambda item: self._show(str(item.data(Qt.ItemDataRole.UserRole))))
        self.page.anchorClicked.connect(self._follow)
        if self._pages:
            self.list.setCurrentRow(0)
        else:
            self.page.setPlainText(tr("The manual is not installed with this copy of Curator."))

    def _show(self, name: str) -> None:
        self.page.setMarkdown(self._pages[name])

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._fit_pages()

    def _fit_pages(self) -> None:
        """The titles whole, where the page still gets the larger part."""
        titles = self.list.sizeHintForColumn(0) + self.list.verticalScrollBar().sizeHint().width() + 4
        whole = self.width()
        pages = min(titles, whole * 2 // 5)
        self.splitter.setSizes([pages, whole - pages])

    def changeEvent(self, event: QEvent) -> None:
        """Links have their colour from when the page was set."""
        super().changeEvent(event)
        item = self.list.currentItem() if hasattr(self, "list") else None
        if event.type() is QEvent.Type.FontChange and hasattr(self, "splitter"):
            self._fit_pages()
        if event.type() is QEvent.Type.PaletteChange and item is not None:
            place = self.page.verticalScrollBar().value()
            self._show(str(item.data(Qt.ItemDataRole.UserRole)))
            self.page.verticalScrollBar().setValue(place)

    def _follow(self, url: QUrl) -> None:
        """Another page, a place in this one, or a page of the web in the browser."""
        name = url.fileName()
        if url.isRelative() and name in self._pages:
            self.list.setCurrentRow(list(self._pages).index(name))
        elif url.isRelative() and url.hasFragment():
            self.page.scrollToAnchor(url.fragment())
        elif url.scheme() in ("http", "https"):
            QDesktopServices.openUrl(url)


# *Help > About*: version, licences, the device that serves.

WHAT = "Curate entity links in PubMed and Wikia documents with an embedded, retrainable entity linker."
QT = (
    "The window uses Qt {qt} through PySide6 {pyside} under the GNU LGPL version 3, linked dynamically: "
    "you may replace these libraries by your own."
)


class AboutDialog(ShowDialog):
    """`device` is the linker's own sentence."""

    def __init__(self, *, device: str, parent: QWidget | None = None) -> None:
        super().__init__(tr("About Curator"), parent)
        name = ScaledLabel(tr("Curator {version}", version=__version__), scale=1.5, bold=True)
        self.device = sentence(device or tr("The linker is not running, so no device serves now."), selectable=True)
        self.device.setAccessibleName(tr("Device"))
        qt = tr(QT, qt=qVersion(), pyside=metadata.version("PySide6-Essentials"))
        for widget in (
            name,
            sentence(tr(WHAT)),
            self.device,
            sentence(tr("Curator is under the Apache License 2.0. {qt}", qt=qt)),
        ):
            self.body.addWidget(widget)
        self.notice = QPlainTextEdit(notice(), self)
        self.notice.setReadOnly(True)
        self.notice.setTabChangesFocus(True)
        self.notice.setAccessibleName(tr("Licences of what Curator contains"))
        self.notice.setFont(QFont(self.font()))
        self.body.addWidget(self.notice, 1)
        self.resize(620, 520)


def notice() -> str:
    """What Curator contains and under which licences."""
    return (resources.files("resources") / "NOTICE").read_text(encoding="utf-8")
