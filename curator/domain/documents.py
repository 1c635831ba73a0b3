"""Documents, passages and mentions; every span is a half-open range of Unicode code points of the text."""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

from curator.domain.decisions import FileComment, FileDecision


class Split(StrEnum):
    """A stored property of a document that determines where its decisions may be used."""

    TRAIN = "train"
    VALIDATION = "validation"
    TEST = "test"


class DocumentState(StrEnum):
    TODO = "todo"
    IN_PROGRESS = "in_progress"
    DONE = "done"
    DISCUSS = "discuss"  # needs discussion; not done

    @property
    def words(self) -> str:
        """The name for display."""
        return {"in_progress": "in progress", "discuss": "needs discussion"}.get(self.value, self.value)


class MentionOrigin(StrEnum):
    """Where a mention came from."""

    SOURCE = "source"
    CURATOR = "curator"
    DETECTED = "detected"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Half-open range of code points in the document's stored text."""

    start: int
    end: int

    def __post_init__(self) -> None:
        if not 0 <= self.start < self.end:
            raise ValueError(f"a span needs 0 <= start < end, got {self.start}-{self.end}")


@dataclass(frozen=True, slots=True)
class Passage:
    """A part of a document (`title`, `abstract`, `section`), with a label such as METHODS."""

    kind: str
    start: int
    end: int
    label: str = ""


@dataclass(frozen=True, slots=True)
class SourceMention:
    """A mention as stated in a file.

    `ids` are the file's identifiers split by the rules of the corpus, without stray spaces and `-1`/`-`; `raw_ids` is
    their text in the file, kept for the round trip. `nil` is true when the file says that the mention has no entity.
    `record` is the index of the annotation's line in the document's raw record (-1 if there is none). `decision`,
    `comments` and `flagged` occur only in the program's own files.
    """

    spans: tuple[Span, ...]
    text: str
    type: str
    ids: tuple[str, ...] = ()
    raw_ids: str = ""
    nil: bool = False
    record: int = -1
    decision: FileDecision | None = None
    comments: tuple[FileComment, ...] = ()
    flagged: bool = False


@dataclass(frozen=True, slots=True)
class SourceDocument:
    """A document from a reader. `raw` is the exact source record for writing it back byte for byte.

    `split`, `state`, `comments` and `flagged` occur only in the program's own files; None if not stated.
    """

    external_id: str
    title: str
    text: str
    passages: tuple[Passage, ...]
    mentions: tuple[SourceMention, ...]
    raw: str = ""
    line: int = 0
    split: Split | None = None
    state: DocumentState | None = None
    comments: tuple[FileComment, ...] = ()
    flagged: bool = False


@dataclass(frozen=True, slots=True)
class Document:
    """A stored document. Its identity is (source file, external id, occurrence in that file)."""

    id: int
    source_file_id: int
    external_id: str
    occurrence: int
    title: str
    text: str
    passages: tuple[Passage, ...]
    split: Split
    state: DocumentState
    revision: int


@dataclass(frozen=True, slots=True)
class Mention:
    """A stored mention; `deleted` mentions stay in the history but are neither shown nor exported."""

    id: int
    document_id: int
    spans: tuple[Span, ...]
    text: str
    type: str
    origin: MentionOrigin
    raw_ids: str = ""
    record: int = -1
    deleted: bool = False
    flagged: bool = False


@dataclass(frozen=True, slots=True)
class SourceFile:
    """An imported file; `head`, `tail` and `extra` are what a writer of `format` needs for the round trip."""

    id: int
    path: str
    name: str
    format: str
    sha256: str
    head: str = ""
    tail: str = ""
    extra: str = ""
    imported_at: datetime | None = None


def slice_spans(text: str, spans: Sequence[Span]) -> str:
    """The text under `spans`, fragments joined by one space."""
    return " ".join(text[s.start : s.end] for s in spans)


def text_hash(text: str) -> str:
    """SHA-256 of the UTF-8 text (lone surrogates kept), hexadecimal."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


# Maps between code-point offsets (ours) and UTF-16 offsets (Qt's) of one text.

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


class Utf16Map:
    """Offsets both ways in O(log n) of the astral characters; texts without any cost nothing."""

    def __init__(self, text: str) -> None:
        self._length = len(text)
        self._astral = [found.start() for found in _ASTRAL.finditer(text)]
        self._astral16 = [p + k for k, p in enumerate(self._astral)]

    def to_utf16(self, offset: int) -> int:
        """UTF-16 offset of the code point `offset` (0..len). Raises ValueError outside this range."""
        if not 0 <= offset <= self._length:
            raise ValueError(f"offset {offset} is outside 0..{self._length}")
        return offset + bisect_left(self._astral, offset)

    def to_code_point(self, offset: int) -> int:
        """Code-point offset of the UTF-16 `offset`; an offset inside a surrogate pair maps to the pair's start."""
        total = self._length + len(self._astral)
        if not 0 <= offset <= total:
            raise ValueError(f"UTF-16 offset {offset} is outside 0..{total}")
        return offset - bisect_right(self._astral16, offset - 1)


# The differences between two versions of a text, word by word.

AROUND = 60  # code points of common text shown next to a difference
MOST_EXACT = 4000  # up to this number of words, frequent ones are compared, too
_WORDS = re.compile(r"\w+|\s+|[^\w\s]")


class DiffSide(StrEnum):
    SAME = "same"
    OLD = "old"
    NEW = "new"


@dataclass(frozen=True, slots=True)
class DiffPart:
    part: DiffSide
    text: str


def differences(old: str, new: str) -> list[DiffPart]:
    """Both texts as parts in order: common text, text only in the old version, text only in the new version."""
    from difflib import SequenceMatcher  # imported here, so that the window's start does not wait for it

    words, others = _WORDS.findall(old), _WORDS.findall(new)
    matcher = SequenceMatcher(None, words, others, autojunk=max(len(words), len(others)) > MOST_EXACT)
    found = []
    for tag, a, b, c, d in matcher.get_opcodes():
        if tag == "equal":
            found.append(DiffPart(DiffSide.SAME, "".join(words[a:b])))
            continue
        if b > a:
            found.append(DiffPart(DiffSide.OLD, "".join(words[a:b])))
        if d > c:
            found.append(DiffPart(DiffSide.NEW, "".join(others[c:d])))
    return found


def shortened(parts: Iterable[DiffPart], *, around: int = AROUND) -> Iterator[DiffPart]:
    """The parts, with long common text shortened to the surroundings of differences."""
    listed = list(parts)
    for number, one in enumerate(listed):
        if one.part is not DiffSide.SAME or len(one.text) <= 2 * around:
            yield one
            continue
        before = one.text[:around] if number else ""
        after = one.text[-around:] if number + 1 < len(listed) else ""
        yield DiffPart(
            DiffSide.SAME, f"{before} … {after}".strip(" ") if not (before and after) else f"{before} … {after}"
        )


def as_line(parts: Iterable[DiffPart]) -> str:
    """The parts in one line, in the format of wdiff: `[-old-]` and `{+new+}`."""
    marks = {DiffSide.SAME: "{}", DiffSide.OLD: "[-{}-]", DiffSide.NEW: "{{+{}+}}"}
    return "".join(marks[one.part].format(one.text) for one in parts).replace("\n", " ⏎ ")


# Changes of a mention's spans and type, stored like its decisions.


@dataclass(frozen=True, slots=True)
class MentionShape:
    """The properties of a mention that a curator can change: its spans and type."""

    spans: tuple[Span, ...]
    type: str

    @classmethod
    def of(cls, mention: Mention) -> MentionShape:
        return cls(mention.spans, mention.type)


@dataclass(frozen=True, slots=True)
class MentionEdit:
    """One appended change of a mention; undo and redo append their own edits. `curator` made the change."""

    id: int
    mention_id: int
    before: MentionShape
    after: MentionShape
    curator: str
    at: datetime
    operation_id: int


# Imports: their records, what an undo would remove, and what to do with changed texts.


class ImportKind(StrEnum):
    """The kind of an entry in the list of imports."""

    IMPORTED = "imported"
    WITHDRAWN = "withdrawn"  # undone: the documents are hidden, with all records about them
    RESTORED = "restored"  # imported again after it was undone


class Changed(StrEnum):
    """What to do with a document whose text or annotations differ from the file's."""

    KEEP = "keep"  # keep the project's; skip the file's
    TAKE = "take"  # take the file's text, and move mentions and decisions to it
    APART = "apart"  # import the file's as another document


@dataclass(frozen=True, slots=True)
class ImportRecord:
    """One entry: `batch` is shared by the files of one import; `counts` by word, as in the report."""

    id: int
    file: SourceFile
    batch: int
    kind: ImportKind
    curator: str
    at: datetime | None
    counts: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Handwork:
    """Work of curators in the documents of an import, without imported gold."""

    documents: int = 0
    decisions: int = 0  # mentions with a person's current decision
    mentions: int = 0  # added by hand or detection, or moved and retyped
    comments: int = 0
    flags: int = 0
    judgements: int = 0

    def __bool__(self) -> bool:
        return bool(self.decisions or self.mentions or self.comments or self.flags or self.judgements)


@dataclass(frozen=True, slots=True)
class Present:
    """A visible document of the project that a file may contain again."""

    document_id: int
    file_id: int
    external_id: str
    occurrence: int
    text_sha256: str
    path: str  # of its source file
    name: str
    format: str
