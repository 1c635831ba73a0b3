"""One normal form for equal names: case, Greek letters, accents, dashes, possessives, plurals, numerals, spelling.

Names and mentions pass through the same function, so an overly aggressive rule does little harm. Callers keep the
original strings; normalised text is never shown.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from functools import lru_cache

# One spelling of a word: American for British, plain letters for accents and ligatures, names for Greek letters, the
# singular for regular, Latin and Greek plurals. The rules are those of the languages, not of any corpus. They may be
# aggressive: names and mentions pass through the same rules, so a wrongly changed word is changed the same way on both
# sides.

GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta",
    "θ": "theta", "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "ο": "omicron",
    "π": "pi", "ρ": "rho", "σ": "sigma", "ς": "sigma", "τ": "tau", "υ": "upsilon", "φ": "phi", "χ": "chi",
    "ψ": "psi", "ω": "omega", "ϕ": "phi", "ϵ": "epsilon", "ϑ": "theta",
}  # fmt: skip
_GREEK_SCRIPT = r"\u0370-\u03ff\u1f00-\u1fff"
_GREEK_LETTER = re.compile(rf"(?<![{_GREEK_SCRIPT}])([{''.join(GREEK)}])(?![{_GREEK_SCRIPT}])", re.IGNORECASE)
_LIGATURES = str.maketrans({"æ": "ae", "œ": "oe", "ø": "o", "ł": "l", "đ": "d", "ß": "ss", "ı": "i"})
_LATIN_WITH_MARKS = re.compile(r"[\u00c0-\u024f\u1e00-\u1eff]")

_ENDS = r"(?=(?:s|ed|al|ally|ing|able|less|ful|ist|ite|ism|ize)*\b)"
_AMERICAN = (
    (re.compile(r"isation"), "ization"),
    (re.compile(r"(?<=[a-z]{3})is(?=(?:e|ed|es|er|ers|ing)\b)"), "iz"),
    (re.compile(r"(?<=[a-z])ys(?=(?:e|ed|er|ers|ing)\b)"), "yz"),
    (re.compile(rf"(?<=[a-z]{{2}})our{_ENDS}"), "or"),
    (re.compile(r"sulph"), "sulf"),
    (re.compile(r"\bleuc(?=[aeo])"), "leuk"),
    (re.compile(r"ae\b"), "a"),
    (re.compile(r"ae|oe"), "e"),
    (re.compile(r"(?<=[a-z]{2}[bt])re(?=s?\b)"), "er"),
    (re.compile(r"\bcaesium\b|\bcesium\b"), "cesium"),
    (re.compile(r"\baluminium\b"), "aluminum"),
    (re.compile(r"(?<=[a-z]{3}[aeo]l)l(?=(?:ed|ing)\b)"), ""),
    (re.compile(r"\bgrey\b"), "gray"),
    (re.compile(r"(?<=\bdef)ence|(?<=\boff)ence|(?<=\blic)ence"), "ense"),
    (re.compile(r"\bmould(?=s|y|\b)"), "mold"),
    (re.compile(r"\bageing\b"), "aging"),
)
# Certainly British spellings, for texts in which nothing else may change.
_SILENT = re.compile(
    r"(?i)(?<=h)a(?=em)|(?<=n)a(?=e[smv])|a(?=emi[ac])|(?<=p)a(?=ed)|(?<=[cf])a(?=ec)|(?<=yn)a(?=ec)|(?<=ph)a(?=eo)"
    r"|(?<!angi)o(?=edem|esoph|estr)|(?<=f)o(?=et)|(?<=rrh)o(?=e)|(?<=alumin)i(?=um)|(?<=c)a(?=esium)"
    r"|(?<=tumo|colo|humo|labo|vapo)u(?=r)|(?<=behavio)u(?=r)"
)
_RESPELLED = (
    (re.compile(r"(?i)(?<=sul)ph"), "f"),
    (re.compile(r"(?i)(?<=\bleu)c(?=ocyt|open|a?em|odystr|oenceph|orrh)"), "k"),
    (re.compile(r"(?i)(?<=\bfib)re\b|(?<=\bcent)re\b|(?<=\blit)re\b"), "er"),
    (re.compile(r"(?i)(?<=[a-z]{3}i)s(?=ation)"), "z"),
)

_IRREGULAR = {
    "feet": "foot", "teeth": "tooth", "children": "child", "men": "man", "women": "woman", "mice": "mouse",
    "bacteria": "bacterium", "mitochondria": "mitochondrion", "criteria": "criterion", "ova": "ovum",
    "varices": "varix", "appendices": "appendix", "cervices": "cervix", "cortices": "cortex", "matrices": "matrix",
    "viscera": "viscus", "sera": "serum", "foci": "focus", "loci": "locus", "lice": "louse",
}  # fmt: skip
_PLURALS = (
    (re.compile(r"(?<=[a-z]{2})mata$"), "ma"),
    (re.compile(r"(?<=[a-z]{2}[clnrtkhyb])oses$"), "osis"),
    (re.compile(r"(?<=[a-z])yses$"), "ysis"),
    (re.compile(r"(?<=[a-z]{2}[hr])eses$"), "esis"),
    (re.compile(r"(metasta|osta|ysta)ses$"), r"\1sis"),
    (re.compile(r"(cocc|fung|bacill|calcul|thromb|embol|nucle|alveol|nev)i$"), r"\1us"),
    (re.compile(r"(?<=[a-z]{2}[lntrc])uses$"), "us"),
    (re.compile(r"(?<=[a-z]{2})ies$"), "y"),
    (re.compile(r"(ss|sh|ch)es$"), r"\1"),
    (re.compile(r"(?<=x)es$"), ""),
    (re.compile(r"(?<![sui])s$"), ""),
)
_ROMAN = {
    "ii": "2", "iii": "3", "iv": "4", "vi": "6", "vii": "7", "viii": "8", "ix": "9", "xi": "11", "xii": "12",
    "xiii": "13", "xiv": "14", "xv": "15", "xvi": "16", "xvii": "17", "xviii": "18", "xix": "19", "xx": "20",
}  # fmt: skip
_SINGLE_ROMAN = {"i": "1", "v": "5", "x": "10"}
_NUMBERED = frozenset(["type", "stage", "grade", "class", "group", "phase", "factor", "subtype", "variant"])
_ROMAN_AND_LETTER = re.compile(r"^(i{2,3}|iv)([a-e])$")


def plain_letters(text: str) -> str:
    """Compatibility forms, accents and ligatures of Latin letters, and single Greek letters, in plain letters.

    Words in Greek or another script stay as they are: only a single Greek letter is a symbol.
    """
    composed = unicodedata.normalize("NFKC", text.replace("´", "'"))  # NFKC turns this apostrophe into a space
    if composed.isascii():
        return composed
    named = _GREEK_LETTER.sub(lambda match: f" {GREEK[match.group(1).lower()]} ", composed)
    return _LATIN_WITH_MARKS.sub(_bare, named).translate(_LIGATURES)


def greek_names(text: str) -> str:
    """Single Greek letters replaced by their names, nothing else changed: "β-carotene" is "beta-carotene"."""
    if text.isascii():
        return text
    return _GREEK_LETTER.sub(lambda match: GREEK[match.group(1).lower()], text.replace("\u00b5", "\u03bc"))


@lru_cache(maxsize=200_000)
def american(word: str) -> str:
    """A lower-case word in American spelling."""
    for pattern, replacement in _AMERICAN:
        word = pattern.sub(replacement, word)
    return word


def american_text(text: str) -> str:
    """The text with certain British spellings replaced by American ones."""
    text = _SILENT.sub("", text)
    for pattern, replacement in _RESPELLED:
        text = pattern.sub(replacement, text)
    return text


@lru_cache(maxsize=200_000)
def singular(word: str) -> str:
    """The singular of a lower-case plural of at least four letters; other words are unchanged."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if len(word) < 4:
        return word
    for pattern, replacement in _PLURALS:
        changed, count = pattern.subn(replacement, word)
        if count:
            return changed
    return word


def arabic(words: list[str]) -> list[str]:
    """Roman numerals as figures: "type iia" is "type 2a"; single letters only after "type", "stage" and similar
    words."""
    changed = []
    for at, word in enumerate(words):
        lettered = _ROMAN_AND_LETTER.match(word)
        if word in _ROMAN:
            changed.append(_ROMAN[word])
        elif lettered:
            changed.append(_ROMAN[lettered[1]] + lettered[2])
        elif word in _SINGLE_ROMAN and at and words[at - 1] in _NUMBERED:
            changed.append(_SINGLE_ROMAN[word])
        else:
            changed.append(word)
    return changed


def _bare(match: re.Match[str]) -> str:
    return "".join(c for c in unicodedata.normalize("NFD", match.group()) if not unicodedata.combining(c))


STOP_WORDS = frozenset(["a", "an", "and", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with", "nos"])
_POSSESSIVE = re.compile(r"['’`]s?\b")
_SEPARATORS = re.compile(r"[^\w+]+|_")


@lru_cache(maxsize=200_000)
def normalise(text: str) -> str:
    """Lower-case words separated by single blanks; a text without letters or digits is only lower-cased."""
    lowered = plain_letters(text.lower())
    plain = _SEPARATORS.sub(" ", _POSSESSIVE.sub("", lowered)).split()
    return " ".join(arabic([_word(word) for word in plain])) or lowered.strip()


@lru_cache(maxsize=200_000)
def sorted_key(text: str) -> str:
    """The normalised words without stop words in alphabetical order: "Cancer, Breast" is "breast cancer"."""
    words = normalise(text).split()
    kept = [word for word in words if word not in STOP_WORDS] or words
    return " ".join(sorted(kept))


@lru_cache(maxsize=200_000)
def _word(word: str) -> str:
    """The normalised word; words of three letters and strings with other characters than letters are symbols and do not
    change."""
    if len(word) < 4 or not word.isalpha():
        return word
    return singular(american(word)) if word.isascii() else word


# The words of a text with their places, normalised one by one: used for dictionary matching. Han, Kana and Thai are
# written without spaces, so each of their characters is a word.

_UNSPACED = r"\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|(?:[^\W{_UNSPACED}]|(?<=[\w])\+)+")
_APOSTROPHES = "'’`´"
_POSSESSIVE_S = re.compile(rf"(?<=[{_APOSTROPHES}])s(?!\w)")


@dataclass(frozen=True, slots=True)
class Word:
    """``start`` and ``end`` are code points of the text; ``normal`` has no blank at its ends."""

    normal: str
    start: int
    end: int


def words_of(text: str) -> list[Word]:
    """Words in text order; the "s" of a possessive belongs to no word."""
    found = []
    for match in _WORD.finditer(text):
        start, end = match.span()
        if end - start == 1 and match.group() == "s" and start > 1 and text[start - 1] in _APOSTROPHES:
            continue
        normal = _normal(match.group())
        if normal:
            found.append(Word(normal, start, end))
    return found


@lru_cache(maxsize=100_000)
def _normal(word: str) -> str:
    return normalise(word)


def key_of(name: str) -> str:
    """The words of a name between single blanks, with one at either end; empty for a name without words."""
    words = [_normal(word) for word in _WORD.findall(_POSSESSIVE_S.sub("", name))]
    return f" {' '.join(words)} " if words else ""
