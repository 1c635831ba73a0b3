"""Dialogs for the path and format of an export: gold, a release, the audit trail, a round, the knowledge base."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from PySide6.QtWidgets import QComboBox, QFileDialog, QSpinBox, QWidget

from curator.domain.wording import ntr, tr
from curator.services.records.exporting import ExportForecast, ExportScope, ExportTarget
from curator.ui.kit.compose import choice
from curator.ui.kit.form import FormDialog, PathEdit, sentence
from curator.ui.kit.labels import NoteLabel
from curator.ui.kit.worker import Worker

USUAL = "pubtator"
INTRO = "Writes the decisions in the format of the documents. What was not changed is written as it was imported."
SCOPES = {
    ExportScope.DECIDED: "All documents, with the decisions so far",
    ExportScope.DONE: "Documents that are done",
    ExportScope.ADJUDICATED: "Adjudicated mentions only",
}
ONE_FILE = "A file is written."
ALL_IN_ONE = "A file is written, with the documents of all {n:,} imported files."
FOLDER = "A folder is written."
ARCHIVE = "A zip archive is written."
CARRIES = "This format also says who decided each mention, and when."
CARRIES_NOT = "This format cannot store who decided and when. “{other}” can."


class ExportDialog(FormDialog):
    """`out`, `format` and `scope` are valid after acceptance.

    For a format, `carries` shows whether it includes the curator, `name` is the default file name, and `makes`
    describes what is written to a path. `forecast`, which is called in a worker thread, gives what an export would
    write and lose.
    """

    def __init__(
        self,
        formats: Sequence[tuple[str, str]],
        *,
        place: Path,
        usual: str = USUAL,
        carries: Callable[[str], bool] = lambda _: False,
        name: Callable[[str], str] = lambda form: f"gold-{form}",
        makes: Callable[[Path, str], tuple[ExportTarget, int]] = lambda *_: (ExportTarget.FOLDER, 0),
        forecast: Callable[[str, ExportScope], ExportForecast] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(tr("Export gold"), intro=tr(INTRO), ok=tr("Export"), parent=parent)
        self._place, self._carries, self._titles = place, carries, dict(formats)
        self._name, self._makes, self._forecast = name, makes, forecast
        self._reader = Worker(self)
        self.finished.connect(self._reader.close)
        self.formats = choice(tr("Format"), [(title, form) for form, title in formats], parent=self)
        self.formats.setCurrentIndex(max(self.formats.findData(usual), 0))
        self.scopes = _scope_box(tr("What is exported"), self)
        self.path = PathEdit(tr("the exported file or folder"), mode=QFileDialog.FileMode.AnyFile, parent=self)
        self.people = sentence("")
        self.made = sentence("")
        self.holds = sentence("")
        self.lost = NoteLabel(self)
        rows = [(tr("&Format"), self.formats), ("", self.people), (tr("&What"), self.scopes), (tr("&To"), self.path)]
        for label, field in [*rows, ("", self.made), ("", self.holds), ("", self.lost)]:
            self.form.addRow(label, field)
        self.formats.currentIndexChanged.connect(self._suggest)
        self.scopes.currentIndexChanged.connect(self._count)
        self.path.changed.connect(self._say_what_is_made)
        self.setMinimumWidth(600)
        self._suggest()

    def _suggest(self) -> None:
        name = self.format
        self.path.set_path(self._place / self._name(name))
        self._say_what_is_made()
        other = next((title for one, title in self._titles.items() if self._carries(one)), "")
        self.people.setText(tr(CARRIES) if self._carries(name) else tr(CARRIES_NOT, other=other) if other else "")
        self._count()

    def _count(self) -> None:
        """Say how much the export will hold, and what the format cannot hold."""
        forecast, name, scope = self._forecast, self.format, self.scope
        if forecast is not None:
            self.holds.setText(tr("Counting…"))
            self._reader.ask(lambda: forecast(name, scope), self._counted)

    def _counted(self, found: ExportForecast) -> None:
        self.holds.setText(found.text)
        self.lost.set_note("\n".join(found.lost))

    def _say_what_is_made(self) -> None:
        path = self.path.path
        self.made.setText(_words_for(*self._makes(path, self.format)) if path is not None else "")

    @property
    def format(self) -> str:
        return str(self.formats.currentData())

    @property
    def scope(self) -> ExportScope:
        return ExportScope(self.scopes.currentData())

    @property
    def out(self) -> Path:
        return self.path.path or self._place

    def check(self) -> str:
        path = self.path.path
        if path is None:
            return tr("Choose where to write the export.")
        if not path.parent.is_dir():
            return tr("{parent} does not exist. Choose an existing folder.", parent=path.parent)
        return ""


def _scope_box(name: str, parent: QWidget) -> QComboBox:
    return choice(name, [(tr(words), scope.value) for scope, words in SCOPES.items()], parent=parent)


def _words_for(place: ExportTarget, files: int) -> str:
    if place is ExportTarget.FILE:
        return ntr(ONE_FILE, ALL_IN_ONE, files)
    return tr(FOLDER if place is ExportTarget.FOLDER else ARCHIVE)


RELEASE_INTRO = (
    "A release contains the decisions, the guidelines, the hashes of the texts, the knowledge base and "
    "the linker, and figures. The same project state always gives the same bytes. A name ending in .zip "
    "gives one file, any other a folder."
)
KB_INTRO = (
    "Writes the knowledge base as JSON lines, with new names learned from your links and the entities "
    "created in this project. A second file lists the additions with their counts. Nothing is learned "
    "from test documents."
)


class SaveDialog(FormDialog):
    """`out` is valid after acceptance."""

    def __init__(
        self,
        title: str,
        *,
        intro: str,
        place: Path,
        ok: str = "",
        what: str = "",
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(title, intro=intro, ok=ok or tr("Export"), parent=parent)
        self.path = PathEdit(what or tr("the file"), mode=QFileDialog.FileMode.AnyFile, parent=self)
        self.path.set_path(place)
        self.form.addRow(tr("&To"), self.path)
        self.setMinimumWidth(600)

    @property
    def out(self) -> Path:
        assert self.path.path is not None, "checked before it was accepted"
        return self.path.path

    def check(self) -> str:
        path = self.path.path
        if path is None:
            return tr("Choose where to write it.")
        return (
            ""
            if path.parent.is_dir()
            else tr("{parent} does not exist. Choose an existing folder.", parent=path.parent)
        )


class ReleaseDialog(SaveDialog):
    """*Project > Release*: a zip or a folder; `scope` selects the contents."""

    def __init__(self, *, place: Path, parent: QWidget | None = None) -> None:
        super().__init__(
            tr("Release"),
            intro=tr(RELEASE_INTRO),
            place=place,
            ok=tr("Release"),
            what=tr("the release's zip or folder"),
            parent=parent,
        )
        self.scopes = _scope_box(tr("What is released"), self)
        self.scopes.setCurrentIndex(self.scopes.findData(ExportScope.DONE.value))
        self.form.insertRow(0, tr("&What"), self.scopes)

    @property
    def scope(self) -> ExportScope:
        return ExportScope(self.scopes.currentData())


class KbExportDialog(SaveDialog):
    """*Project > Export knowledge base*: a string becomes a new name if it is linked in at least `least` documents."""

    def __init__(self, *, place: Path, least: int, parent: QWidget | None = None) -> None:
        super().__init__(tr("Export knowledge base"), intro=tr(KB_INTRO), place=place, parent=parent)
        self.number = QSpinBox(self)
        self.number.setAccessibleName(tr("Documents needed for a new name"))
        self.number.setRange(1, 1000)
        self.number.setValue(least)
        self.form.insertRow(0, tr("&Documents needed for a new name"), self.number)

    @property
    def least(self) -> int:
        return self.number.value()
