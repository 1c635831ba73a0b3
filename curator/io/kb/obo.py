"""OBO ontologies (format 1.2 and 1.4): terms as entities.

It has its own small reader instead of pronto: pronto 2.7 reads `hp_2014` in 0.7 s but fails on the whole of
`doid_2016-09-01` at a definition whose xrefs contain spaces (`[JA:Epilepsy Genetics Kiel]`), and reports neither line
numbers nor progress.

Names are the name and the synonyms of every scope; the type is the term's namespace. An obsolete term is not an entity:
it is stored separately with its `replaced_by` and `consider`, and if exactly one term replaces it, its id becomes an
alternate id of this term. Terms with another prefix than the ontology's are entities too, and noted once for each
prefix.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from curator.domain.entities import Entity, ObsoleteEntity
from curator.domain.wording import ntr, tr
from curator.io.files.source import BOM, without_line_end
from curator.io.kb.base import OBSOLETE, ONE_OBSOLETE, KbReader, clean_names, inverted, keep_obsolete

_QUOTED = re.compile(r'\s*"((?:[^"\\]++|\\.)*+)"')
_MODIFIERS = re.compile(r'(?<!\s)\s*\{\s*[^\s={}"]+\s*=\s*"(?:[^"\\]++|\\.)*+"[^{}]*\}\s*$')
_COMMENT = re.compile(r"(?<!\\)\s!\s.*$")
"""After names and texts, which have `!` of their own."""
_ID_END = re.compile(r'(?<!\\)!|\{\s*[^\s={}"]+\s*=')
"""After identifiers, `!` needs no space. Before it may be modifiers."""
_ESCAPE = re.compile(r"\\(.)")
_ESCAPES = {"n": " ", "t": " ", "W": " "}
_HEADING = re.compile(r"\[\s*(\w+)\s*\]\s*(?:!.*)?")
_ONCE = ("id", "name", "def")
_START = re.compile(rb"^(format-version:|\[Term\]\s*$)", re.MULTILINE)


@dataclass(slots=True)
class _Stanza:
    kind: str
    line: int
    tags: dict[str, list[tuple[int, str]]] = field(default_factory=dict)

    def values(self, tag: str) -> list[str]:
        return [value for _, value in self.tags.get(tag, [])]

    def first(self, tag: str) -> str:
        return next(iter(self.values(tag)), "")

    def ids(self, tag: str) -> list[str]:
        """The values of a tag that holds identifiers, without modifiers and comments."""
        return [_identifier(value) for value in self.values(tag)]

    @property
    def id(self) -> str:
        return _identifier(self.first("id"))

    @property
    def obsolete(self) -> bool:
        return _identifier(self.first("is_obsolete")).lower() == "true"


class OboReader(KbReader):
    """Streams one ontology, after a first pass that collects the replacements of obsolete terms."""

    format = "obo"
    title = "OBO"
    refusal = "{path} is not an OBO ontology: it has neither `format-version:` nor a `[Term]`"

    @staticmethod
    def sniff(head: bytes) -> bool:
        return _START.search(head) is not None

    def _replacements(self) -> dict[str, list[str]]:
        """For each term that replaces others, the obsolete ids that lead to it, following chains."""
        successor = {}
        prefixes: Counter[str] = Counter()
        for stanza in self._stanzas():
            prefixes[stanza.id.partition(":")[0]] += stanza.kind == "Term" and ":" in stanza.id
            replaced_by = stanza.ids("replaced_by")
            if stanza.kind == "Term" and stanza.obsolete and len(replaced_by) == 1:
                successor[stanza.id] = replaced_by[0]
        self._prefix = prefixes.most_common(1)[0][0] if prefixes else ""
        return inverted(successor)

    def entities(self) -> Iterator[tuple[int, Entity]]:
        self._replaced = self._replacements()
        self.problems.clear()  # the first pass found the same malformed lines
        namespace, foreign = "", set()
        for stanza in self._stanzas():
            if not stanza.kind:
                namespace = _identifier(stanza.first("default-namespace"))
            if stanza.kind != "Term":
                continue
            name = _plain(stanza.first("name"))
            if stanza.obsolete:
                self._keep_obsolete(stanza, name, namespace)
                continue
            if not stanza.id or not name:
                missing = "name" if stanza.id else "id"
                self.problems.set_aside(
                    tr("the term {id} has no {missing}", id=stanza.id or name, missing=missing), stanza.line
                )
                continue
            self._check_once(stanza)
            prefix = stanza.id.partition(":")[0] if ":" in stanza.id else ""
            if prefix != self._prefix and prefix not in foreign:
                foreign.add(prefix)
                text = tr(
                    "the prefix of the term {id} is not {prefix}; such terms are read as entities",
                    id=stanza.id,
                    prefix=self._prefix,
                )
                self.problems.note(text, stanza.line)
            yield stanza.line, self._entity(stanza, name, namespace)
        if self.obsolete:
            self.problems.note(ntr(ONE_OBSOLETE["term"], OBSOLETE["term"], len(self.obsolete)))

    def _check_once(self, stanza: _Stanza) -> None:
        """Report tags of which only the first is read, such as those after a lost heading."""
        for tag in _ONCE:
            for line, value in stanza.tags.get(tag, [])[1:]:
                text = tr(
                    "term {id} has a second {tag!r}, which is left out: {value}",
                    id=stanza.id,
                    tag=tag,
                    value=value[:60],
                )
                self.problems.set_aside(text, line)

    def _keep_obsolete(self, stanza: _Stanza, name: str, namespace: str) -> None:
        """Keep the obsolete terms with several successors; those with one lead to it, and those with none are left
        out."""
        if stanza.id:
            kind = _identifier(stanza.first("namespace")) or namespace
            old = ObsoleteEntity(
                stanza.id,
                name or stanza.id,
                types=(kind,) if kind else (),
                definition=next(self._quoted(stanza, "def"), ""),
                replaced_by=clean_names(stanza.ids("replaced_by"), besides=stanza.id),
                consider=clean_names(stanza.ids("consider"), besides=stanza.id),
            )
            keep_obsolete(old, stanza.line, self.obsolete, self.problems)
        if len(stanza.values("replaced_by")) > 1:
            text = tr(
                "the obsolete term {id} ({name}) has several replacements, so its id leads to none of them",
                id=stanza.id,
                name=name,
            )
            self.problems.note(text, stanza.line)

    def _entity(self, stanza: _Stanza, name: str, namespace: str) -> Entity:
        alternates = stanza.ids("alt_id") + self._replaced.get(stanza.id, [])
        kind = _identifier(stanza.first("namespace")) or namespace
        return Entity(
            stanza.id,
            name,
            synonyms=clean_names(self._quoted(stanza, "synonym"), besides=name),
            types=(kind,) if kind else (),
            definition=next(self._quoted(stanza, "def"), ""),
            alt_ids=clean_names(alternates, besides=stanza.id),
            parents=clean_names(stanza.ids("is_a")),
        )

    def _quoted(self, stanza: _Stanza, tag: str) -> Iterator[str]:
        """The quoted texts of a tag, escapes resolved. `exact_synonym` and similar tags are from format 1.0."""
        tags = [tag] if tag == "def" else [t for t in stanza.tags if t == tag or t.endswith(f"_{tag}")]
        for line, value in (pair for t in tags for pair in stanza.tags.get(t, [])):
            found = _QUOTED.match(value)
            if found:
                yield _unescaped(found[1])
            else:
                self.problems.set_aside(
                    tr("term {id}: {tag!r} has no quoted text: {value}", id=stanza.id, tag=tag, value=value[:60]), line
                )

    def _stanzas(self) -> Iterator[_Stanza]:
        """The header (kind '') and every stanza, tags with their lines."""
        stanza = _Stanza("", 1)
        for number, line in enumerate(self.source.lines(), 1):
            text = without_line_end(line.removeprefix(BOM) if number == 1 else line).strip()
            if text.startswith("["):
                yield stanza
                heading = _HEADING.fullmatch(text)
                stanza = _Stanza(heading[1].capitalize() if heading else "unknown", number)
                if heading is None:
                    self.problems.set_aside(tr("is not a heading of a stanza: {text}", text=text[:60]), number)
            elif text and not text.startswith("!"):
                tag, colon, value = text.partition(":")
                if colon:
                    stanza.tags.setdefault(tag.strip(), []).append((number, value.strip()))
                else:
                    self.problems.set_aside(tr("is not `tag: value`: {text}", text=text[:60]), number)
        yield stanza


def _plain(value: str) -> str:
    """An unquoted value without trailing modifiers and comment, escapes resolved."""
    value = _MODIFIERS.sub("", _COMMENT.sub("", value))
    return _unescaped(value)


def _identifier(value: str) -> str:
    end = _ID_END.search(value)
    return _unescaped(value[: end.start()] if end else value)


def _unescaped(text: str) -> str:
    return " ".join(_ESCAPE.sub(lambda m: _ESCAPES.get(m[1], m[1]), text).split())
