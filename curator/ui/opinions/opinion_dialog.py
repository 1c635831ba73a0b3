"""*Tools > Second opinion*: which model is queried when, its server, a test, and the project's prompt."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from PySide6.QtGui import QPalette
from PySide6.QtWidgets import QComboBox, QDialogButtonBox, QLineEdit, QPlainTextEdit, QSpinBox, QWidget

from curator.domain.suggestions import OpinionPlace, OpinionUse
from curator.domain.wording import CancelledError, UserError, ntr, tr
from curator.services.linking.opinions import (
    PLACEHOLDERS,
    TEMPLATE,
    OpinionOptions,
    OpinionService,
    Prompt,
    checked_template,
)
from curator.services.ports.opinions import ModelServer, Stopper
from curator.ui.kit.compose import button, choice, row
from curator.ui.kit.foreign_text import PlainEdit, PlainLabel, tip
from curator.ui.kit.form import FormDialog, sentence
from curator.ui.kit.labels import NoteLabel
from curator.ui.kit.worker import Worker
from curator.ui.opinions.opinion_flows import PLACES, USES

PROMPT_INTRO = (
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
        super().__init__(tr("Prompt"), intro=tr(PROMPT_INTRO, names=names), ok=tr("Save"), parent=parent)
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


INTRO = (
    "A language model on this computer can choose among the candidates of mentions that the linker doubts. Its answer "
    "is shown next to the candidates, stored and exported. It never decides anything."
)
WARNING = (
    "Warning: the text around each mention, the title and the candidates are sent to the address above. If it is not "
    "this computer, whoever runs the server can read them. Do not use this for confidential documents."
)
EXAMPLE = "http://localhost:11434/v1"
SHORTEST = 12
"""Least visible characters of a list of choices."""
SAMPLE = Prompt('Answer with JSON only: {"choice": 1}', ("1",))
"""Sent by the test if no mention with candidates is current."""


class OpinionDialog(FormDialog):
    """`values` are the settings in the dialog, by name. Nothing is sent before a button is pressed."""

    def __init__(self, service: OpinionService, *, mention_id: int | None, parent: QWidget | None = None) -> None:
        super().__init__(tr("Second opinion"), intro=tr(INTRO), ok=tr("Save"), parent=parent)
        self._service, self._mention_id = service, mention_id
        self.worker = Worker(self)
        self._stopper = Stopper()
        self._make_fields(service.options)
        self._add_rows()
        self.state = sentence("", selectable=True)
        self.state.setAccessibleName(tr("Result"))
        self.warning = NoteLabel(self)
        self.warning.setAccessibleName(tr("Warning"))
        self.body.addWidget(self.warning)
        self.body.addWidget(self.state)
        self.place.currentIndexChanged.connect(self._warn)
        self.finished.connect(self._leave)
        self._warn()
        self.resize(640, 480)

    def _make_fields(self, now: OpinionOptions) -> None:
        self.use = self._choice(tr("Second opinion"), USES, now.use)
        self.address = QLineEdit(now.address, self)
        self.address.setPlaceholderText(tr("For example {address}", address=EXAMPLE))
        self.place = self._choice(tr("Computers that may be asked"), PLACES, now.place)
        self.model = QComboBox(self)
        self.model.setEditable(True)
        self.model.setMinimumContentsLength(SHORTEST)
        self.model.setInsertPolicy(QComboBox.InsertPolicy.NoInsert)
        self.model.setCurrentText(now.model)
        self.key = QLineEdit(now.key, self)
        self.key.setEchoMode(QLineEdit.EchoMode.PasswordEchoOnEdit)
        self.below = self._number(0, 100, round(now.below * 100), tr(" %"))
        self.margin = self._number(0, 100, round(now.margin * 100), tr(" points"))
        self.seconds = self._number(1, 600, round(now.seconds), tr(" s"))
        self.list_models = button(tr("List models"), self._list, parent=self)
        self.test = button(tr("Test"), self._test, parent=self)
        self.edit_prompt = button(tr("Prompt…"), self.show_prompt, parent=self)

    def _add_rows(self) -> None:
        rows: tuple[tuple[str, QWidget, str], ...] = (
            (tr("Second opinion"), self.use, tr("When the language model is asked.")),
            (tr("Address of the model"), self.address, tr("The OpenAI-compatible address of the server.")),
            (tr("Computers that may be asked"), self.place, tr(WARNING)),
            (tr("Name of the model"), self.model, tr("As the server calls it.")),
            (tr("API key of the model"), self.key, tr("Only if the server asks for one.")),
            (tr("Doubtful below"), self.below, tr("Asked if the linker's answer is less probable than this.")),
            (
                tr("Doubtful margin"),
                self.margin,
                tr("Also asked if the first candidate leads by less; 0: never."),
            ),
            (tr("Time for an answer"), self.seconds, tr("A request is given up after this time.")),
        )
        for title, field, words in rows:
            field.setAccessibleName(title)
            field.setAccessibleDescription(words)
            field.setToolTip(tip(words))
            self.form.addRow(title, row((field, 1), self.list_models) if field is self.model else field)
        self.form.addRow("", row(self.test, self.edit_prompt, 1))

    def _choice(self, name: str, words: dict[Any, str], now: Any) -> QComboBox:
        box = choice(name, [(tr(said), value.value) for value, said in words.items()], parent=self)
        box.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon)
        box.setMinimumContentsLength(SHORTEST)
        box.setCurrentIndex(box.findData(now.value))
        return box

    def _number(self, low: int, high: int, now: int, unit: str) -> QSpinBox:
        number = QSpinBox(self)
        number.setRange(low, high)
        number.setValue(now)
        number.setSuffix(unit)
        return number

    def _warn(self) -> None:
        self.warning.set_note(tr(WARNING) if self.place.currentData() == OpinionPlace.ANY.value else "")

    # --- what it shows ---

    @property
    def values(self) -> dict[str, Any]:
        return {
            "opinion_use": self.use.currentData(),
            "opinion_address": self.address.text().strip(),
            "opinion_model": self.model.currentText().strip(),
            "opinion_key": self.key.text().strip(),
            "opinion_place": self.place.currentData(),
            "opinion_below": self.below.value(),
            "opinion_margin": self.margin.value(),
            "opinion_seconds": self.seconds.value(),
        }

    @property
    def server(self) -> ModelServer:
        anywhere = self.place.currentData() == OpinionPlace.ANY.value
        seconds = float(self.seconds.value())
        return ModelServer(
            self.address.text().strip(), self.model.currentText().strip(), self.key.text().strip(), seconds, anywhere
        )

    def check(self) -> str:
        off = self.use.currentData() == OpinionUse.OFF.value
        if off or (self.server.address and self.server.model):
            return ""
        return tr("Enter the address of a server and the name of a model, or turn second opinions off.")

    # --- the server ---

    def _list(self) -> None:
        service, server = self._service, self.server
        self._ask(lambda stopper: service.models(server, stopper), self._listed)

    def _listed(self, names: list[str]) -> None:
        now = self.model.currentText()
        self.model.clear()
        self.model.addItems(names)
        self.model.setCurrentText(now or (names[0] if names else ""))
        self.state.setText(ntr("The server offers {n} model.", "The server offers {n} models.", len(names)))

    def _test(self) -> None:
        service, server, mention_id = self._service, self.server, self._mention_id

        def work(stopper: Stopper) -> str:
            prompt = service.prompt(mention_id) if mention_id is not None else SAMPLE
            begun = time.monotonic()
            entity_id, _, _ = service.try_out(server, prompt, stopper)
            seconds = time.monotonic() - begun
            if mention_id is None:
                return tr("The model answered after {seconds:.1f} s.", seconds=seconds)
            chosen = entity_id or "NIL"
            return tr("The model answered after {seconds:.1f} s: {chosen}.", seconds=seconds, chosen=chosen)

        self._ask(work, self.state.setText)

    def _ask(self, work: Callable[[Stopper], Any], done: Callable[[Any], None]) -> None:
        """Query in a thread, stopping the previous query. Errors are shown in place of the result."""
        self._stopper.stop()
        self._stopper = stopper = Stopper()
        self.state.setText(tr("Asking the server…"))

        def safe() -> tuple[Any, str]:
            try:
                return work(stopper), ""
            except CancelledError:
                raise
            except UserError as error:
                return None, str(error)

        self.worker.ask(safe, lambda found: self.state.setText(found[1]) if found[1] else done(found[0]))

    # --- the prompt ---

    def show_prompt(self) -> PromptDialog:
        service, mention_id = self._service, self._mention_id

        def prompt(template: str) -> str:
            assert mention_id is not None
            return service.prompt(mention_id, template=template).text

        dialog = PromptDialog(service.template(), prompt=prompt if mention_id is not None else None, parent=self)
        dialog.accepted.connect(lambda: self._keep(dialog.template))
        dialog.open()
        return dialog

    def _keep(self, template: str) -> None:
        try:
            self._service.set_template(template)
        except UserError as error:
            self.state.setText(str(error))
        else:
            self.state.setText(tr("The prompt is saved in the project."))

    def _leave(self) -> None:
        self._stopper.stop()
        self.worker.close()
