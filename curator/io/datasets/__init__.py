"""Machine-readable datasets: spaCy's DocBin, Hugging Face's rows, Label Studio, the project's decisions as JSON lines.

* **Arrow batches are validated before their offsets are used**: pyarrow crashed on damaged ones.
"""

from curator.io.datasets.decisions_jsonl import DecisionsFormat
from curator.io.datasets.docbin import DocBinFormat
from curator.io.datasets.huggingface import HuggingFaceFormat
from curator.io.datasets.label_studio import LabelStudioFormat

__all__ = [
    "DecisionsFormat",
    "DocBinFormat",
    "HuggingFaceFormat",
    "LabelStudioFormat",
]
