"""What may be asked of the readers of documents: which column of a table holds what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

DOCUMENT_FIELDS = ("document", "title", "text", "mention", "start", "end", "type", "ids")
"""What a column of a table of documents or of mentions may hold.

`document` is the document's identifier and `text` its text; `mention` is the quoted text of a mention, `start` and
`end` are its place in code points, `type` its type and `ids` its identifiers. One of `text` and `mention` is needed.
"""


@dataclass(frozen=True, slots=True)
class DocumentOptions:
    """Choices for one reading. `columns` says for a field of `DOCUMENT_FIELDS` which column holds it, by its heading or
    its number from 1; '' for none, and fields that are not named are found by the headings. `sheet` '' is the first."""

    columns: Mapping[str, str] = field(default_factory=dict)
    sheet: str = ""
