"""*Project > Import documents*: files, their preview, the split, and whether to import gold."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Protocol

from PySide6.QtWidgets import QCheckBox, QFormLayout, QSpinBox, QWidget

from curator.domain.documents import Changed, Split
from curator.domain.wording import ntr, tr
from curator.services.importing.foreseeing import foresee_documents
from curator.services.importing.import_comparing import Compared, fingerprint
from curator.services.importing.import_reading import ImportChoices
from curator.services.importing.import_sources import Left
from curator.services.importing.text_taking import TextChange
from curator.services.ports.files import FormatRegistry
from curator.ui.files.changed_texts import ChangedTextsDialog
from curator.ui.files.document_files import DocumentFiles
from curator.ui.files.reading_ahead import Look, Steps
from curator.ui.kit.compose import button, choice
from curator.ui.kit.form import FormDialog

# The split of documents, the number held out, and whether to import gold: used in two dialogs.

NO_GOLD = "Importing gold requires a knowledge base; import one first."
SPLITS = {
    Split.TRAIN: "train: the linker learns from decisions",
    Split.VALIDATION: "validation: decisions evaluate and calibrate the linker",
    Split.TEST: "test: never seen by the linker",
}


class SplitFields:
    """Three fields and their rules; `add_to` puts them into a form."""

    def __init__(self, parent: QWidget) -> None:
        self.split = choice(tr("Split"), [(tr(words), split) for split, words in SPLITS.items()], parent=parent)
        self.hold_out = QSpinBox(parent)
        self.hold_out.setRange(0, 100_000)
        self.hold_out.setAccessibleName(tr("Documents held out for validation"))
        self.gold = QCheckBox(tr("&With gold: annotations in the files become decisions"), parent)
        self.split.currentIndexChanged.connect(self._split_changed)

    def add_to(self, form: QFormLayout) -> None:
        form.addRow(tr("&Split"), self.split)
        form.addRow(tr("Held out for &validation"), self.hold_out)
        form.addRow("", self.gold)

    def allow_gold(self, allowed: bool) -> None:
        """Enable gold only with a knowledge base for looking up identifiers."""
        self.gold.setEnabled(allowed)
        self.gold.setToolTip("" if allowed else tr(NO_GOLD))
        if not allowed:
            self.gold.setChecked(False)

    def _split_changed(self) -> None:
        self.hold_out.setEnabled(self.chosen is Split.TRAIN)

    @property
    def chosen(self) -> Split:
        return Split(self.split.currentData())

    @property
    def held_out(self) -> int:
        return self.hold_out.value() if self.chosen is Split.TRAIN else 0


INTRO = "Files, folders and archives are recognised by their content. Nothing is written before you press Import."


class LookAs(Protocol):
    """Previews a file, read as the format with this name, '' to recognise it."""

    def __call__(self, path: Path, format_name: str = "") -> Steps: ...


@dataclass(frozen=True, slots=True)
class ImportWish:
    """The request of an import; `hold_out` documents of each file become validation."""

    paths: tuple[Path, ...]
    split: Split
    gold: bool
    hold_out: int = 0
    choices: ImportChoices = field(default_factory=ImportChoices)
    format_name: str = ""  # '' if each is recognised by its content
    left: tuple[Left, ...] = ()  # other files in folders and archives


class ImportDialog(FormDialog):
    def __init__(
        self,
        formats: FormatRegistry,
        *,
        gold: bool,
        paths: Sequence[Path] = (),
        look: LookAs | None = None,
        change: Callable[[Compared], TextChange] | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """`gold`: whether there is a knowledge base to look identifiers up in. `look` previews a file's import, read as
        the format of that name, `change` the update of a changed document's text."""
        super().__init__(tr("Import documents"), intro=tr(INTRO), ok=tr("Import"), parent=parent)
        self._formats, self._look = formats, look
        self._change = change
        self._choices: dict[int, Changed] = {}
        self.list = DocumentFiles(formats, self, look=self._look_as(""))
        self.files, self.add, self.remove = self.list.table, self.list.add, self.list.remove
        self.changed_ones = button("", self.look_at_changed, parent=self)
        self.changed_ones.hide()
        self.fields = SplitFields(self)
        self.split, self.hold_out, self.gold = self.fields.split, self.fields.hold_out, self.fields.gold
        self.fields.allow_gold(gold)
        self.body.insertWidget(0, self.list, 1)
        self.list.row.addWidget(self.changed_ones)
        readable = sorted((one for one in formats.formats() if one.can_read), key=lambda one: one.title.lower())
        rows = [(tr("Recognise automatically"), ""), *((one.title, one.name) for one in readable)]
        self.format = choice(tr("Format of the files"), rows, parent=self)
        self.form.addRow(tr("For&mat"), self.format)
        self.fields.add_to(self.form)
        self.resize(860, 640)
        self.list.changed.connect(self._say_files)
        self.list.known.connect(self._say_changed)
        self.list.changed.connect(self._say_changed)
        self.format.currentIndexChanged.connect(self._read_again)
        self.ok.setEnabled(False)
        self.list.add_paths(paths)
        # not on Import, which is disabled while files are checked: the focus would move to Cancel
        (self.list.table if paths else self.add).setFocus()

    @property
    def format_name(self) -> str:
        """The chosen format, '' if each file is recognised."""
        return str(self.format.currentData())

    def _look_as(self, name: str) -> Look:
        if self._look is not None:
            return partial(self._look, format_name=name) if name else self._look
        formats = self._formats.fixed(name) if name else self._formats
        return lambda path: foresee_documents(path, formats)

    def _read_again(self) -> None:
        name = self.format_name
        self.list.read_as(self._formats.fixed(name) if name else self._formats, self._look_as(name))

    def _say_files(self) -> None:
        """Enable *Import* when there is a file and all files are checked."""
        self.problem.set_note(self.list.said)
        self.ok.setEnabled(bool(self.list.paths) and not self.list.looking)

    def check(self) -> str:
        if self.list.looking:
            return self.list.looking
        if not self.list.paths:
            return tr("Add at least one file.")
        wrong = self.list.problem
        return tr("{problem} Or remove the file from the list.", problem=wrong) if wrong else ""

    def done(self, result: int) -> None:
        self.list.close_reading()
        super().done(result)

    @property
    def changed(self) -> list[Compared]:
        """Existing documents whose text or annotations differ in the files."""
        return self.list.changed_documents

    def look_at_changed(self) -> ChangedTextsDialog | None:
        if self._change is None or not self.changed:
            return None
        dialog = ChangedTextsDialog(self.changed, change=self._change, choices=self._choices, parent=self)
        dialog.accepted.connect(lambda: self._choices.update(dialog.choices))
        dialog.accepted.connect(self._say_changed)
        dialog.open()
        return dialog

    def _say_changed(self) -> None:
        number = len(self.changed)
        chosen = sum(self._choices.get(one.document_id, Changed.KEEP) is not Changed.KEEP for one in self.changed)
        words = ntr("R&eview {n:,} changed document…", "R&eview {n:,} changed documents…", number)
        if chosen:
            words += " " + ntr("({n:,} to be imported)", "({n:,} to be imported)", chosen)
        self.changed_ones.setText(words)
        self.changed_ones.setVisible(bool(number) and self._change is not None)

    @property
    def wish(self) -> ImportWish:
        seen = {one.document_id: fingerprint(one.source) for one in self.changed if one.document_id in self._choices}
        choices = ImportChoices(of=dict(self._choices), seen=seen)
        return ImportWish(
            self.list.paths,
            self.fields.chosen,
            self.gold.isChecked(),
            self.fields.held_out,
            choices,
            self.format_name,
            self.list.left,
        )
