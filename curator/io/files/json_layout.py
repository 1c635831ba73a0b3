"""Changed JSON in the layout of the text that it replaces."""

from __future__ import annotations

import json
import re
from typing import Any

from curator.domain.wording import UNPAIRED

_INDENTATION = re.compile(r"\n([ \t]*)\S")
_COLON = re.compile(r'\{\s*"(?:[^"\\]|\\.)*"([ \t]*:[ \t]*)')
_COMMA = re.compile(r'[\]}"\w]([ \t]*,[ \t]*)"(?:[^"\\]|\\.)*"\s*:')


def rewritten(text: str, value: Any) -> str:
    """`value` as JSON with the indentation, separators and escapes of `text`, which holds one JSON value. The closing
    bracket is indented like that of `text`, which may be a part of a larger value."""
    lines = _INDENTATION.findall(text)
    base = lines[-1] if lines else ""
    steps = [one.removeprefix(base) for one in lines if len(one) > len(base)]
    colon, comma = _COLON.search(text), _COMMA.search(text)
    try:
        whole = json.dumps(
            value,
            ensure_ascii=text.isascii() and "\\u" in text,
            indent=min(steps, key=len) if steps else None,
            separators=("," if steps else comma[1] if comma else ", ", colon[1] if colon else ": "),
        )
    except RecursionError:  # not a file that anyone wrote
        return json.dumps(value)
    whole = UNPAIRED.sub(lambda half: f"\\u{ord(half[0]):04x}", whole)  # can only be written escaped
    return whole.replace("\n", ("\r\n" if "\r\n" in text else "\n") + base)
