"""Number formats, and where they apply."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import torch
from torch import nn
from transformers import BertConfig, BertModel

from models.encoders.encoders import EncoderModule
from models.encoders.pooling import Pooling
from models.errors import ModelError
from tests.training.toy import ToyTask, finish
from training.loop.checkpoints import Checkpoints
from training.loop.engine import Engine, bodies, training_precision
from training.loop.trainer import TrainSettings, train

CPU, GPU = torch.device("cpu"), torch.device("cuda")


def tiny() -> EncoderModule:
    config = BertConfig(vocab_size=30, hidden_size=8, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16)
    torch.manual_seed(0)
    return EncoderModule(BertModel(config), pooling=Pooling.MEAN).eval()


def test_automatic_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    assert training_precision("auto", CPU) == "fp32"
    for has, wanted in ((True, "bf16"), (False, "fp32")):
        monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda *, including_emulation, has=has: has)
        assert training_precision("auto", GPU) == wanted
    assert training_precision("fp16", GPU) == "fp16"
    assert training_precision("bf16", CPU) == "bf16"


@pytest.mark.parametrize(("wanted", "word"), [("int8", "Choose one of: auto, fp32"), ("fp16", "needs a GPU")])
def test_a_format_that_cannot_be(wanted: str, word: str) -> None:
    with pytest.raises(ModelError, match=word):
        training_precision(wanted, CPU)


def test_only_transformers_run_in_the_smaller_format() -> None:
    module = tiny()
    head = nn.Linear(8, 2)
    ids, mask = torch.tensor([[1, 2, 3]]), torch.ones(1, 3, dtype=torch.long)
    exact = module(ids, mask)
    engine = Engine([module, head], precision="bf16")
    rough = module(ids, mask)
    assert rough.dtype is torch.float32
    assert not torch.equal(exact, rough)
    torch.testing.assert_close(exact, rough, atol=0.1, rtol=0.1)
    engine.close()
    assert torch.equal(module(ids, mask), exact)
    assert "forward" not in module.transformer.__dict__


def test_full_precision_touches_no_network() -> None:
    module = tiny()
    Engine([module], precision="auto").close()
    assert "forward" not in module.transformer.__dict__


def test_equal_gradients_with_several_threads() -> None:
    """Without the engine about half of these differ in their last bits."""
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    torch.manual_seed(0)
    rows, weights = torch.randint(0, 50, (2000,)), torch.randn(2000, 256)
    engine = Engine([nn.Linear(1, 1)], precision="fp32")

    def gradient() -> torch.Tensor:
        entities = torch.ones(50, 256, requires_grad=True)
        return torch.autograd.grad((entities[rows] * weights).sum(), entities)[0]

    first = gradient()
    try:
        assert all(torch.equal(gradient(), first) for _ in range(8))
    finally:
        torch.set_num_threads(threads)
        engine.close()
    assert not torch.are_deterministic_algorithms_enabled()
    assert torch.utils.deterministic.fill_uninitialized_memory


def test_bodies() -> None:
    module, plain = tiny(), nn.Linear(2, 2)
    holder = nn.ModuleList([module, nn.Linear(8, 1)])
    assert list(bodies([holder, module, plain])) == [module.transformer, plain]


def test_weights_stay_in_float32_when_training_in_bf16() -> None:
    exact, rough = ToyTask(), ToyTask()
    for task, precision in ((exact, "fp32"), (rough, "bf16")):
        _, result = finish(train(task, TrainSettings(epochs=1, learning_rate=0.01, precision=precision)))
        assert result.precision == precision
    assert rough.weights().dtype is torch.float32
    assert not torch.equal(exact.weights(), rough.weights())
    torch.testing.assert_close(exact.weights(), rough.weights(), atol=0.05, rtol=0)


class Scaled(Engine):
    """Loss scaling as for float16, but on a processor, so large that some steps overflow and are skipped."""

    def __init__(self, modules: Sequence[nn.Module], *, precision: str) -> None:
        super().__init__(modules, precision=precision)
        self.scaler = torch.amp.GradScaler("cpu", init_scale=2.0**126, growth_interval=2)


class Loud(ToyTask):
    """Its gradients overflow where they are scaled by so much."""

    def loss_of(self, mentions: torch.Tensor, entities: torch.Tensor) -> torch.Tensor:
        return 64 * super().loss_of(mentions, entities)


def test_loss_scaling_is_resumed_too(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("training.loop.trainer.Engine", Scaled)
    settings = TrainSettings(epochs=3, learning_rate=0.02)

    def points() -> Checkpoints:
        return Checkpoints(tmp_path, identity={}, every=0)

    whole, other, begun = Loud(), Loud(), Loud().weights()
    finish(train(whole, settings))
    work = train(Loud(), settings, checkpoints=points())
    while next(work).data.get("checkpoint") != 7:
        pass
    work.close()
    _, result = finish(train(other, settings, checkpoints=points()))
    assert result.steps == 15
    assert torch.equal(whole.weights(), other.weights())
    assert bool(torch.isfinite(whole.weights()).all())
    assert not torch.equal(whole.weights(), begun)
