"""Data sets for programs: spaCy's DocBin, Hugging Face's JSON lines, and the project's decisions as JSON lines."""
