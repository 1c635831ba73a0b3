"""The style of entity identifiers in a corpus, learnt from the file: separators of lists, prefixes, columns.

Identifiers of entities in standoff formats and tables, and the words for no entity.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import quote, unquote

from curator.domain.curies import contract, curie, usual_prefix
from curator.domain.wording import tr
from curator.services.ports.files import Problem

NIL = "NIL"
NIL_WORDS = frozenset({"nil", "-", "-1", "cui-less", "null", "none", "nme"})
LOCAL = "CURATOR:"  # prefix of an identifier without one, if a format needs a prefix


def is_nil(text: str) -> bool:
    """Whether a text in the place of an identifier means no entity: it is empty, or a word for that."""
    text = text.strip().lower()
    return not text or text in NIL_WORDS


def read_id(text: str) -> str:
    """An identifier in the form of the knowledge base; '' if the text means no entity."""
    text = text.strip()
    if text.startswith(LOCAL):
        return unquote(text[len(LOCAL) :])
    head, colon, tail = text.partition(":")
    if is_nil(text) or (colon and head.lower() in ("nil", "cui-less") and tail.lower() in NIL_WORDS):
        return ""
    return contract(text) if "://" in text else curie(text)


def written_id(entity_id: str, *, prefixed: bool = False) -> str:
    """An entity id without white space, from which `read_id` restores it; with `prefixed` it has a prefix and a colon.

    Ids that cannot be written unchanged get the prefix `LOCAL`, with white space escaped as in web addresses.
    """
    head, colon, local = entity_id.partition(":")
    plain = entity_id.isprintable() and not any(ch.isspace() for ch in entity_id) and read_id(entity_id) == entity_id
    if plain and ((colon and head and local) or not prefixed):
        return entity_id
    return LOCAL + "".join(ch if ch.isprintable() and not ch.isspace() and ch != "%" else quote(ch) for ch in entity_id)


def written_address(entity_id: str) -> str:
    """The same for formats in which an identifier is a web address: other characters are escaped, too."""
    found = written_id(entity_id, prefixed=True)
    return LOCAL + quote(entity_id, safe="") if found.startswith(LOCAL) else found


# --- documents ---


SEPARATORS = "|+,;"
NO_ID = "-1"

# Variant identifiers contain `|` and `+` (`c|SUB|G|1691|A`, `p|DEL|3_5|`): only `,` and `;` separate them.
_VARIANT_TYPES = re.compile(r"variant|mutation|snp|allele|\bvar\b|change|genomicregion|refseq", re.IGNORECASE)
_VARIANT_ID = re.compile(r"\s*(tmVar:|[cgmnpr]\|[A-Za-z]+\|)")
_SAID = re.compile(
    r"\s*(tmVar|HGVS|VariantGroup|RS#|RSID|CA#|Corresponding[A-Za-z]+|Original[A-Za-z]+|Mapped[A-Za-z]+)\s*:",
    re.IGNORECASE,
)
_FORMS = {"tmvar": "", "hgvs": "HGVS:", "rs#": "rs", "rsid": "rs", "ca#": "CA"}
"""What identifies a variant in tmVar's description, best first, and what goes before it."""
_TYPED = re.compile(r"([A-Za-z]+)\|(\S.*)")
_SPECIES = re.compile(r"(?<=\d)\(Tax:\d+\)")
_PART = re.compile(r"[^\s|+,;]*\d[^\s|+,;]*")
_PREFIXED = re.compile(r"([A-Za-z][\w.-]*):\S")
_BARE = (
    ("MESH", re.compile(r"[A-Z]?[CD](\d{6}|\d{9})")),
    ("UMLS", re.compile(r"C\d{7}")),
    ("NUMBER", re.compile(r"\d+")),
)
_NUMBERED = frozenset({"NCBIGENE", "GENE", "NCBITAXON", "NCBI"})


@dataclass(frozen=True, slots=True)
class IdStyle:
    """`separators` are the list separators of the file, most frequent first. `bare` counts ids without a prefix by
    their likely vocabulary, `prefixes` counts prefixes in the file's spelling. `columns` is the number of columns that
    every annotation line has, 6 if they differ. `nil` is the text for no entity."""

    separators: str = "|"
    bare: Mapping[str, int] = field(default_factory=dict)
    prefixes: Mapping[str, int] = field(default_factory=dict)
    columns: int = 6
    nil: str = NO_ID

    def split(self, raw: str, mention_type: str) -> tuple[str, ...]:
        """The identifiers of an id column: stray spaces removed, NO_ID markers left out, each id once.

        For a variant with tmVar's description (`p|SUB|V|600|E;CorrespondingGene:673;RS#:113488022`) only the variant,
        by its form, or by `rs…` if only that is stated; for a gene with its species (`3458(Tax:10090)`) only the gene.
        """
        if _is_described(raw):
            return _variant_ids(raw)
        parts = [_SPECIES.sub("", raw)]
        for separator in _separators_for(raw, mention_type, self.separators):
            parts = [piece for part in parts for piece in part.split(separator)]
        ids = (part.strip() for part in parts)
        return tuple(dict.fromkeys(i for i in ids if not is_nil(i)))

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
        usual = usual_prefix(prefix).upper()
        spelled = Counter({p: n for p, n in self.prefixes.items() if usual_prefix(p).upper() == usual})
        vocabulary = "NUMBER" if usual in _NUMBERED else usual
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
        if len(row) < 6 or _is_described(row[5]):
            continue
        for part in _parts(row[5], row[4], separators):
            if found := _PREFIXED.match(part):
                prefixes[found[1]] += 1
            elif not is_nil(part):
                bare[vocabulary_of(part)] += 1
            elif part:
                nils[part] += 1
    ordered = sorted(separators, key=lambda s: (-separators[s], SEPARATORS.index(s)))
    width = columns.pop() if len(columns) == 1 else 6
    nil = max(nils, key=lambda mark: (nils[mark], mark == NO_ID), default=NO_ID)
    return IdStyle("".join(ordered) or "|", dict(bare), dict(prefixes), max(width, 6), nil)


def is_variant(text: str) -> bool:
    """Whether a text is a variant in tmVar's form: its `|` are a part of it, and no separators or ends of roles."""
    return _VARIANT_ID.match(text) is not None or _is_described(text)


def typed_entity(text: str) -> tuple[str, str]:
    """The type and the identifier in the end of a relation, as in `Chemical|MESH:D008012`; the type is '' without one.
    The form of a variant (`c|DEL|12_14|`) is an identifier."""
    found = None if is_variant(text) else _TYPED.fullmatch(text.strip())
    return (found[1], found[2]) if found else ("", text.strip())


class Besides:
    """Counts what a file's identifiers state of variants besides the variant, such as `CorrespondingGene`."""

    def __init__(self) -> None:
        self._seen: Counter[str] = Counter()

    def see(self, raw: str) -> None:
        if _is_described(raw):
            before, said = _described(raw)
            best = "" if before else _best(said)
            self._seen.update(name for key, (name, _) in said.items() if key != best)

    def problems(self) -> list[Problem]:
        """One note with the numbers of mentions by name; none if there is nothing."""
        if not self._seen:
            return []
        named = ", ".join(f"{name} ({number:,})" for name, number in self._seen.most_common())
        words = tr("other information about variants is kept in the file and not read: {named}", named=named)
        return [Problem(0, "note", words)]


def read_ids(stated: Iterable[str], separators: str = "") -> tuple[str, ...]:
    """The identifiers in these texts, in the form of `read_id`, each once. `separators` are between several of a text;
    a variant in tmVar's form is one."""
    found: dict[str, None] = {}
    for text in stated:
        parts = _parted(text, separators)
        found |= dict.fromkeys(one for one in map(read_id, parts) if one)
    return tuple(found)


def _parted(text: str, separators: str) -> Sequence[str]:
    if is_variant(text):
        return IdStyle().split(text, "variant")
    return re.split(f"[{re.escape(separators)}]", text) if separators else [text]


def _is_described(raw: str) -> bool:
    return ":" in raw and any(map(_SAID.match, raw.split(";")))


def _described(raw: str) -> tuple[list[str], dict[str, tuple[str, str]]]:
    """What is before tmVar's description of a variant, and its names, in lower case, as written, with their values."""
    before: list[str] = []
    said: dict[str, tuple[str, str]] = {}
    for part in (one.strip() for one in raw.split(";")):
        if found := _SAID.match(part):
            said.setdefault(found[1].lower(), (found[1], part[found.end() :].strip()))
        elif not is_nil(part):
            before.append(part)
    return before, said


def _best(said: Mapping[str, tuple[str, str]]) -> str:
    """The name in a description of what identifies the variant; '' for none."""
    return next((key for key in _FORMS if not is_nil(said.get(key, ("", ""))[1])), "")


def _variant_ids(raw: str) -> tuple[str, ...]:
    before, said = _described(raw)
    if before:
        return tuple(dict.fromkeys([one for one in before if _VARIANT_ID.match(one)] or before))
    if not (best := _best(said)):
        return ()
    before_it, value = _FORMS[best], said[best][1]
    return (value if value.startswith(before_it) else before_it + value,)


def _parts(raw: str, mention_type: str, seen: Counter[str]) -> list[str]:
    parts = [raw.strip()]
    for separator in _separators_for(raw, mention_type, SEPARATORS):
        if separator not in raw:
            continue
        pieces = [piece.strip() for part in parts for piece in part.split(separator)]
        if all(_VARIANT_ID.match(one) or all(map(_is_list_part, re.split(r"[|+,;]", one))) for one in pieces):
            seen[separator] += 1
            parts = pieces
    return parts


def _is_list_part(part: str) -> bool:
    part = part.strip()
    return (part != "" and is_nil(part)) or _PART.fullmatch(part) is not None


def _separators_for(raw: str, mention_type: str, separators: str) -> str:
    if _VARIANT_TYPES.search(mention_type) or _VARIANT_ID.match(raw):
        return "".join(s for s in separators if s in ",;")
    return separators


def vocabulary_of(local: str) -> str:
    """The vocabulary that a bare identifier looks like."""
    return next((name for name, pattern in _BARE if pattern.fullmatch(local)), "OTHER")
