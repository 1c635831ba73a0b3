"""The prompt for a language model, from a template with named placeholders, and parsing its answer.

* **The candidates are numbered alphabetically**, not in the linker's order: models prefer the first items of a list,
  and an opinion that follows the linker's order would not be independent. 0 is NIL.
* **Only a strictly formed answer counts**: an offered number, or a JSON object whose `choice` is one. It may be
  surrounded only by a code fence and the model's notes between `<think>` and `</think>`. Anything else is not an
  answer.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from curator.domain.documents import Document, Mention
from curator.domain.entities import Entity
from curator.domain.suggestions import Candidate, Suggestion
from curator.domain.wording import UserError, tr
from curator.services.ports.opinions import NoAnswerError

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
