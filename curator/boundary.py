"""The boundary of threads and callbacks: what fails behind it ends nothing else.

Every package may import this module, as it imports none of ours.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def logged(log: logging.Logger, words: str, *values: object) -> Iterator[None]:
    """Log any Exception of the block with its traceback after these words, and go on behind the block."""
    try:
        yield
    except Exception:
        log.exception(words, *values)
