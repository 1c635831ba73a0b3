"""Second opinions of a language model on doubtful mentions: requested, stored, and compared with the linker and gold.

* **It is neither a decision nor a suggestion.** It is stored separately, shown, exported, and available as a filter.
* **The combiner uses it like a trained stage** (`models/rankers/stage_weights.py`), if it was fitted with at least 100
  linked mentions that have an opinion, and if opinions made decisions that it was not fitted on more likely. Every
  other linker gives opinions no weight. A mention without an opinion is linked as if there were no opinions. Curators
  may have seen an opinion before deciding: if they followed it, its weight may be too high.
* **One request at a time** for the whole project. Waiting callers can be stopped.
"""

from __future__ import annotations

import json
import random
import re
import threading
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TypeVar

from curator.domain.decisions import Change, ChangeKind, Decision, Outcome
from curator.domain.documents import Document, DocumentState, Mention
from curator.domain.entities import Entity
from curator.domain.facets import Facet
from curator.domain.jobs import Progress
from curator.domain.suggestions import Candidate, Opinion, OpinionPlace, OpinionUse, Suggestion
from curator.domain.wording import CancelledError, UserError, ntr, percent, tr
from curator.services.core.context import Context, Service
from curator.services.ports.opinions import ModelPort, ModelServer, NoAnswerError, Stopper
from curator.services.ports.queue import QueueFilter, WorkRow
from curator.services.ports.storage import UnitOfWork

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


# The prompt for a language model, from a template with named placeholders, and parsing its answer.
#
# * **The candidates are numbered alphabetically**, not in the linker's order: models prefer the first items of a list,
#   and an opinion that follows the linker's order would not be independent. 0 is NIL.
# * **Only a strictly formed answer counts**: an offered number, or a JSON object whose `choice` is one. It may be
#   surrounded only by a code fence and the model's notes between `<think>` and `</think>`. Anything else is not an
#   answer.

CANDIDATES = 10
"""The number of a suggestion's candidates that a model chooses from."""
AROUND = 600
"""Characters of the text before and after a mention."""
DEFINITION, SYNONYMS = 240, 4
NEEDED = ("mention", "context", "candidates")
PLACEHOLDERS = (*NEEDED, "type", "title")
TEMPLATE = """You link mentions in texts to entities of a knowledge base.

Title: {title}
Text: {context}

Which entity does the mention [[{mention}]] of the type {type} refer to in this text?

{candidates}

Answer with JSON only: {"choice": the number, "reason": "at most 15 words"}"""
_PLACEHOLDER = re.compile(r"\{([A-Za-z_][A-Za-z0-9_]*)\}")
_THOUGHT = re.compile(r"^\s*<think>.*?</think>", re.DOTALL)
_FENCED = re.compile(r"```(?:json)?\s*(.*?)\s*```", re.DOTALL)
MOST_REASON = 300


@dataclass(frozen=True, slots=True)
class Prompt:
    """`choices[n - 1]` is the entity with the number n."""

    text: str
    choices: tuple[str, ...]

    def key(self, model: str) -> str:
        """SHA-256 of the model's name and the text."""
        return sha256(f"{model}\0{self.text}".encode("utf-8", "surrogatepass")).hexdigest()


def checked_template(text: str) -> str:
    """The template, whose only braces around a single word are placeholders. Raises UserError for an unknown or missing
    placeholder."""
    found = _PLACEHOLDER.findall(text)
    listed = ", ".join(f"{{{one}}}" for one in PLACEHOLDERS)
    for name in found:
        if name not in PLACEHOLDERS:
            raise UserError(
                tr(
                    "The prompt has the unknown placeholder {name}. Known are {listed}.",
                    name=f"{{{name}}}",
                    listed=listed,
                )
            )
    for name in NEEDED:
        if name not in found:
            raise UserError(tr("The prompt needs the placeholder {name}.", name=f"{{{name}}}"))
    return text


def make_prompt(
    template: str, document: Document, mention: Mention, suggestion: Suggestion, entities: Mapping[str, Entity]
) -> Prompt:
    """The prompt. Raises UserError if the suggestion has no candidates."""
    offered = sorted(suggestion.candidates[:CANDIDATES], key=lambda one: (one.name.casefold(), one.entity_id))
    if not offered:
        raise UserError(tr("This mention has no candidates that a model could choose among."))
    lines = [_line(number, one, entities.get(one.entity_id)) for number, one in enumerate(offered, 1)]
    values = {
        "mention": mention.text,
        "type": mention.type,
        "title": document.title,
        "context": context(document.text, mention),
        "candidates": "\n".join([*lines, "0. NIL: none of these"]),
    }
    text = _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), template)
    return Prompt(text, tuple(one.entity_id for one in offered))


def context(text: str, mention: Mention) -> str:
    """The text around a mention, in one line, cut at white space, with each span of the mention in [[ ]]."""
    first, last = mention.spans[0].start, mention.spans[-1].end
    start, end = max(first - AROUND, 0), min(last + AROUND, len(text))
    if start:
        start = next((at for at in range(start, first) if text[at].isspace()), start)
    if end < len(text):
        end = next((at for at in range(end, last, -1) if text[at - 1].isspace()), end)
    parts, at = [], start
    for span in mention.spans:
        parts += [text[at : span.start], "[[", text[span.start : span.end], "]]"]
        at = span.end
    words = " ".join("".join([*parts, text[at:end]]).split())
    return f"{'… ' if start else ''}{words}{' …' if end < len(text) else ''}"


def _line(number: int, candidate: Candidate, entity: Entity | None) -> str:
    """A candidate's line, such as `2. Prilocaine (MESH:D011318), Chemical; also: Citanest. A local anesthetic.`"""
    kinds = ", ".join(candidate.types)
    words = f"{number}. {candidate.name} ({candidate.entity_id}){', ' if kinds else ''}{kinds}"
    if entity is not None and entity.synonyms:
        words += f"; also: {', '.join(entity.synonyms[:SYNONYMS])}"
    definition = " ".join(entity.definition.split()) if entity is not None else ""
    if len(definition) > DEFINITION:
        definition = definition[:DEFINITION].rpartition(" ")[0] + " …"
    return f"{words}. {definition}" if definition else words


def read_answer(text: str, prompt: Prompt) -> tuple[str | None, str]:
    """The chosen entity, None for NIL, and the reason ('' without one). Raises NoAnswerError."""
    words = _THOUGHT.sub("", text).strip()
    fenced = _FENCED.fullmatch(words)
    words = fenced[1] if fenced is not None else words
    choice, reason = _chosen(words)
    if choice is None:
        raise NoAnswerError(tr("The model did not answer with a number: “{words}”", words=_short(words)))
    if not 0 <= choice <= len(prompt.choices):
        raise NoAnswerError(
            tr("The model chose number {n}, but the prompt lists 0 to {last}.", n=choice, last=len(prompt.choices))
        )
    return (prompt.choices[choice - 1] if choice else None), reason


def _chosen(words: str) -> tuple[int | None, str]:
    if re.fullmatch(r"\d{1,4}\.?", words, re.ASCII):
        return int(words.rstrip(".")), ""
    try:
        found = json.loads(words)
    except (ValueError, RecursionError):
        return None, ""
    if not isinstance(found, dict):
        return None, ""
    choice, reason = found.get("choice"), found.get("reason")
    said = " ".join(reason.split())[:MOST_REASON] if isinstance(reason, str) else ""
    if isinstance(choice, str):
        plain = choice.strip().upper()
        choice = 0 if plain == "NIL" else int(plain) if re.fullmatch(r"\d{1,4}", plain, re.ASCII) else None
    return (choice, said) if type(choice) is int else (None, "")


def _short(words: str) -> str:
    plain = " ".join(words.split())
    return plain if len(plain) <= 60 else plain[:60] + "…"


# How often a language model agrees with the linker, and which of the two is right if there is gold.

JUDGED = (Outcome.LINK, Outcome.NIL)


@dataclass(frozen=True, slots=True)
class OpinionReport:
    """Numbers of mentions. `gold`: mentions with a link or NIL decision in a done document; the other counts are those
    for which the linker's or the model's answer is right, `only_linker` and `only_model` if the other is wrong.

    `silent`: reasons for missing answers, with numbers. `stopped`: why the rest was left out, '' if nothing was.
    """

    model: str
    answered: int = 0
    agree: int = 0
    nil: int = 0
    gold: int = 0
    linker_right: int = 0
    model_right: int = 0
    only_linker: int = 0
    only_model: int = 0
    silent: Mapping[str, int] = field(default_factory=dict)
    stopped: str = ""

    @property
    def asked(self) -> int:
        return self.answered + sum(self.silent.values())

    @property
    def text(self) -> str:
        """The report as lines of text."""
        if not self.asked:
            return tr("There is no doubtful mention to ask about.")
        lines = [
            ntr("{model} answered for {n:,} mention.", "{model} answered for {n:,} mentions.", self.answered,
                model=self.model)
        ]  # fmt: skip
        if self.answered:
            lines.append(
                tr(
                    "It agrees with the linker on {agree:,} of {n:,} ({share}).",
                    agree=self.agree,
                    n=self.answered,
                    share=percent(self.agree / self.answered, 0),
                )
            )
        lines += [*self._gold_lines(), *self._silent_lines()]
        return "\n".join(lines)

    def _gold_lines(self) -> list[str]:
        if not self.gold:
            return []
        return [
            tr(
                "Of {n:,} with gold, the linker is right on {linker}, the model on {model}.",
                n=self.gold,
                linker=percent(self.linker_right / self.gold),
                model=percent(self.model_right / self.gold),
            ),
            tr(
                "Only the linker is right on {linker:,}, only the model on {model:,}.",
                linker=self.only_linker,
                model=self.only_model,
            ),
        ]

    def _silent_lines(self) -> list[str]:
        lines = [
            ntr("No answer for {n:,} mention: {why}", "No answer for {n:,} mentions: {why}", number, why=why)
            for why, number in self.silent.items()
        ]
        return [*lines, tr("The others were not asked.")] if self.stopped else lines


def report_of(
    unit: UnitOfWork, mention_ids: Sequence[int], *, model: str, silent: Mapping[str, int], stopped: str
) -> OpinionReport:
    """The report about mentions with an opinion and a suggestion."""
    opinions, suggestions = unit.suggestions.opinions(mention_ids), unit.suggestions.get_many(mention_ids)
    both = [one for one in mention_ids if one in opinions and one in suggestions]
    gold = _gold(unit, both)
    tally: Counter[str] = Counter()
    for one in both:
        opinion, suggestion = opinions[one], suggestions[one]
        tally["agree"] += opinion.agrees(suggestion)
        tally["nil"] += opinion.entity_id is None
        if one in gold:
            tally.update(_compared(opinion, suggestion, gold[one]))
    counts = {name: tally[name] for name in ("agree", "nil", "gold", "linker_right", "model_right")}
    only = {name: tally[name] for name in ("only_linker", "only_model")}
    return OpinionReport(model, len(both), **counts, **only, silent=dict(silent), stopped=stopped)


def _gold(unit: UnitOfWork, mention_ids: Sequence[int]) -> dict[int, Decision]:
    found = {key: one for key, one in unit.decisions.current(mention_ids).items() if one.verdict.outcome in JUDGED}
    documents = unit.mentions.documents_of(list(found))
    done = {one for one in set(documents.values()) if unit.documents.get(one).state is DocumentState.DONE}
    return {key: one for key, one in found.items() if documents[key] in done}


def _compared(opinion: Opinion, suggestion: Suggestion, decision: Decision) -> dict[str, int]:
    linker = None if suggestion.expects_nil or not suggestion.candidates else suggestion.candidates[0].entity_id
    linker_right, model_right = _is_right(linker, decision), _is_right(opinion.entity_id, decision)
    return {
        "gold": 1,
        "linker_right": int(linker_right),
        "model_right": int(model_right),
        "only_linker": int(linker_right and not model_right),
        "only_model": int(model_right and not linker_right),
    }


def _is_right(answer: str | None, decision: Decision) -> bool:
    """Whether the answer is right; one of several linked entities is enough."""
    if decision.verdict.outcome is Outcome.NIL:
        return answer is None
    return answer is not None and answer in decision.verdict.entity_ids
