"""Texts in, vectors out: the networks, their inputs, and the cache of vectors.

* **Mentions are encoded in float32.** Names may be encoded in another number format, with its own cache key.
* **On a CPU nothing is padded** (`packed.py`): the texts of a batch are concatenated, and oneDNN multiplies. The
  vectors differ from the module's by 1e-6 at most. It takes half of the module's time with AVX-512, and nine tenths
  with AVX2.
* **A linker reads a plain BERT without transformers** (`plain_bert.py`), with equal vectors: it starts in half the
  time, with 120 MiB less. Training, GPUs and every other encoder use transformers.
* **Contexts are read once per sentence**, regardless of its number of mentions; a mention that fits in a window is
  never cut.
"""
