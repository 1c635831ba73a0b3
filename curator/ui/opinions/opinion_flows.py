"""Flows around the second opinion: requested for the current mention or for the queue, shown below the candidates."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import QObject, QTimer, Slot

from curator.domain.decisions import Change, ChangeKind
from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.domain.suggestions import CandidateOrder, Opinion, OpinionUse, Suggestion
from curator.domain.wording import UserError, tr
from curator.services.linking.opinions import OpinionOptions
from curator.services.ports.opinions import Stopper
from curator.services.queue.queue import MentionView
from curator.ui.bench.workbench import Workbench
from curator.ui.jobs.jobs import JobKind
from curator.ui.kit.messages import ask
from curator.ui.kit.worker import Worker

if TYPE_CHECKING:
    from curator.ui.opinions.opinion_dialog import OpinionDialog


from curator.domain.suggestions import OpinionPlace
from curator.ui.kit.key_names import place_of, way_to

USES = {
    OpinionUse.OFF: "off",
    OpinionUse.REQUEST: "only when I ask",
    OpinionUse.FRAMED: "for doubtful mentions, when I reach them",
}
PLACES = {OpinionPlace.LOCAL: "this computer only", OpinionPlace.ANY: "any computer"}
TURNED_OFF = "Second opinions are turned off. {way} turns them on."
ASKING = "Asking {model}…"
ASK = "No second opinion yet. {key} asks for one."
SURE = "No second opinion: the linker is sure. {key} asks anyway."
NO_CANDIDATES = "No second opinion: there are no candidates to choose among."
INCOMPLETE = "Second opinion: choose a server and a model in Tools › Second opinion."


def answer_words(opinion: Opinion, suggestion: Suggestion | None, name: str) -> str:
    """The answer in words, such as `◆ llama3.1 disagrees: Prilocaine. It is a local anesthetic.` `name` is the entity's
    name."""
    said = name or opinion.entity_id or tr("not in the knowledge base")
    if suggestion is None:
        words = tr("{model}: {name}", model=opinion.model, name=said)
    elif opinion.agrees(suggestion):
        words = tr("{model} agrees: {name}", model=opinion.model, name=said)
    else:
        words = tr("{model} disagrees: {name}", model=opinion.model, name=said)
    return f"◆ {words}. {opinion.reason}".strip() if opinion.reason else f"◆ {words}"


def silent_words(options: OpinionOptions, suggestion: Suggestion | None) -> str:
    """The reason why no opinion was requested for a mention."""
    if not is_complete(options):
        return tr(INCOMPLETE)
    if suggestion is None:
        return ""
    if not suggestion.candidates:
        return tr(NO_CANDIDATES)
    key = way_to("tools.opinion_ask")
    sure = options.use is OpinionUse.FRAMED and not options.doubts(suggestion)
    return tr(SURE, key=key) if sure else tr(ASK, key=key)


def is_complete(options: OpinionOptions) -> bool:
    """Whether a server and a model are set."""
    return bool(options.address.strip() and options.model.strip())


def refusal_words(options: OpinionOptions) -> str:
    """The reason why no opinion can be requested, and what to do; '' if it can."""
    if options.use is OpinionUse.OFF:
        return tr(TURNED_OFF, way=place_of("tools.opinion"))
    return "" if is_complete(options) else tr(INCOMPLETE)


def question_words(options: OpinionOptions, number: int) -> str:
    """The confirmation question before many mentions are sent to a model."""
    return "\n\n".join(
        (
            tr(
                "Ask {model} about {n:,} doubtful mentions? Curator waits at most {seconds:g} seconds for each answer.",
                model=options.model,
                n=number,
                seconds=options.seconds,
            ),
            tr("You can continue to work, and cancel it at any time. Answers received until then are kept."),
        )
    )


REST_MS = 400
"""No request is sent for a mention that the curator leaves sooner."""
MOST = 100_000
NOTHING = "No undecided mention that the filter shows is doubtful."
Save = Callable[[Mapping[str, Any]], None]
Found = tuple[Opinion | None, str, str]
"""An opinion, the name of its entity, or else the reason why there is none."""


class OpinionFlows(QObject):
    """*Tools > Ask for a second opinion, Second opinions for the queue, Second opinion*."""

    def __init__(self, bench: Workbench, *, save: Save) -> None:
        """`save` stores settings by name."""
        super().__init__(bench)
        self._bench, self._save = bench, save
        self._service = bench.project.opinions
        self.worker = Worker(self)
        self._stopper = Stopper()
        self._key: tuple[int, bool] | None = None  # the current mention, and whether it has a suggestion
        self._rest = QTimer(self, singleShot=True, interval=REST_MS)
        self._rest.timeout.connect(self._look)
        bench.navigator.mention_changed.connect(self._mention_changed)
        bench.state_changed.connect(self._mention_changed)
        bench.bridge.changed.connect(self._changed)
        self.renew()

    # --- the mention on show ---

    @Slot()
    def renew(self) -> None:
        """Apply changed settings."""
        self._bench.candidates.set_opinions(self._service.options.use is not OpinionUse.OFF)
        self._key = None
        self._mention_changed()

    @Slot()
    def _mention_changed(self) -> None:
        view = self._visible()
        key = (view.mention.id, view.suggestion is not None) if view is not None else None
        if key == self._key and key is not None:
            return
        self._key = key
        self._stopper.stop()
        self._rest.stop()
        self._show("")
        if view is not None:
            self._rest.start()

    def _visible(self) -> MentionView | None:
        """The current mention, unless an opinion would influence a measurement."""
        view, bench = self._bench.navigator.mention, self._bench
        shuffled = bench.navigator.candidate_order is CandidateOrder.SHUFFLED
        return None if view is None or view.held_out or bench.judging or shuffled else view

    @Slot()
    def _look(self) -> None:
        view, options = self._visible(), self._service.options
        if view is None or options.use is OpinionUse.OFF:
            return
        unasked = options.use is OpinionUse.FRAMED and is_complete(options)
        undecided = view.decision is None and not self._bench.project.read_only
        self._ask(view, options, send=unasked and undecided and options.doubts(view.suggestion))

    def ask_now(self) -> None:
        """Request an opinion for the current mention, whether or not the linker is in doubt."""
        view, options = self._visible(), self._service.options
        if refusal := refusal_words(options):
            self._bench.say(refusal)
        elif view is not None:
            self._rest.stop()
            self._stopper.stop()
            self._ask(view, options, send=True, aloud=True)

    def _ask(self, view: MentionView, options: OpinionOptions, *, send: bool, aloud: bool = False) -> None:
        """Look up the stored opinion, and with `send` query the model, in the background. With `aloud`, the bottom line
        also shows the reason for a missing answer."""
        self._stopper = stopper = Stopper()
        if send:
            self._show(tr(ASKING, model=options.model))
        service, lookup, mention_id = self._service, self._bench.project.knowledge.entity, view.mention.id

        def work() -> Found:
            try:
                opinion = service.ask(mention_id, stopper) if send else service.known(mention_id)
            except UserError as error:
                return None, "", str(error)
            entity = lookup(opinion.entity_id) if opinion is not None and opinion.entity_id is not None else None
            return opinion, entity.name if entity is not None else "", ""

        def answered(found: Found) -> None:
            self._answered(mention_id, view.suggestion, options, found)
            if aloud and found[2] and self._key is not None and self._key[0] == mention_id:
                self._bench.say(found[2])

        self.worker.ask(work, answered)

    def _answered(self, mention_id: int, suggestion: Suggestion | None, options: OpinionOptions, found: Found) -> None:
        if self._key is None or self._key[0] != mention_id:
            return
        opinion, name, why = found
        if opinion is not None:
            self._show(answer_words(opinion, suggestion, name), opinion)
        else:
            self._show(why or silent_words(options, suggestion))

    def _show(self, words: str, opinion: Opinion | None = None) -> None:
        panel = self._bench.candidates
        panel.opinion.set_words(words)
        panel.set_extent(replace(panel.extent, opinion=opinion))

    @Slot(object)
    def _changed(self, change: Change) -> None:
        """Show an answer for the current mention from the work on the queue."""
        here = self._key is not None and self._key[0] in change.mention_ids
        if change.kind is ChangeKind.OPINIONS and here and not self.worker.busy:
            self._rest.start()

    # --- the queue ---

    def ask_queue(self) -> None:
        """Count the doubtful mentions, ask for confirmation, and query the model in the background."""
        options, bench, service = self._service.options, self._bench, self._service
        if refusal := refusal_words(options):
            bench.say(refusal)
            return
        if bench.jobs.runs(JobKind.OPINION):
            bench.say(tr("The language model is being asked about the queue already."))
            return
        where = bench.navigator.where

        def count() -> dict[str, Any]:
            return {"ids": service.doubtful(where, limit=MOST, options=options)}

        def counted(outcome: JobOutcome) -> None:
            ids = outcome.result.get("ids", [])
            if outcome.state is not JobState.DONE:
                bench.notices.add_outcome(tr("Second opinions"), outcome)
            elif not ids:
                bench.say(tr(NOTHING))
            else:
                words = question_words(options, len(ids))
                start = partial(self._start, ids, options)
                ask(bench.window(), tr("Second opinions for the queue"), words, yes=tr("Ask"), then=start)

        bench.jobs.ask(count, then=counted)

    def _start(self, ids: list[int], options: OpinionOptions) -> None:
        service, title = self._service, tr("Second opinions")

        def steps() -> Generator[Progress, None, Mapping[str, Any]]:
            report = yield from service.ask_many(ids, options=options)
            return {"message": report.text}

        def then(outcome: JobOutcome) -> None:
            self._bench.notices.add_outcome(title, outcome)

        self._bench.jobs.run(JobKind.OPINION, title, steps, then=then)

    # --- settings ---

    def show_settings(self) -> OpinionDialog:
        from curator.ui.opinions.opinion_dialog import OpinionDialog

        view = self._bench.navigator.mention
        mention_id = view.mention.id if view is not None and view.suggestion is not None else None
        dialog = OpinionDialog(self._service, mention_id=mention_id, parent=self._bench.window())
        dialog.accepted.connect(lambda: self._save(dialog.values))
        dialog.open()
        return dialog

    def close_windows(self) -> None:
        """Close the windows with the project, and stop the running request."""
        self._rest.stop()
        self._stopper.stop()
        self.worker.close()
