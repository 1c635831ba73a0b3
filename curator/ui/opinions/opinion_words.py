"""Texts about second opinions: below the candidates, before many are requested, and in the dialog."""

from __future__ import annotations

from curator.domain.suggestions import Opinion, OpinionPlace, OpinionUse, Suggestion
from curator.domain.wording import tr
from curator.services.linking.opinions import OpinionOptions
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
