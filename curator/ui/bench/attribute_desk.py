"""Attributes of the current mention by key, and the dialog that defines the project's attributes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import QObject, Qt

from curator.domain.attributes import Attribute, Given
from curator.domain.jobs import JobOutcome, JobState
from curator.domain.wording import tr
from curator.services.queue.queue import MentionView
from curator.ui.bench.workbench import Workbench
from curator.ui.deciding.reason_strip import StripAnswer
from curator.ui.kit.key_names import place_of
from curator.ui.panels.attributes_dialog import AttributesDialog

NONE_YET = "This project has no attributes yet. Define them with {way}."
NONE_HERE = "Mentions of type {type} have no attributes in this project."
NOTHING_LEFT = "There are no attributes left to read."
CLOSED = "Attributes cannot be set here."


class AttributeDesk(QObject):
    """Acts on the workbench's current mention, through its seat: in a round the values are the curator's own."""

    def __init__(self, bench: Workbench) -> None:
        super().__init__(bench)
        self._bench = bench
        self._open: AttributesDialog | None = None
        self._everywhere = False  # whether the prompt in the bottom line is for all mentions of the string

    def ask_all(self) -> None:
        """Like `ask`, for all mentions of the same string."""
        if self._bench.many.refusal:
            self._bench.say(self._bench.many.refusal)
        else:
            self.ask(everywhere=True)

    def ask(self, *, everywhere: bool = False) -> None:
        """Show the attributes of the mention in the bottom line; with only one attribute, directly its values. With
        `everywhere` the other mentions of the string are listed, to set it for them too."""
        self._everywhere = everywhere
        bench, view = self._bench, self._bench.navigator.mention
        service = bench.decider.seat.attributes
        if view is None or not bench.decider.saw():
            return
        if service is None:
            bench.say(tr(CLOSED))
            return
        scheme = service.scheme()
        fitting = scheme.of_type(view.mention.type)
        if len(fitting) == 1:
            self._ask_value(view, fitting[0])
        elif fitting:
            self._ask_attribute(view, fitting)
        elif scheme.shown:
            bench.say(tr(NONE_HERE, type=view.mention.type))
        else:
            bench.say(tr(NONE_YET, way=place_of("annotate.scheme")))

    def _ask_attribute(self, view: MentionView, fitting: Sequence[Attribute]) -> None:
        has = {one.id: value.name for one, value in view.attributes}
        answers = []
        for at, one in enumerate(fitting):
            key = Qt.Key(Qt.Key.Key_A + at)
            words = f"{one.name}: {has[one.id]}" if one.id in has else one.name
            answers.append(StripAnswer(key, chr(ord("A") + at), words, partial(self._ask_value, view, one)))
        question = tr("Attribute of every “{text}”") if self._everywhere else tr("Attribute of “{text}”")
        self._put(question.format(text=view.mention.text), answers)

    def _ask_value(self, view: MentionView, one: Attribute) -> None:
        has = value_of(view.attributes, one)
        answers = []
        for at, value in enumerate(one.shown, start=1):
            words = f"{value.name} ✓" if value.id == has else value.name
            new = None if value.id == has else value.id
            answers.append(StripAnswer(Qt.Key(Qt.Key.Key_0 + at), str(at), words, partial(self._set, view, one, new)))
        question = tr("{attribute} of every “{text}”") if self._everywhere else tr("{attribute} of “{text}”")
        self._put(question.format(attribute=one.name, text=view.mention.text), answers)

    def _put(self, question: str, answers: Sequence[StripAnswer]) -> None:
        bench = self._bench
        bench.line.setCurrentWidget(bench.reasons)
        bench.reasons.ask_other(f"{question}:", answers)

    def _set(self, view: MentionView, one: Attribute, value_id: int | None) -> None:
        """Set the value of the prompt's mention, which is still the current one."""
        bench, service = self._bench, self._bench.decider.seat.attributes
        if service is None or bench.navigator.mention_id != view.mention.id:
            return
        if self._everywhere and not bench.many.refusal:
            bench.many.set_values(view.mention.id, one, one.value(value_id))
        else:
            bench.decider.act(lambda: service.set([view.mention.id], one.id, value_id))

    def define(self) -> AttributesDialog:
        """Open the dialog of the project's attributes; what it saves is one step."""
        bench, service = self._bench, self._bench.project.attributes
        dialog = AttributesDialog(
            service.scheme(),
            uses=service.uses(),
            notes=service.notes,
            types=sorted(bench.known_types()),
            writable=not bench.project.read_only,
            parent=bench.window(),
        )
        unchanged = tr("The attributes were not changed.")
        dialog.accepted.connect(lambda: bench.decider.act(lambda: service.save(dialog.scheme), nothing=unchanged))
        dialog.read_wanted.connect(self._read)
        dialog.finished.connect(lambda: self._closed(dialog))
        dialog.open()
        self._open = dialog
        self._find()
        return dialog

    def _closed(self, dialog: AttributesDialog) -> None:
        self._open = None if self._open is dialog else self._open

    def _find(self) -> None:
        """Search for attributes in the imported files, in a thread, since every record is read."""
        files, dialog = self._bench.project.file_attributes, self._open

        def then(outcome: JobOutcome) -> None:
            if dialog is not None and self._open is dialog:
                dialog.files.show_rows(outcome.result.get("found", ()))
                dialog.problem.set_note("" if outcome.state is JobState.DONE else outcome.message)

        self._bench.jobs.ask(lambda: {"found": files.found()}, then=then)

    def _read(self, names: tuple[str, ...]) -> None:
        bench, dialog = self._bench, self._open
        project = bench.project

        def then(outcome: JobOutcome) -> None:
            change = outcome.result.get("change")
            if outcome.state is JobState.DONE:
                bench.say(change.text if change is not None else tr(NOTHING_LEFT))
            if dialog is None or self._open is not dialog:
                return
            if outcome.state is JobState.DONE:
                dialog.reload(project.attributes.scheme(), project.attributes.uses())
                self._find()
            else:
                dialog.files.set_busy()
                dialog.problem.set_note(outcome.message)

        bench.jobs.ask(lambda: {"change": project.file_attributes.read(names)}, then=then)


def value_of(given: Given, attribute: Attribute) -> int | None:
    """The id of the value that a mention has of an attribute."""
    return next((value.id for one, value in given if one.id == attribute.id), None)
