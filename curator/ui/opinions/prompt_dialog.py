"""The prompt of a project: its template, and exactly what is sent for the current mention."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QDialogButtonBox, QPlainTextEdit, QWidget

from curator.domain.wording import UserError, tr
from curator.services.linking.opinions import PLACEHOLDERS, TEMPLATE, checked_template
from curator.ui.kit.foreign_text import PlainEdit, PlainLabel
from curator.ui.kit.form import FormDialog

INTRO = (
    "This is the template of the prompt in this project. The placeholders {names} are replaced for each mention; "
    "the first three are required. The model must answer with the number of a candidate, or with 0 for NIL."
)
NO_MENTION = "Open a mention with candidates to see the prompt that is sent for it."
LINES = 9


class PromptDialog(FormDialog):
    """`template` is the text in the dialog. `prompt` builds the full prompt from a template; it raises UserError."""

    enter_accepts = False

    def __init__(
        self, template: str, *, prompt: Callable[[str], str] | None = None, parent: QWidget | None = None
    ) -> None:
        names = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
        super().__init__(tr("Prompt"), intro=tr(INTRO, names=names), ok=tr("Save"), parent=parent)
        self._prompt = prompt
        self.edit = self._text_field(tr("Template"), template)
        self.exact = self._text_field(tr("Prompt for the mention on show"), "")
        self.exact.setReadOnly(True)
        self.exact.setBackgroundRole(QPalette.ColorRole.AlternateBase)
        for field in (self.edit, self.exact):
            label = PlainLabel(field.accessibleName(), self)
            label.setBuddy(field)
            self.body.addWidget(label)
            self.body.addWidget(field, 1)
        self.usual = self.buttons.addButton(tr("Restore the default"), QDialogButtonBox.ButtonRole.ResetRole)
        self.usual.clicked.connect(lambda: self.edit.setPlainText(TEMPLATE))
        self.edit.textChanged.connect(self._renew)
        self._renew()
        self.resize(760, 640)

    def _text_field(self, name: str, text: str) -> QPlainTextEdit:
        field = PlainEdit(text, self)
        field.setAccessibleName(name)
        field.setTabChangesFocus(True)
        field.setMinimumHeight(field.fontMetrics().lineSpacing() * LINES // 2)
        return field

    @property
    def template(self) -> str:
        return self.edit.toPlainText()

    def check(self) -> str:
        try:
            checked_template(self.template)
        except UserError as error:
            return str(error)
        return ""

    def _renew(self) -> None:
        """Show the prompt of the template, or its error."""
        if self._prompt is None:
            self.exact.setPlainText(self.check() or tr(NO_MENTION))
            return
        try:
            self.exact.setPlainText(self._prompt(self.template))
        except UserError as error:
            self.exact.setPlainText(str(error))
