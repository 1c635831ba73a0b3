"""Machine-readable datasets: spaCy's DocBin, Hugging Face's JSON lines, and the project's decisions as JSON lines.

* **Arrow batches are validated before their offsets are used**: pyarrow crashed on damaged ones.
"""

from curator.io.datasets.decisions_jsonl import DecisionsFormat
from curator.io.datasets.docbin import DocBinFormat
from curator.io.datasets.huggingface import HuggingFaceFormat

__all__ = [
    "DecisionsFormat",
    "DocBinFormat",
    "HuggingFaceFormat",
]
