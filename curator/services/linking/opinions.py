"""Second opinions of a language model on doubtful mentions: requested, stored, and compared with the linker and gold.

* **It is neither a decision nor a suggestion.** It is stored separately, shown, exported, and available as a filter.
* **The combiner uses it like a trained stage** (`models/rankers/hearing.py`), if it was fitted with at least 100 linked
  mentions that have an opinion, and if opinions made decisions that it was not fitted on more likely. Every other
  linker gives opinions no weight. A mention without an opinion is linked as if there were no opinions. Curators may
  have seen an opinion before deciding: if they followed it, its weight may be too high.
* **One request at a time** for the whole project. Waiting callers can be stopped.
"""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from curator.domain.decisions import Change, ChangeKind, Outcome
from curator.domain.documents import DocumentState
from curator.domain.facets import Facet
from curator.domain.jobs import Progress
from curator.domain.suggestions import Opinion, OpinionPlace, OpinionUse, Suggestion
from curator.domain.wording import CancelledError, UserError, tr
from curator.services.core.context import Context, Service
from curator.services.linking.opinion_prompts import TEMPLATE, Prompt, checked_template, make_prompt, read_answer
from curator.services.linking.opinion_report import OpinionReport, report_of
from curator.services.ports.opinions import ModelPort, ModelServer, NoAnswerError, Stopper
from curator.services.ports.queue import QueueFilter, WorkRow

T = TypeVar("T")
TEMPLATE_KEY = "opinion_prompt"
PHASE = "opinions"
ACTOR = "language model"
LOOK = 0.1
"""Seconds between two checks whether to stop."""
AT_ONCE = 500
FAILURES = 3
"""The number of consecutive failures after which a list of mentions is given up: the server is gone, or the model does
not understand the prompt."""
MOST = 1_000_000
OFF = "Second opinions are turned off. Turn them on in Tools › Second opinion."
NO_MODEL = "Enter the address and the model of a server in Tools › Second opinion."


@dataclass(frozen=True, slots=True)
class OpinionOptions:
    """`below` and `margin` (0…1) define doubtful mentions; see `is_doubtful`."""

    use: OpinionUse = OpinionUse.OFF
    address: str = ""
    model: str = ""
    key: str = ""
    place: OpinionPlace = OpinionPlace.LOCAL
    below: float = 0.8
    margin: float = 0.2
    seconds: float = 30.0

    @property
    def server(self) -> ModelServer:
        return ModelServer(self.address, self.model, self.key, self.seconds, self.place is OpinionPlace.ANY)

    def is_doubtful(self, sure: float | None, margin: float | None, *, nil: bool) -> bool:
        """`sure`: the probability of the linker's answer, which may be NIL; None without candidates, when there is
        nothing to ask. The margin counts if the linker's answer is an entity."""
        if sure is None:
            return False
        return sure < self.below or (not nil and margin is not None and margin < self.margin)

    def doubts(self, suggestion: Suggestion | None) -> bool:
        """Whether the linker is in doubt about a mention with this suggestion."""
        if suggestion is None or not suggestion.candidates:
            return False
        first, nil = suggestion.candidates[0].probability, suggestion.nil.is_nil
        return self.is_doubtful(1.0 - first if nil else first, suggestion.chance_margin, nil=nil)


class OpinionService(Service):
    """Calls the model in the caller's thread, which may be any. `options` are read with every call."""

    def __init__(self, context: Context, model: ModelPort, *, options: Callable[[], OpinionOptions]) -> None:
        super().__init__(context)
        self._model = model
        self._options = options
        self._turn = threading.Lock()

    @property
    def options(self) -> OpinionOptions:
        """The current options."""
        return self._options()

    # --- the prompt ---

    def template(self) -> str:
        """The project's template, or the one shipped with the program."""
        with self._store.read() as unit:
            return unit.meta.get(TEMPLATE_KEY) or TEMPLATE

    def set_template(self, text: str) -> None:
        """Store a template; '' restores the one shipped with the program. Raises UserError if placeholders are
        missing."""
        kept = checked_template(text) if text.strip() and text != TEMPLATE else ""
        with self._store.write() as unit:
            unit.meta.set(TEMPLATE_KEY, kept)

    def prompt(self, mention_id: int, *, template: str | None = None) -> Prompt:
        """The prompt for a mention. Raises UserError if it has no candidates or the template is invalid."""
        with self._store.read() as unit:
            mention = unit.mentions.get(mention_id)
            suggestion = unit.suggestions.get(mention_id)
            if suggestion is None:
                raise UserError(tr("This mention has no suggestion yet. Wait for the linker."))
            document = unit.documents.get(mention.document_id)
            entities = unit.kb.get_many([one.entity_id for one in suggestion.candidates])
            chosen = template if template is not None else unit.meta.get(TEMPLATE_KEY) or TEMPLATE
        return make_prompt(checked_template(chosen), document, mention, suggestion, entities)

    # --- asking ---

    def known(self, mention_id: int) -> Opinion | None:
        """The stored opinion about a mention."""
        with self._store.read() as unit:
            return unit.suggestions.opinions([mention_id]).get(mention_id)

    def models(self, server: ModelServer, stopper: Stopper) -> list[str]:
        """See `ports.ModelPort`."""
        return self._in_turn(stopper, lambda: self._model.models(server, stopper))

    def try_out(self, server: ModelServer, prompt: Prompt, stopper: Stopper) -> tuple[str | None, str, str]:
        """Call the model without storing anything: the entity or None for NIL, the reason, and the model's text. Raises
        like `ask`."""
        said = self._in_turn(stopper, lambda: self._model.answer(server, prompt.text, stopper))
        return *read_answer(said, prompt), said

    def ask(self, mention_id: int, stopper: Stopper, *, options: OpinionOptions | None = None) -> Opinion:
        """The model's opinion, which is stored. The model is not called again with the same prompt.

        Raises UserError if it is turned off or nothing can be asked, NoAnswerError (then nothing is stored),
        CancelledError.
        """
        chosen = options or self.options
        if chosen.use is OpinionUse.OFF:
            raise UserError(tr(OFF))
        if not chosen.address.strip() or not chosen.model.strip():
            raise UserError(tr(NO_MODEL))
        prompt = self.prompt(mention_id)
        key = prompt.key(chosen.model)
        known = self.known(mention_id)
        if known is not None and known.prompt == key:
            return known
        entity_id, reason, _ = self.try_out(chosen.server, prompt, stopper)
        opinion = Opinion(mention_id, entity_id, chosen.model, key, self._clock.now(), reason)
        self._keep(opinion)
        return opinion

    def _keep(self, opinion: Opinion) -> None:
        if self._store.read_only:
            return
        with self._store.write() as unit:
            mention = unit.mentions.get(opinion.mention_id)
            unit.suggestions.save_opinions([opinion])
        text = tr("The language model answered for “{text}”.", text=mention.text)
        self._events.emit(Change(ChangeKind.OPINIONS, ACTOR, text, (mention.document_id,), (mention.id,)))

    def _in_turn(self, stopper: Stopper, work: Callable[[], T]) -> T:
        while not self._turn.acquire(timeout=LOOK):
            if stopper.stopped:
                raise CancelledError
        try:
            if stopper.stopped:
                raise CancelledError
            return work()
        finally:
            self._turn.release()

    # --- many mentions ---

    def doubtful(self, where: QueueFilter, *, limit: int, options: OpinionOptions | None = None) -> list[int]:
        """Ids of undecided, doubtful mentions in the filter, the least certain first."""
        chosen = options or self.options

        def wanted(row: WorkRow) -> bool:
            return chosen.is_doubtful(row.probability, row.margin, nil=row.is_nil)

        with self._store.read() as unit:
            rows = unit.queue.undecided(where, limit=MOST)
        return [row.mention_id for row in rows if wanted(row)][:limit]

    def doubtful_gold(self, where: QueueFilter, *, limit: int, options: OpinionOptions | None = None) -> list[int]:
        """The same of linked and NIL mentions in done documents, in a fixed random order."""
        chosen = options or self.options
        facets = where.facets.only(Facet.STATE, (Outcome.LINK.value, Outcome.NIL.value))
        facets = facets.only(Facet.DOCUMENT, (DocumentState.DONE.value,))
        narrowed = QueueFilter(state=where.state, split=where.split, text=where.text, facets=facets)
        found: list[int] = []
        with self._store.read() as unit:
            ids = unit.queue.mentions(narrowed)
            random.Random("second opinion").shuffle(ids)  # noqa: S311
            for start in range(0, len(ids), AT_ONCE):
                part = ids[start : start + AT_ONCE]
                suggestions = unit.suggestions.get_many(part)
                found += [one for one in part if chosen.doubts(suggestions.get(one))]
                if len(found) >= limit:
                    break
        return found[:limit]

    def ask_many(
        self, mention_ids: Sequence[int], *, options: OpinionOptions | None = None
    ) -> Generator[Progress, None, OpinionReport]:
        """Ask about each mention in turn. Missing answers are counted by reason; after three in a row the rest is left
        out. Raises UserError if nothing can be asked. Closing the generator stops it."""
        answered: list[int] = []
        silent: Counter[str] = Counter()
        row = 0
        stopped = ""
        for done, mention_id in enumerate(mention_ids):
            try:
                yield from self._waited(mention_id, Progress(PHASE, done, len(mention_ids)), options)
                answered.append(mention_id)
                row = 0
            except NoAnswerError as error:
                silent[str(error)] += 1
                row += 1
                if row == FAILURES:
                    stopped = str(error)
                    break
        yield Progress(PHASE, len(mention_ids), len(mention_ids))
        return self.report(answered, model=(options or self.options).model, silent=silent, stopped=stopped)

    def report(
        self, mention_ids: Sequence[int], *, model: str = "", silent: Counter[str] | None = None, stopped: str = ""
    ) -> OpinionReport:
        """Compare the stored opinions about these mentions with the linker, and with gold, if there is any."""
        with self._store.read() as unit:
            return report_of(unit, mention_ids, model=model, silent=silent or Counter(), stopped=stopped)

    def _waited(
        self, mention_id: int, progress: Progress, options: OpinionOptions | None
    ) -> Generator[Progress, None, None]:
        """Call the model in a thread, so that the caller can stop it at any time."""
        stopper = Stopper()
        raised: list[BaseException] = []

        def work() -> None:
            try:
                self.ask(mention_id, stopper, options=options)
            except BaseException as error:  # thread boundary: raised again below
                raised.append(error)

        thread = threading.Thread(target=work, name="second opinion", daemon=True)
        thread.start()
        try:
            yield progress
            while thread.is_alive():
                thread.join(LOOK)
                if thread.is_alive():
                    yield progress
        finally:
            if thread.is_alive():
                stopper.stop()
            thread.join()
        if raised:
            raise raised[0]
