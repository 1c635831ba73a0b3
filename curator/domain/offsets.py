"""Maps between code-point offsets (ours) and UTF-16 offsets (Qt's) of one text."""

from __future__ import annotations

import re
from bisect import bisect_left, bisect_right

_ASTRAL = re.compile("[\U00010000-\U0010ffff]")


class Utf16Map:
    """Offsets both ways in O(log n) of the astral characters; texts without any cost nothing."""

    def __init__(self, text: str) -> None:
        self._length = len(text)
        self._astral = [found.start() for found in _ASTRAL.finditer(text)]
        self._astral16 = [p + k for k, p in enumerate(self._astral)]

    def to_utf16(self, offset: int) -> int:
        """UTF-16 offset of the code point `offset` (0..len). Raises ValueError outside."""
        if not 0 <= offset <= self._length:
            raise ValueError(f"offset {offset} is outside 0..{self._length}")
        return offset + bisect_left(self._astral, offset)

    def to_code_point(self, offset: int) -> int:
        """Code-point offset of the UTF-16 `offset`; one inside a surrogate pair goes to the pair's start."""
        total = self._length + len(self._astral)
        if not 0 <= offset <= total:
            raise ValueError(f"UTF-16 offset {offset} is outside 0..{total}")
        return offset - bisect_right(self._astral16, offset - 1)
