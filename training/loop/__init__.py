"""The one training loop: steps, gradients, towers, saving and going on after a crash."""

from training.loop.checkpoints import Checkpoints
from training.loop.generators import TorchState
from training.loop.gradient_cache import Piece
from training.loop.monitoring import Validate
from training.loop.projection import identity_projection
from training.loop.task import Batch, Task, TrainSettings
from training.loop.towers import CHUNK, FloatArray, Side, TextSubset, Towers
from training.loop.trainer import TrainResult, train

__all__ = [
    "CHUNK",
    "Batch",
    "Checkpoints",
    "FloatArray",
    "Piece",
    "Side",
    "Task",
    "TextSubset",
    "TorchState",
    "Towers",
    "TrainResult",
    "TrainSettings",
    "Validate",
    "identity_projection",
    "train",
]
