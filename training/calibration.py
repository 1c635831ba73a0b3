"""Calibration without training: fusion weights and the NIL model of a bundle refitted on validation decisions.

The result is a bundle of its own that shares every big file with the one it came from.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from models.bundle import Bundle, new_id, now, reuse, seal
from models.linker import Linker
from models.tuning import Gold, tune
from training.events import Event, Phase
from training.gold import resolve_gold
from training.snapshot import Split, read_snapshot


@dataclass(frozen=True, slots=True)
class CalibrationSpec:
    """Folders of the bundle, of the snapshot with `validation` decisions, and of the staging bundle."""

    snapshot: Path
    bundle: Path
    staging: Path
    device: str = "auto"

    @classmethod
    def from_json(cls, raw: Mapping[str, Any]) -> CalibrationSpec:
        return cls(Path(raw["snapshot"]), Path(raw["bundle"]), Path(raw["staging"]), str(raw.get("device") or "auto"))


def run_calibration(raw: Mapping[str, Any]) -> Iterator[Event]:
    """Yields progress; the last event carries `result` {bundle_id, message, fusion, nil}.

    Raises ModelError for a damaged bundle or snapshot. Too few decisions (30 NIL and 100 linked are needed for NIL)
    leave the present weights, and the message says so.
    """
    spec = CalibrationSpec.from_json(raw)
    yield Event(Phase.LOAD)
    linker = Linker.load(spec.bundle, device=spec.device)
    documents = read_snapshot(spec.snapshot, allow_test=True).of_split(Split.VALIDATION)
    gold = resolve_gold(documents, linker.stages.kb.resolved.get)
    answers: Gold = {(mention.document, mention.key): frozenset(mention.ids) for mention in gold.mentions}
    yield Event(Phase.REFIT, 0, len(documents), "Fitting fusion weights and the NIL threshold on validation.")
    fusion, nil = tune(linker, [document.to_input() for document in documents], answers)
    yield Event(Phase.WRITE)
    bundle = _share(linker.bundle, spec.staging)
    manifest = linker.bundle.manifest.replace(
        id=new_id(linker.bundle.manifest.kind),
        created=now(),
        parent=linker.bundle.manifest.id,
        fusion=fusion.to_json(),
        nil=nil.to_json(),
    )
    seal(spec.staging, manifest, known=bundle)
    how = "calibrated" if nil.calibrated else "not calibrated: too few validation decisions"
    message = f"{fusion.sentence()} NIL is {how} ({nil.fitted_nil} NIL, {nil.fitted_linked} linked)."
    result = {"bundle_id": manifest.id, "message": message, "fusion": fusion.to_json(), "nil": nil.to_json()}
    yield Event(Phase.DONE, 1, 1, message, {"result": result})


def _share(bundle: Bundle, staging: Path) -> Bundle:
    """Every file of the bundle but its manifest, linked into the staging folder."""
    for relative in bundle.manifest.files:
        reuse(bundle, relative, staging)
    return bundle
