"""Helpers of the loss tests, importable without a package."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
