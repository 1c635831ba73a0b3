"""The one training loop: steps, gradients, towers, checkpoints and resuming after a crash.

* **A batch is drawn once**; a regulariser adds a term to the loss of the same batch. Its hooks exist only while its own
  texts are encoded.
* **A step draws by seed and step alone** (`Task.random`, `seed_all`), so a step that is repeated in smaller parts, or
  after a crash, draws the same, and no state of a generator is stored.
* **Checkpoints are safetensors and JSON** (`checkpoints.py`), with hashes. They are written every 90 s, or sooner if
  the next step would put more than two minutes at risk, and at each epoch's end; the last two are kept. A resumed run
  takes plan and time from the checkpoint and ends with the same weights as an uninterrupted run, bit for bit on a CPU,
  where the order of summation is fixed.

Towers and projection are here because the protocol of a training task (`task.py`) needs them.
"""
