"""Machine-readable datasets: spaCy's DocBin, Hugging Face's rows, Label Studio, the project's decisions as JSON lines.

* **Arrow batches are validated before their offsets are used**: pyarrow crashed on damaged ones.
"""
