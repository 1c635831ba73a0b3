"""*Project > New project*: name and place, documents, knowledge base, and a summary, one page each."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import (
    QDialogButtonBox,
    QFileDialog,
    QFormLayout,
    QLabel,
    QLineEdit,
    QRadioButton,
    QVBoxLayout,
    QWidget,
)

from curator.domain.documents import Split
from curator.domain.wording import UserError, ntr, tr
from curator.services.importing.foreseeing import Foreseen, foresee_kb, seconds_to_import, seconds_to_index
from curator.services.ports.address import ProjectPlace, SharedAddress
from curator.services.ports.files import FormatRegistry
from curator.ui.files.document_files import DocumentFiles
from curator.ui.files.import_documents import ImportWish, SplitFields
from curator.ui.files.import_kb import INTRO as KB_INTRO
from curator.ui.files.import_kb import kb_edit, missing
from curator.ui.files.import_report import documents_words, entities_words, figure
from curator.ui.files.reading_ahead import FilePreviewer
from curator.ui.jobs.jobs import range_words
from curator.ui.kit.form import FormDialog, PathEdit, sentence
from curator.ui.kit.record_tables import FigureTable
from curator.ui.kit.sizing import Pages

# The future contents of a new project and the time needed; files are read in the background.

SHARED_MADE = "The shared project is created in the database and opened."
SPLIT_WORDS = {
    Split.TRAIN: "They are training documents: the linker learns from your decisions there.",
    Split.VALIDATION: "They are validation documents: your decisions there evaluate and calibrate the linker.",
    Split.TEST: "They are test documents: the linker never learns from them.",
}


class Outlook(QWidget):
    """API: `start`, `close_reading`, `words`, `found`.

    For documents it uses the numbers of the file list, so that both pages agree; the knowledge base is read in a
    background thread. Estimates are marked and replaced by exact numbers later.
    """

    def __init__(self, formats: FormatRegistry, files: DocumentFiles, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._formats, self._files = formats, files
        self._documents: ImportWish | None = None
        self.shared = False  # whether the project will be a shared one
        self._kb: Foreseen | None = None
        self._ahead: FilePreviewer | None = None
        self.table = FigureTable(
            tr("What the files contain"),
            [tr("File"), tr("Recognised as"), tr("Documents"), tr("Mentions"), tr("Entities")],
            words=2,
        )
        self.said: QLabel = sentence("", selectable=True)
        self.said.setAccessibleName(tr("What will happen"))
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.addWidget(self.table, 1)
        column.addWidget(self.said)
        files.known.connect(self._show)

    @property
    def found(self) -> list[Foreseen]:
        documents = self._files.found if self._documents is not None else []
        return [*documents, *([self._kb] if self._kb is not None else [])]

    @property
    def reading(self) -> bool:
        """Whether any number is still an estimate."""
        return self._files.reading or (self._ahead is not None and self._ahead.reading)

    def start(self, documents: ImportWish | None, knowledge_base: Path | None) -> None:
        """Show the contents of these files. Files already read are not read again."""
        self._documents = documents
        if knowledge_base != (self._kb.path if self._kb is not None else None):
            self.close_reading()
            self._kb = Foreseen(knowledge_base, whole=False) if knowledge_base is not None else None
            if knowledge_base is not None:
                self._ahead = FilePreviewer(lambda path: foresee_kb(path, self._formats), self, most=math.inf)
                self._ahead.found.connect(self.take)
                self._ahead.add(knowledge_base)
        self._show()

    def close_reading(self) -> None:
        if self._ahead is not None:
            self._ahead.abandon()
            self._ahead = None

    def take(self, found: Foreseen) -> None:
        """Take what is known about the knowledge base so far."""
        if self._kb is not None and self._kb.path == found.path:
            self._kb = found
            self._show()

    def _show(self) -> None:
        self.table.show_rows([_row(one) for one in self.found])
        self.table.setVisible(bool(self.found))
        self.said.setText("\n".join(self.words()))

    def words(self) -> list[str]:
        """The steps that will follow, one sentence each, in order."""
        found = self.found
        wrong = [one.problem for one in found if one.problem]
        if wrong:
            return wrong
        lines = [tr(SHARED_MADE) if self.shared else tr("The project folder is created and opened.")]
        documents, entities = sum(one.documents for one in found), sum(one.entities for one in found)
        exact = all(one.whole for one in found)
        if entities:
            lines.append(entities_words(entities, exact=self._kb is not None and self._kb.whole))
        if self._documents is not None and documents:
            whole = all(one.whole for one in found if one is not self._kb)
            lines.append(f"{documents_words(documents, exact=whole)} {self._split_words()}")
        if not exact:
            lines.append(tr("The files are still being read; the numbers are not final yet."))
        if seconds_to_import(found) > 0:
            seconds = seconds_to_import(found)
            time = range_words(seconds, seconds)
            lines.append(tr("This takes {time}; you can begin when it is done.", time=time))
        if seconds_to_index(found)[1] > 0:
            lines.append(
                tr(
                    "Then names are encoded in the background, {time}; after that, suggestions also compare meaning.",
                    time=range_words(*seconds_to_index(found)),
                )
            )
        if not found:
            lines.append(tr("Nothing is imported yet; the window shows the next step."))
        return lines

    def _split_words(self) -> str:
        assert self._documents is not None
        words = tr(SPLIT_WORDS[self._documents.split])
        if self._documents.hold_out:
            words += " " + ntr(
                "From each file, {n} document is held out for validation.",
                "From each file, {n} documents are held out for validation.",
                self._documents.hold_out,
            )
        if self._documents.gold:
            words += " " + tr("Annotations in the files become decisions.")
        return words


def _row(one: Foreseen) -> tuple[str, ...]:
    figures = (figure(n, whole=one.whole) if n else "–" for n in (one.documents, one.mentions, one.entities))
    return (one.path.name, tr("not readable") if one.problem else one.title or tr("knowledge base"), *figures)


SUFFIX = ".curation"
INTRO = (
    "A project is one folder, or a database on a server in which several curators work at once. Every decision is "
    "saved in it; you never need to save."
)
DOCUMENTS_INTRO = (
    "Files, folders and archives are recognised by their content. Nothing is written before you press Create."
)
LATER = "You can do both later: Project › Import documents and Project › Import knowledge base"
GOLD_LATER = "Gold is imported only with a knowledge base; choose one on the next page."
TITLES = ("Name and place", "Documents", "Knowledge base", "What will happen")


@dataclass(frozen=True, slots=True)
class ProjectWish:
    """A project to create and fill; None means later. `name` is that of a shared project."""

    folder: ProjectPlace
    knowledge_base: Path | None = None
    documents: ImportWish | None = None
    name: str = ""


class NewProjectDialog(FormDialog):
    """`wish` is valid after acceptance."""

    def __init__(
        self,
        *,
        place: Path,
        formats: FormatRegistry | None = None,
        documents: Sequence[Path] = (),
        knowledge_base: Path | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """Without `formats` only an empty project can be created. Dropped files may be passed."""
        super().__init__(tr("New project"), ok=tr("Create"), parent=parent)
        self.refused: Callable[[ProjectWish], str] = lambda _: ""  # why it cannot be created, asked last
        self.step = sentence("")
        self.pages = Pages(self)
        self.body.addWidget(self.step)
        self.body.addWidget(self.pages, 1)
        self._add_name(place)
        self.list = self._add_documents(formats) if formats is not None else None
        self._add_kb()
        self.outlook = self._add_outlook(formats, self.list) if formats is not None and self.list is not None else None
        self._add_buttons()
        if self.list is not None:
            self.list.add_paths(documents)
        if knowledge_base is not None:
            self.kb.set_path(knowledge_base)
        self.resize(720, 520)
        self._show_page(0)

    # --- the pages ---

    def _page(self, intro: str) -> tuple[QVBoxLayout, QFormLayout]:
        page = QWidget(self.pages)
        column = QVBoxLayout(page)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(12)
        column.addWidget(sentence(intro))
        form = QFormLayout()
        form.setSpacing(10)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        column.addLayout(form)
        self.pages.add(page)
        return column, form

    def _add_name(self, place: Path) -> None:
        column, form = self._page(tr(INTRO))
        self.name = QLineEdit(self)
        self.name.setAccessibleName(tr("Name of the project"))
        self.name.setPlaceholderText(tr("for example: chemicals"))
        self.in_folder = QRadioButton(tr("In a folder on &this computer"), self)
        self.place = PathEdit(tr("the folder to put it in"), mode=QFileDialog.FileMode.Directory, parent=self)
        self.place.set_path(place)
        self.on_server = QRadioButton(tr("In a database on a &server"), self)
        self.address = QLineEdit(self)
        self.address.setAccessibleName(tr("Address of the empty database"))
        self.address.setPlaceholderText(tr("for example: postgresql://user@host/base"))
        form.addRow(tr("Na&me"), self.name)
        form.addRow(self.in_folder)
        form.addRow(tr("&Folder"), self.place)
        form.addRow(self.on_server)
        form.addRow(tr("&Address"), self.address)
        self.on_server.toggled.connect(self._choose_place)
        self.in_folder.setChecked(True)
        self._choose_place(False)
        column.addStretch(1)

    def _choose_place(self, on_server: bool) -> None:
        self.place.setDisabled(on_server)
        self.address.setEnabled(on_server)
        if on_server:
            self.address.setFocus(Qt.FocusReason.OtherFocusReason)

    def _add_documents(self, formats: FormatRegistry) -> DocumentFiles:
        column, form = self._page(f"{tr(DOCUMENTS_INTRO)} {tr(LATER)}")
        files = DocumentFiles(formats, self, most=math.inf)
        files.changed.connect(lambda: self.problem.set_note(files.said))
        self.fields = SplitFields(self)
        self.fields.gold.setToolTip(tr(GOLD_LATER))
        column.insertWidget(1, files, 1)
        self.fields.add_to(form)
        return files

    def _add_kb(self) -> None:
        column, form = self._page(tr(KB_INTRO))
        self.kb = kb_edit(self)
        self.kb.line.setPlaceholderText(tr("can be added later"))
        form.addRow(tr("&Knowledge base"), self.kb)
        column.addStretch(1)

    def _add_outlook(self, formats: FormatRegistry, files: DocumentFiles) -> Outlook:
        column, _ = self._page(tr("Nothing is written before you press Create."))
        outlook = Outlook(formats, files, self)
        column.addWidget(outlook, 1)
        return outlook

    def _add_buttons(self) -> None:
        role = QDialogButtonBox.ButtonRole.ActionRole
        self.back = self.buttons.addButton(tr("&Back"), QDialogButtonBox.ButtonRole.ResetRole)
        self.next = self.buttons.addButton(tr("&Next"), role)
        self.back.clicked.connect(lambda: self._show_page(self.pages.current() - 1))
        self.next.clicked.connect(self._go_on)

    # --- going through ---

    def _go_on(self) -> None:
        problem = self._page_problem(self.pages.current())
        self.problem.set_note(problem)
        if not problem:
            self._show_page(self.pages.current() + 1)

    def _show_page(self, number: int) -> None:
        last = self.pages.count() - 1
        self.pages.show_page(number)
        titles = TITLES if self.list is not None else (TITLES[0], TITLES[2])
        self.step.setText(
            tr("Step {n} of {all}: {title}", n=number + 1, all=self.pages.count(), title=tr(titles[number]))
        )
        font = QFont(self.font())
        font.setWeight(QFont.Weight.DemiBold)
        self.step.setFont(font)
        self.back.setVisible(number > 0)
        self.next.setVisible(number < last)
        self.ok.setVisible(number == last)
        self.enter_presses(self.ok if number == last else self.next)
        self.problem.set_note("")
        if self.outlook is not None and number == last:
            self.outlook.shared = self.on_server.isChecked()
            self.outlook.start(self.wish.documents, self.wish.knowledge_base)
        self._focus(number)

    def _focus(self, number: int) -> None:
        first = {0: self.name, self.pages.count() - 1: self.ok}.get(number)
        if self.list is not None and number == 1:
            first = self.list.add
        (first or self.kb).setFocus(Qt.FocusReason.TabFocusReason)

    def _page_problem(self, number: int) -> str:
        if number == 0:
            return self._name_problem()
        if self.list is not None and number == 1:
            if self.list.looking:
                return self.list.looking
            wrong = self.list.problem
            return tr("{problem} Or remove the file from the list.", problem=wrong) if wrong else ""
        return self._kb_problem() if number == (1 if self.list is None else 2) else ""

    def _name_problem(self) -> str:
        name = self.name.text().strip()
        if not name or name != Path(name).name:
            return tr("Enter a project name without slashes.")
        if self.on_server.isChecked():
            return self._address_problem()
        if self.place.path is None or not self.place.path.is_dir():
            place = self.place.path or tr("The folder")
            return tr("{place} does not exist. Choose an existing folder for the project.", place=place)
        if self.folder.exists():
            return tr(
                "{folder} already exists. Choose another name, or open it with Project › Open project.",
                folder=self.folder,
            )
        return ""

    def _address_problem(self) -> str:
        try:
            SharedAddress.parse(self.address.text().strip())
        except UserError as error:
            return str(error)
        return ""

    def _kb_problem(self) -> str:
        wrong = missing(self.kb)
        if not wrong and self.list is not None and self.fields.gold.isChecked() and self.kb.path is None:
            wrong = tr(
                "Importing gold requires a knowledge base to look up identifiers. Choose one, or import without gold."
            )
        return wrong

    def check(self) -> str:
        """Check all pages, since Create may be pressed on any; the page with the problem is shown."""
        for number in range(self.pages.count()):
            problem = self._page_problem(number)
            if problem:
                if number != self.pages.current():
                    self._show_page(number)
                return problem
        return self.refused(self.wish)

    def done(self, result: int) -> None:
        if self.outlook is not None:
            self.outlook.close_reading()
        if self.list is not None:
            self.list.close_reading()
        super().done(result)

    # --- what is requested ---

    @property
    def folder(self) -> Path:
        name = self.name.text().strip().removesuffix(SUFFIX)
        return (self.place.path or Path.cwd()) / f"{name}{SUFFIX}"

    @property
    def where(self) -> ProjectPlace:
        return SharedAddress.parse(self.address.text().strip()) if self.on_server.isChecked() else self.folder

    @property
    def knowledge_base(self) -> Path | None:
        return self.kb.path

    @property
    def wish(self) -> ProjectWish:
        if self.list is None or not self.list.paths:
            return ProjectWish(self.where, self.knowledge_base, name=self.name.text().strip())
        fields = self.fields
        gold = fields.gold.isChecked()
        documents = ImportWish(self.list.paths, fields.chosen, gold, fields.held_out, left=self.list.left)
        return ProjectWish(self.where, self.knowledge_base, documents, self.name.text().strip())
