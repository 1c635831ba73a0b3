"""Peak memory and time of one step at a paper's batch size, in one go and with gradient caching.

    python -m tests.benchmarks.gradient_cache --negatives 8 --tokens 64    # a size for a processor
    python -m tests.benchmarks.gradient_cache                              # batch 32, 32 negatives each, 128 tokens

Each way runs in its own process, so that peaks are separate; ratios are within one run.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import torch
from torch import Tensor

from models.core.device import choose_device
from models.encoders.default_encoder import default_encoder_folder
from training.loop.gradient_cache import Piece, cached_backward

BATCH = 32


class Step:
    """`texts` of random words as pieces of at most `chunk`; the loss is cross-entropy of the first `BATCH` against the
    rest, as a bi-encoder's with shared negatives."""

    def __init__(self, network: torch.nn.Module, texts: Tensor, chunk: int) -> None:
        self.network = network
        self.parts = torch.split(texts, chunk)

    @property
    def pieces(self) -> list[Piece]:
        return [partial(self._encode, part) for part in self.parts]

    def _encode(self, part: Tensor) -> Tensor:
        first: Tensor = self.network(input_ids=part).last_hidden_state[:, 0]
        return first

    def loss(self, outputs: Sequence[Tensor]) -> Tensor:
        vectors = torch.cat(list(outputs))
        mentions, entities = vectors[:BATCH], vectors[BATCH:]
        return torch.nn.functional.cross_entropy(mentions @ entities.T, torch.arange(BATCH, device=vectors.device))


def measure(chunk: int, *, negatives: int, tokens: int) -> dict[str, float]:
    """Peak MiB and seconds of one step; chunk 0: in one go."""
    from transformers import AutoModel

    device = torch.device(choose_device("auto").name)
    torch.manual_seed(0)
    network = AutoModel.from_pretrained(str(default_encoder_folder())).to(device).train()
    texts = torch.randint(1000, 20000, (BATCH * (2 + negatives), tokens), device=device)
    begun = time.perf_counter()
    step = Step(network, texts, chunk or len(texts))
    if chunk:
        cached_backward(step, where=device, backward=torch.autograd.backward)
    else:
        torch.autograd.backward(step.loss([piece() for piece in step.pieces]))
    return {"MiB": _peak(device), "seconds": time.perf_counter() - begun}


def _peak(device: torch.device) -> float:
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated() / 2**20
    status = Path("/proc/self/status").read_text(encoding="utf-8")
    return int(status.partition("VmHWM:")[2].split()[0]) / 1024


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--negatives", type=int, default=32, help="a mention")
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--chunk", type=int, help="measure this one alone")
    options = parser.parse_args()
    if options.chunk is not None:
        print(json.dumps(measure(options.chunk, negatives=options.negatives, tokens=options.tokens)))
        return
    whole = None
    for chunk in (0, 256, 64, 16):
        command = [sys.executable, "-m", "tests.benchmarks.gradient_cache", "--chunk", str(chunk)]
        command += ["--negatives", str(options.negatives), "--tokens", str(options.tokens)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            print(f"{chunk or 'in one go'}: failed (memory?) {done.stderr.splitlines()[-1:]}")
            continue
        found = json.loads(done.stdout)
        whole = whole or found
        ratios = [found[name] / whole[name] for name in ("MiB", "seconds")]
        name = f"pieces of {chunk}" if chunk else "in one go"
        print(f"{name}: peak {found['MiB']:,.0f} MiB ({ratios[0]:.2f}), {found['seconds']:.1f} s ({ratios[1]:.2f})")


if __name__ == "__main__":
    main()
