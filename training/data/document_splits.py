"""Which documents are for training, tuning and evaluation. The split depends only on hashes of the documents' keys.

A training document that was held out stays held out when documents are added, so documents used to evaluate one bundle
never train the next.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from models.errors import ModelError, nsay, say
from training.data.snapshot import Snapshot, SnapshotDocument, Split

HELD_OUT = 0.2
MIN_LINKED = 20
MIN_FOLD_LINKED = 20
TURNS = 5
MOST_IN_TURN = 500
"""More documents would add minutes and little else."""

Documents = tuple[SnapshotDocument, ...]


@dataclass(frozen=True, slots=True)
class Parts:
    """`train` gives labels; the held-out documents tune fusion and NIL and evaluate the result.

    They form `folds`. Each fold is evaluated with weights fitted on the others (cross-fitting), so no document is
    evaluated with weights fitted on it. With too few documents there is one fold, used for both. `in_turn`: no network
    is trained, and the held-out documents teach the memory too. `notes` are sentences for the manifest about departures
    from the usual split.
    """

    train: Documents
    folds: tuple[Documents, ...]
    notes: tuple[str, ...] = ()
    in_turn: bool = False

    @property
    def held_out(self) -> Documents:
        """The documents of all folds."""
        return tuple(document for fold in self.folds for document in fold)

    @property
    def remembered(self) -> Documents:
        """Documents whose decisions are in the memory; a document is never linked with its own decisions."""
        return (*self.train, *self.held_out) if self.in_turn else self.train


def place(key: str, *, salt: str) -> float:
    """A number in [0, 1) derived from `key`; independent for each `salt`."""
    digest = hashlib.sha256(f"{salt}:{key}".encode()).digest()
    return int.from_bytes(digest[:8]) / 2**64


def fold_numbers(keys: Iterable[str], count: int) -> dict[str, int]:
    """The fold of each document, by hash: all folds are of about equal size."""
    ordered = sorted(set(keys), key=lambda key: (place(key, salt="fold"), key))
    return {key: number % count for number, key in enumerate(ordered)}


def divide(snapshot: Snapshot, *, most: int | None = None) -> Parts:
    """Divide a training snapshot.

    `most`: the number of held-out mentions that suffice; documents are taken in the order of their hashes until they
    hold that many. Without decided validation documents a fifth of the training documents is held out. Held-out
    documents make up to five folds of at least 20 links each. Raises ModelError if there are no or too few decisions,
    or only one document.
    """
    train = _decided(snapshot.of_split(Split.TRAIN))
    held_out = _decided(snapshot.of_split(Split.VALIDATION))
    _check(train, held_out)
    notes: list[str] = []
    if not held_out:
        train, held_out = _hold_out(train)
        notes.append(
            nsay(
                "No validation document has decisions, so {n:,} training document was held out by hash "
                "and is not learned from.",
                "No validation document has decisions, so {n:,} training documents were held out by "
                "hash and are not learned from.",
                len(held_out),
            )
        )
    if most is not None and (fewer := _first_by_hash(held_out, most)) != held_out:
        notes.append(
            nsay(
                "{n:,} of {number:,} held-out documents is used to tune and evaluate the result: a "
                "quick recipe needs no more than {most} mentions.",
                "{n:,} of {number:,} held-out documents are used to tune and evaluate the result: a "
                "quick recipe needs no more than {most} mentions.",
                len(fewer),
                number=len(held_out),
                most=most,
            )
        )
        held_out = fewer
    folds = _folds(held_out)
    if len(folds) == 1:
        notes.append(
            say(
                "{documents} with {links} are too few to divide in half, so the same ones are used to "
                "tune the fusion and to evaluate the result. This makes the result look slightly better "
                "than it is.",
                documents=nsay("{n:,} held-out document", "{n:,} held-out documents", len(held_out)),
                links=nsay("{n:,} link", "{n:,} links", linked_count(held_out)),
            )
        )
    return Parts(train, folds, tuple(notes))


def _folds(held_out: Documents) -> tuple[Documents, ...]:
    """By hash, at most ``TURNS``, so that weights can be fitted on as much as possible; each has enough links."""
    for number in range(TURNS, 1, -1):
        fold = fold_numbers((document.key for document in held_out), number)
        folds = tuple(tuple(one for one in held_out if fold[one.key] == at) for at in range(number))
        if min(map(linked_count, folds)) >= MIN_FOLD_LINKED:
            return folds
    return (held_out,)


def in_turn(snapshot: Snapshot) -> Parts:
    """At most ``MOST_IN_TURN`` decided documents in ``TURNS`` folds by hash, for jobs that train no network.

    Raises ModelError if there are no or too few decisions, or only one document.
    """
    every = _decided((*snapshot.of_split(Split.TRAIN), *snapshot.of_split(Split.VALIDATION)))
    _check(every, ())
    by_hash = sorted(every, key=lambda document: place(document.key, salt="fold"))
    judged, rest = by_hash[:MOST_IN_TURN], by_hash[MOST_IN_TURN:]
    folds = tuple(tuple(judged[start::TURNS]) for start in range(min(TURNS, len(judged))))
    return Parts(tuple(rest), folds, in_turn=True)


def _first_by_hash(documents: Documents, mentions: int) -> Documents:
    """The first documents by hash that hold `mentions` links, or all if there are fewer; in their original order."""
    chosen: set[str] = set()
    links = 0
    for document in sorted(documents, key=lambda one: place(one.key, salt="gate")):
        if links < mentions:
            chosen.add(document.key)
            links += linked_count([document])
    return tuple(document for document in documents if document.key in chosen)


def linked_count(documents: Sequence[SnapshotDocument]) -> int:
    """Number of decided mentions that link to an entity."""
    return sum(bool(mention.gold and mention.gold.ids) for document in documents for mention in document.mentions)


def _decided(documents: Documents) -> Documents:
    return tuple(d for d in documents if any(mention.gold is not None for mention in d.mentions))


def _check(train: Documents, held_out: Documents) -> None:
    links = linked_count(train)
    if not train or not links:
        raise ModelError(
            say(
                "There is nothing to learn from: no mention in a training document is linked yet. Link "
                "some mentions in documents of the split “train”, then train."
            )
        )
    if len(train) < 2 and not held_out:
        raise ModelError(
            say(
                "All decisions are in one document, so none would be left to test the result. Decide "
                "mentions in at least one more document, then train."
            )
        )
    if links < MIN_LINKED:
        raise ModelError(
            nsay(
                "{n:,} linked mention in training documents is not enough to learn from; at least "
                "{least} are needed. Link some more, then train.",
                "{n:,} linked mentions in training documents are not enough to learn from; at least "
                "{least} are needed. Link some more, then train.",
                links,
                least=MIN_LINKED,
            )
        )
    if held_out and not linked_count(held_out):
        raise ModelError(
            say(
                "The validation documents contain no linked mentions, so nothing can be compared. Link "
                "some mentions in them, or move them to the split “train”."
            )
        )


def _hold_out(train: Documents) -> tuple[Documents, Documents]:
    """A fifth of the documents by hash: at least one document with a link, never all documents."""
    ordered = sorted(train, key=lambda document: place(document.key, salt="held out"))
    with_links = [document for document in ordered if linked_count([document])]
    chosen = {d.key for d in ordered if place(d.key, salt="held out") < HELD_OUT} | {with_links[0].key}
    kept = tuple(document for document in train if document.key not in chosen)
    if not linked_count(kept):
        raise ModelError(
            say(
                "Only one document contains linked mentions, so nothing would be left to learn from or "
                "to test with. Link mentions in at least one more document, then train."
            )
        )
    return kept, tuple(document for document in train if document.key in chosen)
