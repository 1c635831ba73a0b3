"""Asks for the reason of a choice that goes against a measurement; it is kept in the history."""

from __future__ import annotations

from PySide6.QtWidgets import QLineEdit, QWidget

from curator.domain.wording import tr
from curator.ui.kit.form import FormDialog

EMPTY = "Give a reason: the history keeps it with your name."


class ReasonDialog(FormDialog):
    """`reason` is not empty once it is accepted."""

    def __init__(self, title: str, *, question: str, ok: str, parent: QWidget | None = None) -> None:
        super().__init__(title, intro=question, ok=ok, parent=parent)
        self.line = QLineEdit(self)
        self.line.setAccessibleName(tr("Reason"))
        self.line.setPlaceholderText(tr("such as: the rare names matter more here"))
        self.form.addRow(tr("&Reason"), self.line)
        self.line.setFocus()
        self.resize(560, self.sizeHint().height())

    @property
    def reason(self) -> str:
        return self.line.text().strip()

    def check(self) -> str:
        return "" if self.reason else tr(EMPTY)
