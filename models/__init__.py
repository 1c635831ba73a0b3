"""The embedded entity linker: encoders, retrievers, fusion, NIL, bundles. Usable without the window.

    from models import DocumentInput, Linker, MentionInput
    linker = Linker.load("bundles/20260131-120501-untrained-1f3a")
    for answer in linker.link([DocumentInput("1", text, (MentionInput("m", ((0, 9),)),))]):
        ...

Importing this package loads no large library; the names below are imported when first used.

`models.types` and `models.errors` are their own faces: they load no large library, and every room needs them.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from models.errors import ModelError
from models.types import (
    DetectedMention,
    DocumentInput,
    EntityRecord,
    LinkedDocument,
    LinkedMention,
    MentionInput,
    NilEstimate,
    Progress,
    ScoredCandidate,
)

if TYPE_CHECKING:
    from models.encoders import Encoder, load_encoder
    from models.linker import (
        Bundle,
        Linker,
        Manifest,
        build_untrained,
        evaluate,
        new_staging,
        open_bundle,
        publish,
        seal,
        tune,
    )
    from models.rankers import NilModel
    from models.retrievers import FusionWeights

__curator__ = True

_LAZY = {
    "Bundle": "linker.bundle",
    "Encoder": "encoders.encoders",
    "FusionWeights": "retrievers.fusion",
    "Linker": "linker.linker",
    "Manifest": "linker.bundle",
    "NilModel": "rankers.nil",
    "build_untrained": "linker.build",
    "evaluate": "linker.tuning",
    "load_encoder": "encoders.encoders",
    "new_staging": "linker.bundle",
    "open_bundle": "linker.bundle",
    "publish": "linker.bundle",
    "seal": "linker.bundle",
    "tune": "linker.tuning",
}

__all__ = [
    "Bundle",
    "DetectedMention",
    "DocumentInput",
    "Encoder",
    "EntityRecord",
    "FusionWeights",
    "LinkedDocument",
    "LinkedMention",
    "Linker",
    "Manifest",
    "MentionInput",
    "ModelError",
    "NilEstimate",
    "NilModel",
    "Progress",
    "ScoredCandidate",
    "build_untrained",
    "evaluate",
    "load_encoder",
    "new_staging",
    "open_bundle",
    "publish",
    "seal",
    "tune",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
