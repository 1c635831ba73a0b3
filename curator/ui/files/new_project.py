"""*Project > New project*: name and place, documents, and knowledge base, one page each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import Qt
from PySide6.QtGui import QFont
from PySide6.QtWidgets import QDialogButtonBox, QFileDialog, QFormLayout, QLineEdit, QRadioButton, QVBoxLayout, QWidget

from curator.domain.wording import UserError, tr
from curator.services.ports.address import ProjectPlace, SharedAddress
from curator.services.ports.files import FormatRegistry, KbOptions
from curator.ui.files.document_files import DocumentFiles
from curator.ui.files.import_documents import ImportWish, SplitFields
from curator.ui.files.import_kb import INTRO as KB_INTRO
from curator.ui.files.import_kb import kb_edit, missing
from curator.ui.files.kb_columns import KbPreview
from curator.ui.kit.compose import column
from curator.ui.kit.form import FormDialog, PathEdit, sentence
from curator.ui.kit.sizing import Pages

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
TITLES = ("Name and place", "Documents", "Knowledge base")


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
        self._add_kb(formats)
        self._add_buttons()
        if self.list is not None:
            self.list.add_paths(documents)
        if knowledge_base is not None:
            self.kb.set_path(knowledge_base)
        self.resize(720, 520)
        self._show_page(0)

    # --- the pages ---

    def _page(self, intro: str) -> tuple[QVBoxLayout, QFormLayout]:
        page, form = QWidget(self.pages), QFormLayout()
        form.setSpacing(10)
        form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
        self.pages.add(page)
        return column(sentence(intro), form, of=page, spacing=12), form

    def _add_name(self, place: Path) -> None:
        page, form = self._page(tr(INTRO))
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
        page.addStretch(1)

    def _choose_place(self, on_server: bool) -> None:
        self.place.setDisabled(on_server)
        self.address.setEnabled(on_server)
        if on_server:
            self.address.setFocus(Qt.FocusReason.OtherFocusReason)

    def _add_documents(self, formats: FormatRegistry) -> DocumentFiles:
        page, form = self._page(f"{tr(DOCUMENTS_INTRO)} {tr(LATER)}")
        files = DocumentFiles(formats, self)
        files.changed.connect(lambda: self.problem.set_note(files.said))
        self.fields = SplitFields(self)
        self.fields.gold.setToolTip(tr(GOLD_LATER))
        page.insertWidget(1, files, 1)
        self.fields.add_to(form)
        return files

    def _add_kb(self, formats: FormatRegistry | None) -> None:
        page, form = self._page(tr(KB_INTRO))
        self.kb = kb_edit(self)
        self.kb.line.setPlaceholderText(tr("can be added later"))
        form.addRow(tr("&Knowledge base"), self.kb)
        self.preview = KbPreview(formats, self) if formats is not None else None
        if self.preview is not None:
            page.addWidget(self.preview, 1)
            self.kb.changed.connect(self._look)
        else:
            page.addStretch(1)

    def _look(self) -> None:
        """Show what the file of the knowledge base contains."""
        if self.preview is not None:
            path = self.kb.path
            if path is not None and path.exists():
                self.preview.look(path, KbOptions())
            else:
                self.preview.forget()

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
        self._focus(number)

    def _focus(self, number: int) -> None:
        pages: list[QWidget] = [self.name, *([self.list.add] if self.list is not None else []), self.kb]
        pages[number].setFocus(Qt.FocusReason.TabFocusReason)

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
        if self.preview is not None:
            self.preview.close_reading()
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
