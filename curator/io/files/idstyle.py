"""The style of entity identifiers in a corpus, learnt from the file: separators of lists, prefixes, columns."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

NIL_MARKERS = frozenset({"", "-", "-1"})
SEPARATORS = "|+,;"
NIL = "-1"

# Variant identifiers contain `|` and `+` (`c|SUB|G|1691|A`, `p|DEL|3_5|`): only `,` and `;` separate them.
_VARIANT_TYPES = re.compile(r"variant|mutation|snp|allele|\bvar\b|change|genomicregion|refseq", re.IGNORECASE)
_VARIANT_ID = re.compile(r"^\s*(tmVar:|[cgmnpr]\|[A-Za-z]+\|)")
_DESCRIBED = re.compile(r"(^|;)\s*(tmVar|HGVS|VariantGroup|RS#):", re.IGNORECASE)
_NAMES_VARIANT = {"tmvar": "tmVar:", "hgvs": "HGVS:", "rs#": "dbSNP:rs", "ca#": "CAR:CA"}
_SPECIES = re.compile(r"(?<=\d)\(Tax:\d+\)")
_PART = re.compile(r"[^\s|+,;]*\d[^\s|+,;]*")
_PREFIXED = re.compile(r"([A-Za-z][\w.-]*):\S")
_BARE = (
    ("MESH", re.compile(r"[A-Z]?[CD](\d{6}|\d{9})")),
    ("UMLS", re.compile(r"C\d{7}")),
    ("NUMBER", re.compile(r"\d+")),
)
_NUMBERED = frozenset({"NCBIGENE", "GENE", "ENTREZ", "NCBITAXON", "TAXONOMY", "NCBI"})


@dataclass(frozen=True, slots=True)
class IdStyle:
    """`separators` are the list separators of the file, most frequent first. `bare` counts ids without a prefix by
    their likely vocabulary, `prefixes` counts prefixes in the file's spelling. `columns` is the number of columns that
    every annotation line has, 6 if they differ. `nil` is the text for no entity."""

    separators: str = "|"
    bare: Mapping[str, int] = field(default_factory=dict)
    prefixes: Mapping[str, int] = field(default_factory=dict)
    columns: int = 6
    nil: str = NIL

    def split(self, raw: str, mention_type: str) -> tuple[str, ...]:
        """The identifiers of an id column: stray spaces removed, NIL markers left out, each id once.

        For a variant in tmVar's form (`tmVar:…;HGVS:…;CorrespondingGene:…;RS#:…`) only those of the variant; for a gene
        with its species (`3458(Tax:10090)`) only the gene.
        """
        if _DESCRIBED.search(raw):
            return _variant_ids(raw)
        parts = [_SPECIES.sub("", raw)]
        for separator in _separators_for(raw, mention_type, self.separators):
            parts = [piece for part in parts for piece in part.split(separator)]
        ids = (part.strip() for part in parts)
        return tuple(dict.fromkeys(i for i in ids if i not in NIL_MARKERS))

    def join(self, entity_ids: Sequence[str], like: str = "", mention_type: str = "") -> str:
        """The id column for these entities, `nil` for none; separated as `like` (the old column) is."""
        written = [self.spell(entity_id) for entity_id in entity_ids]
        usable = _separators_for(like, mention_type, self.separators) or ","
        separator = next((s for s in usable if s in like), usable[0])
        return separator.join(written) if written else self.nil

    def spell(self, entity_id: str) -> str:
        """A knowledge-base id such as `MESH:D003000` in this file's style for that vocabulary."""
        prefix, colon, local = entity_id.partition(":")
        if not colon:
            return entity_id
        spelled = Counter({p: n for p, n in self.prefixes.items() if p.upper() == prefix.upper()})
        vocabulary = "NUMBER" if prefix.upper() in _NUMBERED else prefix.upper()
        if self.bare.get(vocabulary, 0) > spelled.total() and vocabulary_of(local) == vocabulary:
            return local
        return f"{spelled.most_common(1)[0][0]}:{local}" if spelled else entity_id

    def dump(self) -> str:
        content = {
            "separators": self.separators,
            "bare": dict(self.bare),
            "prefixes": dict(self.prefixes),
            "columns": self.columns,
            "nil": self.nil,
        }
        return json.dumps(content, ensure_ascii=False)

    @classmethod
    def load(cls, text: str) -> IdStyle:
        """The inverse of `dump`; the default style for ''."""
        return cls(**json.loads(text)) if text else cls()


def detect_style(rows: Iterable[Sequence[str]]) -> IdStyle:
    """The style of a file from its annotation lines, each split into columns."""
    separators: Counter[str] = Counter()
    bare: Counter[str] = Counter()
    prefixes: Counter[str] = Counter()
    nils: Counter[str] = Counter()
    columns: set[int] = set()
    for row in rows:
        columns.add(len(row))
        if len(row) < 6 or _DESCRIBED.search(row[5]):
            continue
        for part in _parts(row[5], row[4], separators):
            if found := _PREFIXED.match(part):
                prefixes[found[1]] += 1
            elif part not in NIL_MARKERS:
                bare[vocabulary_of(part)] += 1
            elif part:
                nils[part] += 1
    ordered = sorted(separators, key=lambda s: (-separators[s], SEPARATORS.index(s)))
    width = columns.pop() if len(columns) == 1 else 6
    nil = max(nils, key=lambda mark: (nils[mark], mark == NIL), default=NIL)
    return IdStyle("".join(ordered) or "|", dict(bare), dict(prefixes), max(width, 6), nil)


def _variant_ids(raw: str) -> tuple[str, ...]:
    found = (part.strip().partition(":") for part in raw.split(";"))
    named = ((_NAMES_VARIANT.get(key.strip().lower(), ""), value.strip()) for key, _, value in found)
    return tuple(dict.fromkeys(prefix + value for prefix, value in named if prefix and value not in NIL_MARKERS))


def _parts(raw: str, mention_type: str, seen: Counter[str]) -> list[str]:
    parts = [raw.strip()]
    for separator in _separators_for(raw, mention_type, SEPARATORS):
        if separator not in raw:
            continue
        pieces = [piece.strip() for part in parts for piece in part.split(separator)]
        if all(_is_list_part(piece) for whole in pieces for piece in re.split(r"[|+,;]", whole)):
            seen[separator] += 1
            parts = pieces
    return parts


def _is_list_part(part: str) -> bool:
    part = part.strip()
    return part in ("-", "-1") or _PART.fullmatch(part) is not None


def _separators_for(raw: str, mention_type: str, separators: str) -> str:
    if _VARIANT_TYPES.search(mention_type) or _VARIANT_ID.match(raw):
        return "".join(s for s in separators if s in ",;")
    return separators


def vocabulary_of(local: str) -> str:
    """The vocabulary that a bare identifier looks like."""
    return next((name for name, pattern in _BARE if pattern.fullmatch(local)), "OTHER")
