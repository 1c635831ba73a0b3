"""WebAnno TSV of a document that came from another format: its tokens and sentences, still without annotations."""

from __future__ import annotations

import re
from collections.abc import Iterator

from curator.domain.documents import Span
from curator.domain.offsets import Utf16Map
from curator.domain.wording import tr
from curator.io.standoff import webanno_tree as tree
from curator.services.ports import ExportDocument, Problem

_TOKEN = re.compile(r"\w+|[^\w\s]")


def declaration(layer: tree.Layer) -> str:
    return f"#T_{layer.kind}=" + "|".join([layer.name, *layer.features])


def new_text(item: ExportDocument, problems: list[Problem]) -> str:
    """A file with the document's tokens and sentences, without annotations."""
    text = item.document.text
    layer = tree.Layer("SP", tree.NAMED_ENTITY, ("identifier", "value"), 0)
    cuts = {at for gold in item.mentions for span in gold.mention.spans for at in (span.start, span.end)}
    tokens = _tokens(text, cuts)
    if text and not tokens:
        problems.append(
            Problem(
                0,
                "note",
                tr("document {external_id} has no words: its text was left out", external_id=item.document.external_id),
            )
        )
    units, lines = Utf16Map(text), [f"{tree.FORMAT}.3", declaration(layer), ""]
    for number, (sentence, within) in enumerate(_sentences(text, tokens), 1):
        lines += ["", "#Text=" + tree.escape_text(text[sentence.start : sentence.end])]
        for place, token in enumerate(within, 1):
            offsets = f"{units.to_utf16(token.start)}-{units.to_utf16(token.end)}"
            lines.append(f"{number}-{place}\t{offsets}\t{text[token.start : token.end]}\t_\t_\t")
    return "\n".join([*lines, ""])


def _tokens(text: str, cuts: set[int]) -> list[Span]:
    """Words and signs, cut where a mention begins or ends."""
    found = []
    for match in _TOKEN.finditer(text):
        start = match.start()
        for at in range(match.start() + 1, match.end() + 1):
            if at == match.end() or at in cuts:
                found.append(Span(start, at))
                start = at
    return found


def _sentences(text: str, tokens: list[Span]) -> Iterator[tuple[Span, list[Span]]]:
    """Lines with words, each with its tokens; lines without any belong to the line before, the first ones to the next.

    Between two sentences stands one line feed, which is how the gap is read again.
    """
    start, within = 0, list[Span]()
    for token in tokens:
        cut = text.rfind("\n", within[-1].end, token.start) if within else -1
        if cut >= 0:
            yield Span(start, cut), within
            start, within = cut + 1, []
        within.append(token)
    if within:
        yield Span(start, len(text)), within
