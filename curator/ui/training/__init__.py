"""The windows for the linker: retraining, bundles and promotion diff, evaluation, detection, embedding map."""

from typing import TYPE_CHECKING

from curator import opened_late
from curator.ui.training.model_commands import JOBS, MODEL

if TYPE_CHECKING:
    from curator.ui.training.bundle_flows import BundleFlows
    from curator.ui.training.model_flows import ModelFlows

__all__ = [
    "JOBS",
    "MODEL",
    "BundleFlows",
    "ModelFlows",
]

__getattr__ = opened_late(
    __name__,
    bundle_flows="BundleFlows",
    model_flows="ModelFlows",
)
