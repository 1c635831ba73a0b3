"""The messages between the window's process and its children, declared once for both ends.

A child gets requests (with an `op`) over its standard input and sends events (with an `event`) over its standard
output. Each end first sends `VERSION`, as a line of JSON, which every version understands. Then every message is four
bytes with its length and MessagePack: writing numbers as text took a tenth of the linker's time. `received` refuses
another version (possible if the program was updated while running) and a message whose fields differ from its type
here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import IO, Any, Literal, TypedDict, get_args, get_type_hints

import msgpack

from curator.domain.wording import tr

VERSION = 8
"""Raise it with every change of a message below."""
LENGTH, LONGEST, LONGEST_GREETING = 4, 1 << 30, 1000  # bytes; of a message's length, of a message
PACK = partial(msgpack.packb, unicode_errors="surrogatepass")
UNPACK = partial(msgpack.unpackb, unicode_errors="surrogatepass", strict_map_key=False)
Message = dict[str, Any]
UPDATED = (
    "The program was updated while it was running: the versions of this window and of its background processes differ "
    "({ours} and {theirs}). Close the program and start it again."
)


class WireError(Exception):
    """The other end sent an invalid message; the text is for the user."""


# --- any child -------------------------------------------------------------------------------------------------------
class Hello(TypedDict):
    version: int


class Misunderstood(TypedDict):
    """The child's last event after an invalid request; `message` is the text of a `WireError`."""

    event: Literal["misunderstood"]
    message: str


class Alive(TypedDict):
    """A heartbeat. `cpu`: seconds of processor time used so far; `request`: whether one is being answered."""

    event: Literal["alive"]
    cpu: float
    request: bool


# --- a job -----------------------------------------------------------------------------------------------------------
class RunJob(TypedDict):
    """A job's only request except `cancel`; the child's module documents `spec`."""

    op: Literal["run"]
    spec: Mapping[str, Any]


class Cancel(TypedDict):
    op: Literal["cancel"]


class _Step(TypedDict):
    event: Literal["progress"]
    phase: str
    done: int
    total: int


class Step(_Step, total=False):
    """Like `domain.jobs.Progress`."""

    text: str
    data: Mapping[str, Any]


class Done(TypedDict):
    """`result` holds the message for the user as `message`, if there is one."""

    event: Literal["done"]
    result: Mapping[str, Any]


class Cancelled(TypedDict):
    event: Literal["cancelled"]


class Failed(TypedDict):
    event: Literal["failed"]  # the user's error
    message: str


class Crashed(TypedDict):
    """A bug, with its traceback."""

    event: Literal["crashed"]
    message: str
    detail: str


# --- the linker: requests --------------------------------------------------------------------------------------------
class MentionOnWire(TypedDict):
    """`spans` are [start, end] pairs in code points; `types` are the knowledge base's, none for any; `opinion` as in
    `ports.LinkMention`."""

    id: int
    spans: list[list[int]]
    types: list[str]
    opinion: str | None


class DecidedOnWire(MentionOnWire):
    """A decided mention; no entities means NIL."""

    entity_ids: list[str]


class DocumentOnWire(TypedDict):
    id: int
    revision: int
    text: str
    mentions: list[MentionOnWire]


class DecidedDocumentOnWire(TypedDict):
    id: int
    text: str
    mentions: list[DecidedOnWire]


class TextOnWire(TypedDict):
    id: int
    text: str


class EntityOnWire(TypedDict):
    """An entity in the form of a line of `kb.jsonl`."""

    id: str
    name: str
    synonyms: list[str]
    types: list[str]
    definition: str
    alt_ids: list[str]
    parents: list[str]


class Start(TypedDict):
    """`threads` 0 leaves the choice to the library; `cache` is the embedding cache's folder, '' for the default."""

    op: Literal["start"]
    device: str
    threads: int
    cache: str


class Open(TypedDict):
    """Load the bundle of this folder in addition to the one in use; answered by `opened` or `open_failed`."""

    op: Literal["open"]
    bundle: str
    bundle_id: str


class Link(TypedDict):
    """Answered by `linked` for each document. With `own` a document's other decisions are used too."""

    op: Literal["link"]
    batch: int
    k: int
    own: bool
    documents: list[DocumentOnWire]


class Detect(TypedDict):
    """Answered by `detected` for each document."""

    op: Literal["detect"]
    batch: int
    types: list[str]
    documents: list[TextOnWire]


class Remember(TypedDict):
    """The decisions in these documents for the next `link`, replacing earlier ones."""

    op: Literal["remember"]
    batch: int
    documents: list[DecidedDocumentOnWire]


class ChangeEntities(TypedDict):
    """Changes of entities for the next `link`; `remove` are primary ids."""

    op: Literal["entities"]
    batch: int
    upsert: list[EntityOnWire]
    remove: list[str]


class ContrastTwo(TypedDict):
    """Answered by `contrasted`. `entities` are the primary ids of two candidates of the mention."""

    op: Literal["contrast"]
    batch: int
    document: DocumentOnWire
    mention: int
    entities: list[str]


# --- the linker: events ----------------------------------------------------------------------------------------------
class Opening(TypedDict):
    event: Literal["opening"]
    bundle_id: str
    message: str  # what is being built before the bundle can be used, with a percentage


class Opened(TypedDict):
    """The bundle is in use. `hears_opinions`: second opinions change its answers."""

    event: Literal["opened"]
    bundle_id: str
    stages: list[str]
    device: str
    on_gpu: bool
    hears_opinions: bool


class OpenFailed(TypedDict):
    event: Literal["open_failed"]
    bundle_id: str
    message: str


class CandidatesOnWire(TypedDict):
    """`domain.suggestions.Candidate` in columns, best first; `decided`: pairs of times and documents."""

    entity_ids: Sequence[str]
    names: Sequence[str]
    types: Sequence[Sequence[str]]
    matched: Sequence[str]
    score: Sequence[float]
    scores: Mapping[str, Sequence[float]]
    probability: Sequence[float]
    decided: Sequence[Sequence[int]]


class NilOnWire(TypedDict):
    score: float
    is_nil: bool
    calibrated: bool


class LinkedMentionOnWire(TypedDict):
    """`expanded` is the long form of an abbreviation, '' if it is not one."""

    id: int
    expanded: str
    candidates: CandidatesOnWire
    nil: NilOnWire


class Linked(TypedDict):
    """`revision` and `bundle` are the suggestions' stamp. A document with more than `ANSWER_MENTIONS` gets several.
    `mentions`: a packed list of `LinkedMentionOnWire`, which takes a sixth of the memory until it is stored."""

    event: Literal["linked"]
    batch: int
    document: int
    revision: int
    bundle: str
    mentions: bytes


class DetectedOnWire(TypedDict):
    start: int
    end: int
    types: list[str]
    entity_ids: list[str]


class Detected(TypedDict):
    event: Literal["detected"]
    batch: int
    document: int
    mentions: list[DetectedOnWire]


class Contrasted(TypedDict):
    """`words` are (start, end, change of the lead without the word, None if not measured)."""

    event: Literal["contrasted"]
    batch: int
    mention: int
    entities: list[str]
    revision: int
    bundle: str
    lead: float
    words: list[tuple[int, int, float | None]]


class BatchEnd(TypedDict):
    """Sent after all answers of the batch."""

    event: Literal["end"]
    batch: int


class BatchError(TypedDict):
    """Sent instead of `end`. `kind`: `user` for a user's error, else `bug`, with its traceback in `detail`."""

    event: Literal["error"]
    batch: int
    kind: Literal["user", "bug"]
    message: str
    detail: str


# --- both ends -------------------------------------------------------------------------------------------------------
class Schema:
    """The messages that one end accepts, distinguished by the value of `tag`."""

    def __init__(self, tag: str, *kinds: Any) -> None:
        self._tag = tag
        self._fields = {
            get_args(get_type_hints(kind)[tag])[0]: (kind.__required_keys__, kind.__optional_keys__) for kind in kinds
        }

    def check(self, message: Any) -> None:
        """The message. Raises WireError for an unknown message, and for missing or undeclared fields."""
        name = message.get(self._tag) if isinstance(message, dict) else None
        if not isinstance(name, str) or name not in self._fields:
            raise WireError(_not_understood(f"{self._tag} {name!r}"[:80]))
        required, optional = self._fields[name]
        if wrong := (required - message.keys()) | (message.keys() - required - optional):
            raise WireError(_not_understood(f"{self._tag} {name!r}: {', '.join(sorted(map(str, wrong)))}"[:200]))


REQUESTS = Schema("op", RunJob, Cancel, Start, Open, Link, Detect, Remember, ChangeEntities, ContrastTwo)
EVENTS = Schema(
    "event",
    *(Misunderstood, Alive, Step, Done, Cancelled, Failed, Crashed),
    *(Opening, Opened, OpenFailed, Linked, Detected, Contrasted, BatchEnd, BatchError),
)


def frame(message: Mapping[str, object]) -> bytes:
    """A message in the form that is sent."""
    body: bytes = PACK(message)
    return len(body).to_bytes(LENGTH, "big") + body


def greeting() -> bytes:
    """What either end sends first."""
    return json.dumps(Hello(version=VERSION)).encode("ascii") + b"\n"


def received(stream: IO[bytes], schema: Schema) -> Iterator[Message]:
    """The messages of the other end after its greeting. A WireError ends it. An incomplete message of a killed child is
    ignored."""
    first = stream.readline(LONGEST_GREETING)
    if not first.endswith(b"\n") and len(first) < LONGEST_GREETING:
        return
    _check_version(_parsed(json.loads, first))
    while len(length := stream.read(LENGTH)) == LENGTH:
        size = int.from_bytes(length, "big")
        if size > LONGEST:
            raise WireError(_not_understood(length))
        body = stream.read(size)
        if len(body) < size:
            return
        message = _parsed(UNPACK, body)
        schema.check(message)
        yield message


def _parsed(parse: Callable[[bytes], Any], body: bytes) -> Any:
    try:
        return parse(body)
    except (ValueError, TypeError, RecursionError) as error:
        raise WireError(_not_understood(body)) from error


def _check_version(message: Any) -> None:
    theirs = message.get("version", 0) if isinstance(message, dict) else 0
    if theirs != VERSION:
        raise WireError(tr(UPDATED, ours=VERSION, theirs=theirs))


def _not_understood(what: str | bytes) -> str:
    return tr(
        "The window and its background process cannot communicate ({what}). Close the program and start it again.",
        what=what if isinstance(what, str) else what[:80].decode("utf-8", "replace").strip(),
    )
