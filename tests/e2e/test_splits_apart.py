"""What is decided in a `test` document stays there: no suggestion elsewhere, no training and no calibration knows it.

The planted entity is in the knowledge base under another name than the text has: only a decision joins the two.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from curator import bootstrap
from curator.bootstrap import Project
from curator.domain.decisions import Verdict
from curator.domain.documents import DocumentState, Split
from curator.domain.jobs import JobOutcome, JobState, Progress
from curator.jobs.runner import JobRunner
from curator.services.linking.suggestions import DocumentSuggestions
from curator.services.ports.processes import JobHandle
from curator.services.ports.queue import QueueFilter
from curator.services.training.retraining import TRAINING
from curator.services.training.snapshots import write_snapshot
from curator.settings.file import load
from curator.storage import project as storage
from tests.tiny_bert import build_tiny_bert

DEMO = Path(__file__).resolve().parents[2] / "resources" / "demo" / "pubmed"
TIMEOUT = 60.0
PLANTED, SURFACE = "MESH:D000001", "Wyrmgallfieber"
TEXT = f"{SURFACE} in a child.", f"We saw {SURFACE} after heart failure."
PARAMETERS = {"epochs": 1, "mention_tokens": 16, "entity_tokens": 8, "entity_tower": "train"}


@dataclass
class SpiedJobs(JobRunner):
    """Real jobs; what was handed to each is kept before the job's folder is swept away."""

    folder: Path
    given: list[tuple[str, str]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(self.folder / "log")

    def start(
        self,
        kind: str,
        spec: Mapping[str, Any],
        *,
        on_progress: Callable[[Progress], None],
        on_end: Callable[[JobOutcome], None],
    ) -> Any:
        if "snapshot" in spec:
            self.given.append((kind, (Path(spec["snapshot"]) / "documents.jsonl").read_text(encoding="utf-8")))
        return super().start(kind, spec, on_progress=on_progress, on_end=on_end)


def document(number: int) -> str:
    title, abstract = TEXT
    start = len(title) + 1 + abstract.index(SURFACE)
    return (
        f"{number}|t|{title}\n{number}|a|{abstract}\n{number}\t0\t{len(SURFACE)}\t{SURFACE}\tDisease\n"
        f"{number}\t{start}\t{start + len(SURFACE)}\t{SURFACE}\tDisease\n\n"
    )


def first_documents(split: Split, count: int, folder: Path) -> Path:
    """The first documents of the demo's file for a split: enough to train and to calibrate, quickly."""
    records = (DEMO / f"{split}.pubtator").read_text(encoding="utf-8").split("\n\n")
    path = folder / f"{split}.pubtator"
    path.write_text("\n\n".join(records[:count]) + "\n\n", encoding="utf-8")
    return path


@pytest.fixture
def jobs(tmp_path: Path) -> SpiedJobs:
    return SpiedJobs(tmp_path)


@pytest.fixture
def project(tmp_path: Path, jobs: SpiedJobs, monkeypatch: pytest.MonkeyPatch) -> Iterator[Project]:
    """The demo with gold, and the same planted document once in each split, undecided."""
    build_tiny_bert(tmp_path / "encoder", hidden=16, layers=1)
    (tmp_path / "settings.json").write_text(json.dumps({"encoder_folder": str(tmp_path / "encoder")}), encoding="utf-8")
    monkeypatch.setenv("CURATOR_CONFIG_DIR", str(tmp_path))
    monkeypatch.setenv("CURATOR_CACHE", str(tmp_path / "cache"))
    kb = tmp_path / "kb.jsonl"
    shutil.copyfile(DEMO / "kb.jsonl", kb)
    with kb.open("a", encoding="utf-8") as file:
        file.write(json.dumps({"id": PLANTED, "name": "Zzyx", "synonyms": ["Qq-9"], "types": ["Disease"]}) + "\n")
    store = storage.create_project(tmp_path / "p.curation", name="p")
    made = bootstrap.join(store, load().settings, curator="ada", linker=False, job_port=jobs)
    run(made.importing.knowledge_base(kb))
    for split, count in ((Split.TRAIN, 8), (Split.VALIDATION, 6)):
        run(made.importing.documents([first_documents(split, count, tmp_path)], gold=True, split=split))
    for number, split in enumerate(Split, start=1):
        path = tmp_path / f"planted-{split}.pubtator"
        path.write_text(document(number), encoding="utf-8")
        run(made.importing.documents([path], split=split))
    yield made
    made.close()


def run(steps: Any) -> Any:
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value


def done(start: Callable[..., JobHandle]) -> JobOutcome:
    outcome = start(on_progress=lambda _: None, on_end=lambda _: None).wait(TIMEOUT)
    assert outcome is not None
    assert outcome.state is JobState.DONE, outcome
    return outcome


def planted(project: Project, split: Split) -> int:
    """The document of this split that nothing came with."""
    return project.queue.ids(QueueFilter(split=split))[-1]


def decide_test_document(project: Project) -> None:
    """A curator links every mention of the test document and is done with it."""
    opened = project.queue.open(planted(project, Split.TEST))
    for view in opened.mentions:
        project.curation.decide(view.mention.id, Verdict.link(PLANTED))
    project.curation.set_state(opened.document.id, DocumentState.DONE)


def suggestions(project: Project) -> dict[str, dict[str, float]]:
    """All candidates with their scores for the planted mentions, by split and place, best first."""
    found: dict[str, dict[str, float]] = {}

    def keep(linked: DocumentSuggestions) -> None:
        for mention, suggestion in zip(linked.mentions, linked.suggestions, strict=True):
            if mention.text == SURFACE:
                key = f"{linked.document.split} {mention.spans[0].start}"
                found[key] = {one.entity_id: one.score for one in suggestion.candidates}

    run(project.suggestions.link_split(None, sink=keep))
    assert len(found) == 6
    return found


def fitted(project: Project) -> tuple[Any, Any]:
    """Fusion weights and NIL model of the bundle that serves."""
    active = next(one for one in project.retraining.bundles() if one.active)
    manifest = json.loads((Path(active.path) / "manifest.json").read_text(encoding="utf-8"))
    return manifest["fusion"], manifest["nil"]


@pytest.mark.soak
def test_a_decision_in_a_test_document_is_known_nowhere_else(project: Project, jobs: SpiedJobs) -> None:
    done(project.retraining.build_index)
    before, weights = suggestions(project), fitted(project)
    decide_test_document(project)
    after = suggestions(project)  # equal but for last digits, which depend on what is encoded together
    assert after == {key: pytest.approx(scores, abs=1e-5) for key, scores in before.items()}, "no suggestion changes"

    done(project.retraining.calibrate)
    assert fitted(project) == weights, "refitted to the same decisions as before"

    twin = done(lambda **on: project.retraining.start("pel-pb-quick", PARAMETERS, **on)).result["bundle"]
    project.retraining.promote(twin, reason="whatever its gate says")
    assert "pel-pb" in next(one.stages for one in project.retraining.bundles() if one.active)
    for _, text in jobs.given:
        splits = {json.loads(line)["split"] for line in text.splitlines()}
        assert splits == {"train", "validation"}
        assert PLANTED not in text
        twins = [one for one in map(json.loads, text.splitlines()) if SURFACE in one["text"]]
        assert all(mention["gold"] is None for one in twins for mention in one["mentions"]), "they wait undecided"
    again = suggestions(project)
    assert not [key for key, candidates in again.items() if next(iter(candidates), None) == PLANTED]


def test_the_same_decision_in_a_train_document_is_learnt_from(project: Project, tmp_path: Path) -> None:
    """The counterpart, so that the test above can fail: in the split train the planted name reaches the snapshot."""
    for view in project.queue.open(planted(project, Split.TRAIN)).mentions:
        project.curation.decide(view.mention.id, Verdict.link(PLANTED))
    links = project.retraining.preview("pel-pb").links
    decide_test_document(project)
    assert project.retraining.preview("pel-pb").links == links
    with storage.open_project(project.folder, read_only=True) as store:
        run(write_snapshot(store, tmp_path, TRAINING, kb_hash=""))
    assert (tmp_path / "documents.jsonl").read_text(encoding="utf-8").count(f'"{PLANTED}"') == 2
