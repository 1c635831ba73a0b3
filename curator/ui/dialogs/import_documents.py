"""*Project > Import documents*: which files, into which split, with or without their gold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtWidgets import QWidget

from curator.domain.documents import Split
from curator.domain.wording import tr
from curator.services.ports import FormatRegistry
from curator.ui.dialogs.document_files import DocumentFiles
from curator.ui.dialogs.form import FormDialog
from curator.ui.dialogs.split_fields import SplitFields

INTRO = "PubTator, ZESHEL, PubMed XML and MEDLINE are recognised by their content, compressed with gzip or not."


@dataclass(frozen=True, slots=True)
class ImportWish:
    """What is to be imported; `hold_out` documents of each file become validation."""

    paths: tuple[Path, ...]
    split: Split
    gold: bool
    hold_out: int = 0


class ImportDialog(FormDialog):
    def __init__(
        self,
        formats: FormatRegistry,
        *,
        gold: bool,
        paths: Sequence[Path] = (),
        parent: QWidget | None = None,
    ) -> None:
        """`gold`: whether there is a knowledge base to look identifiers up in."""
        super().__init__(tr("Import documents"), intro=tr(INTRO), ok=tr("Import"), parent=parent)
        self.list = DocumentFiles(formats, self)
        self.files, self.add, self.remove = self.list.table, self.list.add, self.list.remove
        self.fields = SplitFields(self)
        self.split, self.hold_out, self.gold = self.fields.split, self.fields.hold_out, self.fields.gold
        self.fields.allow_gold(gold)
        self.body.insertWidget(0, self.list, 1)
        self.fields.add_to(self.form)
        self.resize(700, 460)
        self.list.changed.connect(lambda: self.problem.set_note(self.list.problem))
        self.add_paths(paths)
        if not paths:
            self.add.setFocus()

    def add_paths(self, paths: Sequence[Path]) -> None:
        self.list.add_paths(paths)

    def check(self) -> str:
        if not self.list.paths:
            return tr("Add at least one file.")
        wrong = self.list.problem
        return tr("{problem} Or remove it from the list.", problem=wrong) if wrong else ""

    @property
    def wish(self) -> ImportWish:
        return ImportWish(self.list.paths, self.fields.chosen, self.gold.isChecked(), self.fields.held_out)
