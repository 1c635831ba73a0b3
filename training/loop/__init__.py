"""The one training loop: steps, gradients, towers, checkpoints and resuming after a crash.

* **A batch is drawn once and encoded in pieces** (`Side`, in `towers.py`). A regulariser adds pieces and a term of the
  loss, so the same code serves whole batches and gradient caching. Hooks of a regulariser exist only while its own
  pieces are encoded.
* **Checkpoints are safetensors and JSON** (`checkpoints.py`), with hashes. They are written every 90 s, or sooner if
  the next step would put more than two minutes at risk, and at each epoch's end; the last two are kept. A resumed run
  takes plan and time from the checkpoint and ends with the same weights as an uninterrupted run, bit for bit on a CPU,
  where the order of summation is fixed.

Towers and projection are here because the protocol of a training task (`task.py`) needs them.
"""
