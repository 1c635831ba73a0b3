"""Random documents for the property tests of formats, and what writing and reading them again must keep."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from curator.domain.documents import Passage, SourceDocument, SourceFile, SourceMention, Span, slice_spans
from curator.services.ports.files import DocumentFormat, ExportDocument

TEXT = st.text(
    st.one_of(st.sampled_from("ab \n\r\t\U0001f600é|;:\u2028\x85"), st.characters(exclude_categories=("Cs", "Cc"))),
    max_size=40,
)
IDS = st.lists(
    st.sampled_from(["MESH:D000001", "OMIM:104300", "0A1B", "Siege of Antioch (1268)", "x:y:z", "é"]),
    max_size=3,
    unique=True,
)
FEW = settings(
    max_examples=10, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)


@st.composite
def documents(draw: st.DrawFn, *, apart: bool = True, ends: str = "") -> list[SourceDocument]:
    """A few documents with nested, overlapping and (with `apart`) discontinuous mentions, none of which begins or ends
    with white space. `ends`: characters that texts do without.
    """
    found = []
    for number in range(draw(st.integers(1, 3))):
        text = "".join(ch for ch in draw(TEXT) if ch not in ends)
        cuts = st.lists(st.integers(0, len(text)), min_size=2, max_size=6 if apart else 2, unique=True)
        mentions = [_mention(draw, text, sorted(draw(cuts))) for _ in range(draw(st.integers(0, 4)) if text else 0)]
        kept = dict.fromkeys(one for one in mentions if one is not None)
        passages = (Passage("section", 0, len(text)),) if text else ()
        found.append(SourceDocument(f"d{number}", "", text, passages, tuple(kept)))
    return found


def _mention(draw: st.DrawFn, text: str, cuts: Sequence[int]) -> SourceMention | None:
    pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    spans = tuple(Span(start, end) for start, end in pairs)
    pieces = [text[start:end] for start, end in pairs]
    gaps = [text[one.end : other.start] for one, other in pairwise(spans)]
    if not spans or any(piece != piece.strip() or not piece for piece in pieces):
        return None
    if any(not gap.strip("\r\n") for gap in gaps):
        return None  # fragments that only line breaks part are one mention, for formats that quote on one line
    ids = tuple(draw(IDS))
    return SourceMention(
        spans, slice_spans(text, spans), draw(st.sampled_from(["Disease", "Chemical"])), ids, nil=not ids
    )


def again(
    make: SimpleNamespace, form: DocumentFormat, found: Sequence[SourceDocument], name: str
) -> tuple[list[SourceDocument], list[SourceDocument], DocumentFormat]:
    """What is read of the documents written as new ones, and of these written once more as they were read."""
    with tempfile.TemporaryDirectory() as folder:
        first, second = Path(folder) / name, Path(folder) / f"again-{name}"
        items = [make.fresh(make.export(one), [m.ids for m in one.mentions]) for one in found]
        form.write([(SourceFile(1, "x.json", "x.json", "other", ""), items)], first)
        reader = form.open(first)
        once = list(reader)
        assert [one for one in reader.problems if one.severity != "note"] == []
        form.write([(make.file(first, reader), [make.export(one) for one in once])], second)
        return plain(once), plain(list(form.open(second))), form


def plain(found: Sequence[SourceDocument]) -> list[SourceDocument]:
    """The documents without what differs between files that say the same."""
    return [
        dataclasses.replace(
            one,
            raw="",
            line=0,
            title="",
            passages=(),
            mentions=tuple(
                sorted(
                    (dataclasses.replace(m, raw_ids="", record=-1) for m in one.mentions),
                    key=lambda m: (m.spans, m.type, m.ids),
                )
            ),
        )
        for one in found
    ]


def read(form: DocumentFormat, path: Path) -> tuple[list[SourceDocument], list[str]]:
    """The documents of a file, and its problems in words."""
    reader = form.open(path)
    found = list(reader)
    return found, [f"{one.severity}: {one.text}" for one in reader.problems]


def written(
    make: SimpleNamespace,
    form: DocumentFormat,
    path: Path,
    out: Path,
    change: Callable[[list[ExportDocument]], list[ExportDocument]] = lambda items: items,
    **changes: object,
) -> list[Path]:
    """Read a file and write it, the first document with changes as `make.export` takes them."""
    reader = form.open(path)
    first, *others = list(reader)
    items = [make.export(first, **changes), *(make.export(one) for one in others)]
    return form.write([(make.file(path, reader), change(items))], out)
