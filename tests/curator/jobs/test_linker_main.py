"""The linker process from the inside: bundles are repaired, and entities change between two answers."""

from __future__ import annotations

import contextlib
import gc
import json
import queue
import shutil
import sys
import threading
from pathlib import Path
from typing import Any

import pytest

from curator.domain.entities import Entity
from curator.domain.suggestions import Stamp
from curator.jobs import linker_main, wire
from curator.jobs.linker_main import Serving, handle
from curator.jobs.linker_messages import contrast_from_wire, entity_to_wire
from models.linker import index_repair
from models.linker.build import build_untrained
from models.linker.bundle import Bundle, new_staging, open_bundle, publish

TIMEOUT = 30
LINK = {
    "op": "link",
    "batch": 1,
    "k": 5,
    "own": False,
    "documents": [
        {
            "id": 1,
            "revision": 0,
            "text": "zebra palsy",
            "mentions": [{"id": 2, "spans": [[0, 11]], "types": [], "opinion": None}],
        }
    ],
}


class Process:
    """What `linker_main.main` does, one message at a time."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.inbox: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
        self.serving = Serving()
        self.told: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def emit(self, event: dict[str, Any]) -> None:
        self.events.append(wire.UNPACK(wire.PACK(event)))
        self.told.put(self.events[-1])

    def take(self, message: dict[str, Any]) -> list[dict[str, Any]]:
        before = len(self.events)
        handle(message, self.serving, self, self.inbox)  # type: ignore[arg-type]
        return self.events[before:]

    def open(self, bundle: Bundle) -> dict[str, Any]:
        """The `opened` event."""
        self.take({"op": "open", "bundle": str(bundle.path), "bundle_id": bundle.manifest.id})
        return self.next_loaded()

    def next_loaded(self) -> dict[str, Any]:
        message = self.inbox.get(timeout=TIMEOUT)
        assert message is not None
        return self.take(message)[0]

    def found(self) -> list[str]:
        (linked, _end) = self.take(LINK)
        return list(wire.UNPACK(linked["mentions"])[0]["candidates"]["entity_ids"])


@pytest.fixture
def process(monkeypatch: pytest.MonkeyPatch) -> Process:
    """Its garbage collections leave out what the suite has loaded, which takes a second each time."""
    monkeypatch.setattr(gc, "unfreeze", lambda: None)
    process = Process()
    process.take({"op": "start", "device": "cpu", "threads": 1, "cache": ""})
    return process


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    tmp_path = tmp_path_factory.mktemp("built")
    kb = tmp_path / "kb.jsonl"
    entities = [Entity("E1", "Horse palsy", ("equine palsy",), ("T",)), Entity("E2", "Aspirin")]
    kb.write_text("".join(json.dumps(entity_to_wire(one)) + "\n" for one in entities), encoding="utf-8")
    staging = new_staging(tmp_path / "bundles")
    for _ in build_untrained(kb, staging, stages=("lexical",), device="cpu"):
        pass
    return publish(staging)


@pytest.fixture
def bundle(built: Bundle, tmp_path: Path) -> Bundle:
    """A copy that a test may damage."""
    return open_bundle(shutil.copytree(built.path, tmp_path / built.path.name))


def _lexical_file(bundle: Bundle) -> Path:
    name = max((n for n in bundle.manifest.files if n.startswith("retrievers/")), key=lambda n: (n.endswith("npy"), n))
    return bundle.file(name)


def test_bundles_asked_for_at_once_are_loaded_one_by_one(
    process: Process, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_intact, inside, most = index_repair.load_intact, [0], [0]
    both = threading.Barrier(2)

    def counted(*arguments: Any, **options: Any) -> Any:
        inside[0] += 1
        most[0] = max(most[0], inside[0])
        with contextlib.suppress(threading.BrokenBarrierError):
            both.wait(0.2)  # where two may be inside, they meet here
        found = load_intact(*arguments, **options)
        inside[0] -= 1
        return found

    monkeypatch.setattr("models.linker.index_repair.load_intact", counted)
    for _ in range(2):
        process.take({"op": "open", "bundle": str(bundle.path), "bundle_id": bundle.manifest.id})
    assert [process.next_loaded()["event"] for _ in range(2)] == ["opened", "opened"]
    assert most == [1]


def test_entities_change_between_two_answers(process: Process, bundle: Bundle) -> None:
    process.open(bundle)
    assert process.found() == ["E1"]
    new = [entity_to_wire(Entity("Z", "Zebra palsy"))]
    events = process.take({"op": "entities", "batch": 3, "upsert": new, "remove": ["E1", "never there"]})
    assert events == [{"event": "end", "batch": 3}]
    assert process.found() == ["Z"]
    (error,) = process.take({"op": "entities", "batch": 4, "upsert": [{"id": "x"}], "remove": ["Z"]})
    assert (error["event"], error["kind"]) == ("error", "user")
    assert process.found() == ["Z"]


def test_an_answer_that_does_not_fit_in_memory_is_no_bug(
    process: Process, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> object:
        raise RuntimeError("CUDA out of memory. Tried to allocate 20 MiB")

    process.open(bundle)
    with monkeypatch.context() as patched:
        patched.setattr(process.serving.linker, "link", full)
        (error,) = process.take(LINK)
    assert (error["event"], error["kind"], error["detail"]) == ("error", "user", "")
    assert "The GPU has too little free memory" in error["message"]
    assert process.found() == ["E1"]


def test_documents_that_do_not_fit_together_are_asked_for_one_by_one(
    process: Process, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As after a bug: the window's process sends the documents of a failed request again, each by itself."""

    def full(*_: object, **__: object) -> object:
        raise MemoryError

    process.open(bundle)
    monkeypatch.setattr(process.serving.linker, "link", full)
    (error,) = process.take({**LINK, "documents": LINK["documents"] * 2})  # type: ignore[operator]
    assert (error["kind"], error["message"][:26]) == ("bug", "There is not enough memory")


def test_a_linker_that_does_not_fit_on_the_gpu_is_loaded_for_the_processor(
    process: Process, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    load_intact, devices = index_repair.load_intact, []

    def full(path: str, *, device: str, **options: Any) -> Any:
        devices.append(device)
        if device != "cpu":
            raise RuntimeError("CUDA error: out of memory")
        return load_intact(path, device=device, **options)

    monkeypatch.setattr("models.linker.index_repair.load_intact", full)
    for wanted, event in (("auto", "opened"), ("cuda", "open_failed")):
        process.take({"op": "start", "device": wanted, "threads": 1, "cache": ""})
        process.take({"op": "open", "bundle": str(bundle.path), "bundle_id": bundle.manifest.id})
        while (told := process.told.get(timeout=TIMEOUT))["event"] == "opening":
            assert "too little free memory for this linker" in told["message"]
            process.take(process.inbox.get(timeout=TIMEOUT))  # type: ignore[arg-type]
        assert told["event"] == event
    assert not process.events[1]["on_gpu"]
    assert told["message"].startswith("The GPU has too little free memory")
    assert devices == ["auto", "cpu", "cuda"]


def test_without_memory_on_a_computer_without_a_gpu_no_gpu_is_blamed(
    process: Process, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> object:
        raise MemoryError

    monkeypatch.setattr("models.linker.index_repair.load_intact", full)
    process.take({"op": "start", "device": "auto", "threads": 1, "cache": ""})
    process.take({"op": "open", "bundle": str(bundle.path), "bundle_id": bundle.manifest.id})
    told = process.told.get(timeout=TIMEOUT)
    assert (told["event"], told["message"][:26]) == ("open_failed", "There is not enough memory")


def test_a_linker_stays_if_there_is_no_memory_to_teach_another(
    process: Process, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise RuntimeError("CUDA out of memory. Tried to allocate 20 MiB")

    process.open(bundle)
    before = process.serving.linker
    with monkeypatch.context() as patched:
        patched.setattr(linker_main, "hand_memory_on", full)
        assert process.open(bundle)["event"] == "open_failed"
    assert process.serving.linker is before
    assert process.found() == ["E1"]


def test_a_long_answer_is_sent_in_parts(process: Process, bundle: Bundle, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linker_main, "ANSWER_MENTIONS", 2)
    process.open(bundle)
    asked = LINK["documents"][0]  # type: ignore[index]
    mentions = [{**asked["mentions"][0], "id": number} for number in range(5)]
    events = process.take({**LINK, "documents": [{**asked, "mentions": mentions}]})
    parts = [wire.UNPACK(event["mentions"]) for event in events[:-1]]
    assert [[one["id"] for one in part] for part in parts] == [[0, 1], [2, 3], [4]]


def test_memory_is_given_back_when_a_linker_is_ready_and_every_so_many_answers(
    process: Process, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[int] = []
    monkeypatch.setattr(linker_main, "trim", lambda linker: given.append(process.serving.answered))
    process.open(bundle)
    for _ in range(2 * linker_main.TRIM_EVERY):
        process.found()
    assert given == [0, linker_main.TRIM_EVERY, 2 * linker_main.TRIM_EVERY]


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_answers_go_on_after_memory_was_given_back(process: Process, bundle: Bundle) -> None:
    process.open(bundle)
    before = process.found()
    linker_main.trim(process.serving.linker)
    assert process.found() == before


def test_two_candidates_are_told_apart_by_the_words_around(process: Process, bundle: Bundle) -> None:
    opened = process.open(bundle)
    entity = entity_to_wire(Entity("E3", "Horse fever"))
    process.take({"op": "entities", "batch": 3, "upsert": [entity], "remove": []})
    mentions = [{"id": 2, "spans": [[2, 13]], "types": [], "opinion": None}]
    document = {"id": 1, "revision": 7, "text": "A horse palsy.", "mentions": mentions}
    message = {"op": "contrast", "batch": 5, "document": document, "mention": 2, "entities": ["E1", "E3"]}
    answer, end = process.take(message)
    assert end == {"event": "end", "batch": 5}
    contrast = contrast_from_wire(answer)
    assert (contrast.mention_id, contrast.first, contrast.second) == (2, "E1", "E3")
    assert contrast.stamp == Stamp(opened["bundle_id"], 7)
    assert contrast.lead > 0
    changes = {document["text"][w.span.start : w.span.end]: w.change for w in contrast.words}
    assert list(changes) == ["A", "horse", "palsy"]
    assert changes["A"] == pytest.approx(0.0, abs=1e-6)
    assert changes["palsy"] is None or changes["palsy"] > 0
    (error,) = process.take({**message, "entities": ["E1", "E2"], "batch": 6})
    assert (error["kind"], "no longer a candidate" in error["message"]) == ("user", True)


@pytest.mark.parametrize("harm", ["size", "hash"])
def test_a_damaged_bundle_is_mended_before_it_serves(process: Process, bundle: Bundle, harm: str) -> None:
    file = _lexical_file(bundle)
    whole = file.read_bytes()
    file.write_bytes(whole[:-3] if harm == "size" else whole[:-1] + bytes([whole[-1] ^ 1]))
    opened = process.open(bundle)
    assert opened["event"] == "opened"
    assert f"Damaged files were rebuilt: {file.relative_to(bundle.path).as_posix()}." in opened["device"]
    assert {one["event"] for one in process.events[:-1]} == {"opening"}
    assert file.read_bytes() == whole
    assert process.found() == ["E1"]


def test_damage_that_comes_back_is_told_and_not_mended_for_ever(
    process: Process, bundle: Bundle, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = _lexical_file(bundle)
    mended = index_repair.repair

    def mend_in_vain(*arguments: Any, **options: Any) -> None:
        mended(*arguments, **options)
        file.write_bytes(file.read_bytes()[:-1] + b"?")

    monkeypatch.setattr(index_repair, "repair", mend_in_vain)
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    process.take({"op": "open", "bundle": str(bundle.path), "bundle_id": bundle.manifest.id})
    while (event := process.told.get(timeout=TIMEOUT))["event"] == "opening":
        pass
    assert event["event"] == "open_failed"
    assert "are damaged" in event["message"]
    assert process.serving.linker is None


def test_a_bundle_that_cannot_be_mended_says_what_to_do(process: Process, bundle: Bundle) -> None:
    bundle.file("kb.jsonl").write_text("{}")
    process.take({"op": "open", "bundle": str(bundle.path), "bundle_id": "b"})
    event = process.told.get(timeout=TIMEOUT)
    assert event["event"] == "open_failed"
    assert "Roll back" in event["message"]
