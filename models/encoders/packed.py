"""BERT on a CPU with concatenated texts: the same states as the module's, in half the time.

Nothing is padded: all tokens of a batch are multiplied with a matrix at once. oneDNN multiplies, with 512-bit
instructions if available; PyTorch's `linear` uses MKL for float32, with 256 bits on AMD. Attention is computed for
texts of equal length together. Networks that are not plain float32 BERT on a CPU, or whose packed states differ, are
not packed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, groupby
from typing import Any, cast
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from models.encoders.plain_bert import Bert
from models.encoders.pooling import Pooling

SAME = 1e-4
"""The most that a packed state may differ from the module's; the measured difference is 3e-6."""
TRIED = (9, 9, 4)
"""Lengths of the texts used to compare both."""
KINDS = frozenset({"Bert", "BertModel"})
PLAIN = frozenset({"Dropout", "GELU", "GELUActivation", "LayerNorm", "Linear"})
PACKED_FOR = 2048  # numbers of tokens; other numbers work too
KEPT_PRODUCTS = 16
"""oneDNN caches compiled code for each number of tokens, half a megabyte each in two caches of 1,024. Numbers of tokens
hardly repeat, so 500 linked documents would fill 400 MB; a batch needs few of them."""
for _cache in ("ONEDNN_PRIMITIVE_CACHE_CAPACITY", "LRU_CACHE_CAPACITY"):  # both are read at the first product
    os.environ.setdefault(_cache, str(KEPT_PRODUCTS))


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring texts of equal length: tokens `start` to `stop` of the batch."""

    start: int
    texts: int
    length: int

    @property
    def stop(self) -> int:
        return self.start + self.texts * self.length


def runs(lengths: Sequence[int]) -> Iterator[Run]:
    """The runs of a batch in order; few if texts are sorted by length."""
    start = 0
    for length, same in groupby(lengths):
        run = Run(start, sum(1 for _ in same), length)
        start = run.stop
        yield run


def pool_packed(states: Tensor, lengths: Sequence[int], pooling: Pooling) -> Tensor:
    """(tokens, d) states of concatenated texts → (texts, d); a text without tokens is the zero vector."""
    parts = []
    for run in runs(lengths):
        block = states[run.start : run.stop].view(run.texts, run.length, states.shape[1])
        if not run.length:
            parts.append(states.new_zeros(run.texts, states.shape[1]))
        else:
            parts.append(block[:, 0] if pooling is Pooling.CLS else block.mean(1))
    return torch.cat(parts) if parts else states.new_zeros(0, states.shape[1])


class _Linear:
    """(n, inputs) → (n, outputs) with weights in oneDNN's order, or unchanged if this PyTorch has no oneDNN."""

    def __init__(self, *parts: nn.Linear) -> None:
        self.weight = torch.cat([part.weight.detach() for part in parts])
        self.bias = torch.cat([part.bias.detach() for part in parts])
        self.reordered = True
        try:
            self.weight = torch.ops.mkldnn._reorder_linear_weight(self.weight, PACKED_FOR)
        except (AttributeError, RuntimeError):
            self.reordered = False

    def __call__(self, states: Tensor) -> Tensor:
        return self._product(states, "none", "") if self.reordered else self._plain(states)

    def gelu(self, states: Tensor) -> Tensor:
        """GELU of the product, in one pass."""
        return self._product(states, "gelu", "none") if self.reordered else functional.gelu(self._plain(states))

    def _plain(self, states: Tensor) -> Tensor:
        return functional.linear(states, self.weight, self.bias)

    def _product(self, states: Tensor, then: str, algorithm: str) -> Tensor:
        found = torch.ops.mkldnn._linear_pointwise(states, self.weight, self.bias, then, [], algorithm)
        return cast(Tensor, found)


class _Layer:
    """One layer: attention among a text's own tokens, then each token separately."""

    def __init__(self, layer: Any, heads: int) -> None:
        own = layer.attention.self
        self.heads = heads
        self.attended = _Linear(own.query, own.key, own.value)
        self.joined, self.first = _Linear(layer.attention.output.dense), layer.attention.output.LayerNorm
        self.inner, self.outer = _Linear(layer.intermediate.dense), _Linear(layer.output.dense)
        self.second = layer.output.LayerNorm

    def __call__(self, states: Tensor, texts: Sequence[Run]) -> Tensor:
        asked = self.attended(states)
        found = torch.cat([self._attention(asked[run.start : run.stop], run) for run in texts])
        states = self.first(self.joined(found) + states)
        return cast(Tensor, self.second(self.outer(self.inner.gelu(states)) + states))

    def _attention(self, asked: Tensor, run: Run) -> Tensor:
        parts = asked.view(run.texts, run.length, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        found = functional.scaled_dot_product_attention(*parts)
        return found.transpose(1, 2).reshape(run.texts * run.length, -1)


class PackedBert:
    """A copy of a transformer's weights at the time of packing; use it in inference mode."""

    def __init__(self, transformer: Any) -> None:
        embeddings = transformer.embeddings
        self._words = embeddings.word_embeddings.weight.detach()
        self._places = (embeddings.position_embeddings.weight + embeddings.token_type_embeddings.weight[0]).detach()
        self._norm = embeddings.LayerNorm
        self._layers = [_Layer(one, transformer.config.num_attention_heads) for one in transformer.encoder.layer]

    def embedded(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """(tokens, d): the input of the first layer."""
        lengths = [len(text) for text in texts]
        ids = np.fromiter(chain.from_iterable(texts), dtype=np.int64, count=sum(lengths))
        places = np.concatenate([np.arange(length) for length in lengths]) if texts else ids
        return cast(Tensor, self._norm(self._words[torch.from_numpy(ids)] + self._places[torch.from_numpy(places)]))

    def through(self, states: Tensor, lengths: Sequence[int], *, start: int = 0, stop: int | None = None) -> Tensor:
        """(tokens, d) states of texts of these lengths, after the layers from `start` up to `stop` (exclusive)."""
        texts = [run for run in runs(lengths) if run.length]
        if texts:
            for layer in self._layers[start:stop]:
                states = layer(states, texts)
        return states

    def states(self, texts: Sequence[Sequence[int]]) -> Tensor:
        """(tokens, d) states of the last layer, concatenated."""
        return self.through(self.embedded(texts), [len(text) for text in texts])


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    """The packed transformer and the version of the weights it was made from."""

    changes: tuple[int, ...]
    found: PackedBert | None


_KEPT: WeakKeyDictionary[nn.Module, _Kept] = WeakKeyDictionary()


def packed(transformer: nn.Module) -> PackedBert | None:
    """The transformer with its current weights, packed again after a change; None if it cannot be packed."""
    changes = _changes(transformer)
    kept = _KEPT.get(transformer)
    if kept is None or kept.changes != changes:
        kept = _KEPT[transformer] = _Kept(changes, _pack(transformer))
    return kept.found


def _changes(transformer: nn.Module) -> tuple[int, ...]:
    """Numbers that change with every step of training, and while hooks change the layers' output."""
    hooks = sum(len(one._forward_hooks) + len(one._forward_pre_hooks) for one in transformer.modules())
    weights = [(id(one), 0 if one.is_inference() else one._version) for one in transformer.parameters()]
    return (hooks, *chain.from_iterable(weights))


def _pack(transformer: Any) -> PackedBert | None:
    if type(transformer).__name__ not in KINDS or transformer.config.hidden_act != "gelu":
        return None
    plain = all(one.device.type == "cpu" and one.dtype is torch.float32 for one in transformer.parameters())
    leaves = [one for one in transformer.encoder.modules() if not list(one.children())]
    if not plain or any(type(one).__name__ not in PLAIN for one in leaves):
        return None
    with torch.inference_mode():
        found = PackedBert(transformer)
        if isinstance(transformer, Bert):
            transformer.give_back()
            return found
        return found if _same(found, transformer) else None


def _same(found: PackedBert, transformer: Any) -> bool:
    """Whether both give the same states for artificial texts of several lengths, in the mode used for encoding."""
    longest = max(TRIED)
    ids = torch.arange(len(TRIED) * longest).view(len(TRIED), longest) % transformer.config.vocab_size
    mask = (torch.arange(longest) < torch.tensor(TRIED)[:, None]).long()
    training = transformer.training
    expected = transformer.eval()(input_ids=ids, attention_mask=mask).last_hidden_state[mask.bool()]
    transformer.train(training)
    states = found.states([row[:length] for row, length in zip(ids.tolist(), TRIED, strict=True)])
    return bool((states - expected).abs().max() <= SAME * expected.abs().max().clamp(min=1.0))
