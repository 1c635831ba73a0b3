"""One spelling for what is the same name: case, Greek letters, dashes, possessives, plurals, British spelling.

Names and mentions pass through the same function, so a rule that is too eager costs little. The original
strings are kept by the callers; nothing normalised is ever shown.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

GREEK = {
    "α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta",
    "θ": "theta", "ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "π": "pi",
    "ρ": "rho", "σ": "sigma", "ς": "sigma", "τ": "tau", "υ": "upsilon", "φ": "phi", "χ": "chi", "ψ": "psi",
    "ω": "omega", "ϕ": "phi", "ϵ": "epsilon",
}  # fmt: skip
_GREEK_TABLE = str.maketrans(GREEK)
STOP_WORDS = frozenset(["a", "an", "and", "by", "for", "from", "in", "of", "on", "or", "the", "to", "with", "nos"])
_BRITISH = (
    (re.compile(r"(?<=[a-z])isation"), "ization"),
    (re.compile(r"(?<=[a-z]{3})ise\b"), "ize"),
    (re.compile(r"(?<=[a-z]{2})our(?=s?\b|ed\b|al\b|ing\b)"), "or"),
    (re.compile(r"sulph"), "sulf"),
    (re.compile(r"ae|oe"), "e"),
    (re.compile(r"(?<=[a-z])yse(?=[rds]?\b)"), "yze"),
    (re.compile(r"(?<=[a-z]{2})tre\b"), "ter"),
)
_POSSESSIVE = re.compile(r"['’`´]s?\b")
_SEPARATORS = re.compile(r"[^\w+]+|_")
_KEEP_S = ("ss", "us", "is")


@lru_cache(maxsize=200_000)
def normalise(text: str) -> str:
    """Lower-case words separated by single blanks; a text of marks only comes back lower-cased."""
    lowered = unicodedata.normalize("NFKC", text).lower().translate(_GREEK_TABLE)
    plain = _SEPARATORS.sub(" ", _POSSESSIVE.sub("", lowered)).split()
    return " ".join(_word(word) for word in plain) or lowered.strip()


@lru_cache(maxsize=200_000)
def sorted_key(text: str) -> str:
    """The normalised words without stop words in alphabetical order: "Cancer, Breast" is "breast cancer"."""
    words = normalise(text).split()
    kept = [word for word in words if word not in STOP_WORDS] or words
    return " ".join(sorted(kept))


@lru_cache(maxsize=200_000)
def _word(word: str) -> str:
    if len(word) < 4 or not word.isalpha():
        return word
    for pattern, replacement in _BRITISH:
        word = pattern.sub(replacement, word)
    return singular(word)


def singular(word: str) -> str:
    """The singular of a regular plural of at least four letters."""
    if len(word) < 4 or not word.endswith("s") or word.endswith(_KEEP_S):
        return word
    if word.endswith("ies") and len(word) > 4:
        return word[:-3] + "y"
    if word.endswith(("sses", "shes", "ches", "xes")):
        return word[:-2]
    return word[:-1]
