"""What a knowledge base is made of: sources, in the order in which they were put together, and how versions differ."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class KnowledgeSource:
    """One source of a knowledge base. `release`, `licence` and `prefix` are as the curator gave them; `types` maps the
    file's types to those that its entities have here, `*` standing for all others; `columns` is a table's choice.
    `languages`, `vocabularies`, `only_types` and `suppressed` say what of the file is read, as in `KbOptions`.
    `left_out` entities had ids that an earlier source has."""

    name: str
    format: str = ""
    path: str = ""
    release: str = ""
    licence: str = ""
    prefix: str = ""
    types: Mapping[str, str] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)
    languages: tuple[str, ...] = ()
    vocabularies: tuple[str, ...] = ()
    only_types: tuple[str, ...] = ()
    suppressed: bool = False
    entities: int = 0
    left_out: int = 0


@dataclass(frozen=True, slots=True)
class KbChanges:
    """How many entities of a version are new, how many say something else than before, how many of those before are
    gone, and how many of these are alternate ids of others now."""

    new: int
    changed: int
    gone: int
    merged: int

    @property
    def obsolete(self) -> int:
        """Gone without a successor."""
        return self.gone - self.merged
