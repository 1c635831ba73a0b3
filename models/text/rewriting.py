"""Other wordings of a mention: plain words for Latin and Greek ones, nouns for adjectives, names for symbols.

A rewritten mention is an additional query, never a replacement. The tables are general medical and chemical vocabulary,
not made for any corpus.
"""

from __future__ import annotations

import re

from models.text.formulas import in_words
from models.text.normalise import american_text, greek_names, normalise

ORGANS = {
    "renal": "kidney", "hepatic": "liver", "cardiac": "heart", "myocardial": "heart", "pulmonary": "lung",
    "cerebral": "brain", "gastric": "stomach", "cutaneous": "skin", "dermal": "skin", "ocular": "eye",
    "auditory": "hearing", "acoustic": "hearing", "visual": "vision", "neurological": "nervous system",
    "neurologic": "nervous system", "neural": "nervous system", "hematologic": "blood",
    "hematological": "blood", "intestinal": "intestine", "osseous": "bone", "muscular": "muscle",
    "mammary": "breast", "uterine": "uterus", "vesical": "bladder", "biliary": "biliary tract",
    "locomotor": "movement", "motor": "movement", "psychiatric": "mental", "psychological": "mental",
    "cognitive": "cognition", "memory": "memory", "mnestic": "memory", "nephric": "kidney",
}  # fmt: skip
_HARM = (
    "injury|damage|dysfunction|impairment|abnormality|toxicity|disorder|lesion|complication|alteration|defect|"
    "deficit|disturbance|disease|problem|insult|involvement|deterioration|malfunction|disability|loss"
)
_HARMED = re.compile(rf"\b({'|'.join(ORGANS)})\b(.*?)\b({_HARM})\b")
_IMPAIRED = re.compile(r"^(?:impaired|decreased|reduced|abnormal|altered|disturbed|deranged|poor) (.+?)(?: function)?$")
_STEMS = {
    "nephr": "kidney", "hepat": "liver", "cardi": "heart", "neur": "nervous system", "encephal": "brain",
    "myel": "bone marrow", "ot": "hearing", "dermat": "skin", "gastr": "stomach", "enter": "intestine",
    "pneum": "lung", "arthr": "joint", "oste": "bone", "my": "muscle", "angi": "blood vessel", "retin": "retinal",
    "vasculo": "vascular", "glomerul": "kidney", "ureter": "ureteral", "cyst": "bladder", "hemat": "blood",
    "lymphaden": "lymphatic", "aden": "gland", "coagul": "blood coagulation", "immun": "immune system",
    "tub": "kidney tubule", "maculo": "macular", "valvul": "heart valve",
}  # fmt: skip
_COMPOUND = re.compile(rf"\b({'|'.join(sorted(_STEMS, key=len, reverse=True))})o?(path(?:y|ic)|toxic(?:ity)?)\b")
_TOXIC = re.compile(rf"\b({'|'.join(sorted(_STEMS, key=len, reverse=True))})o?toxic(?:ity)?\b|\b(\w+) toxicity\b")
_OF = re.compile(r"^(\w+) (?:of|in) (?:the |an? )?([\w+]+(?: [\w+]+){0,3})$")
_CLASS = "disease|disorder|syndrome|condition|trait|defect|abnormality"
_PATTERN = "autosomal|[xy] linked|recessive|dominant|genetic|inherited|hereditary|heritable|mendelian|\\w+genic"
_INHERITED = re.compile(
    rf"^(?:(?:rare|common|single|human|lethal|severe|familial) )*(?:(?:{_PATTERN}) )+(?:human )?(?:{_CLASS})$"
)
_ENZYME = re.compile(r"^(?:enzyme (?:deficiency|defect|disorder|deficient)|enzymopathy|metabolic defect)$")
_LACKING = "deficien(?:cy|cie|t)|dysfunction|haploinsufficiency|mutation|defect"
_GENE_PRODUCT = re.compile(
    rf"^(?=\w*(?:[A-Z]\w*[A-Z]|\d))\w{{2,7}}[- ](?:{_LACKING})s?$|^deficient in (?=\w*\d)\w{{2,7}}$"
)
_SUPPRESSED = re.compile(r"\bmyelosuppress(?:ion|ive)\b")
_ADJECTIVES = (
    (re.compile(r"tensive$"), "tension"),
    (re.compile(r"betic$"), "betes"),
    (re.compile(r"(?<=[a-z]{2})otic$"), "osis"),
    (re.compile(r"(?<=[a-z]{2})emic$"), "emia"),
    (re.compile(r"(?<=[a-z]{2})lytic$"), "lysis"),
    (re.compile(r"toxic$"), "toxicity"),
    (re.compile(r"ergic$"), "ergy"),
    (re.compile(r"leptic$"), "lepsy"),
    (re.compile(r"uric$"), "uria"),
    (re.compile(r"plegic$"), "plegia"),
    (re.compile(r"paretic$"), "paresis"),
    (re.compile(r"pathic$"), "pathy"),
    (re.compile(r"rrhagic$"), "rrhage"),
    (re.compile(r"kinetic$"), "kinesia"),
    (re.compile(r"rhythmic$"), "rhythmia"),
    (re.compile(r"manic$"), "mania"),
    (re.compile(r"phrenic$"), "phrenia"),
    (re.compile(r"exic$"), "exia"),
    (re.compile(r"phobic$"), "phobia"),
    (re.compile(r"algesic$"), "algesia"),
    (re.compile(r"trophic$"), "trophy"),
    (re.compile(r"ritic$"), "ritis"),
    (re.compile(r"static$"), "stasis"),
    (re.compile(r"genic$"), "genesis"),
    (re.compile(r"^depressed$|^depressive$"), "depression"),
    (re.compile(r"^anxious$"), "anxiety"),
    (re.compile(r"^convulsive$"), "seizure"),
    (re.compile(r"^obese$"), "obesity"),
    (re.compile(r"^demented$"), "dementia"),
    (re.compile(r"^(?:cancerous|malignant)$"), "cancer"),
    (re.compile(r"^comatose$"), "coma"),
    (re.compile(r"^aggressi(?:ve|veness)$"), "aggression"),
    (re.compile(r"^irritable$"), "irritability"),
    (re.compile(r"^ischemic$"), "ischemia"),
)


def rewritings(text: str) -> tuple[str, ...]:
    """Other wordings of a mention that mean about the same, most literal first; often there are none."""
    symbol = in_words(text)
    if symbol:
        return (symbol,)
    plain = normalise(text)
    found = [_possessed(plain), noun_of(plain), _plain_words(plain), _classed(plain)]
    return tuple(dict.fromkeys(item for item in found if item and item != plain))


def respelled(text: str) -> str:
    """The text in American spelling and with Greek letters by name; empty if nothing changes."""
    changed = american_text(greek_names(text))
    return changed if changed != text else ""


def poisoned(text: str) -> str:
    """Toxicity to an organ as the disease that a drug causes: "hepatotoxicity" is drug-induced liver disease."""
    match = _TOXIC.search(normalise(text))
    if match is None:
        return ""
    return f"drug induced {_STEMS.get(match[1] or '') or ORGANS.get(match[2] or '', match[2])} disease"


def broader(text: str) -> str:
    """The class of a mention whose own words name no disease: "SIX5 deficiency" is a genetic disease."""
    return "genetic disease" if _GENE_PRODUCT.search(text.strip()) else ""


def noun_of(text: str) -> str:
    """The last word's noun: "diabetic" is "diabetes"; empty if no rule fits."""
    *before, last = text.split() or [""]
    for pattern, replacement in _ADJECTIVES:
        changed = pattern.sub(replacement, last)
        if changed != last:
            return " ".join([*before, changed])
    return ""


def _plain_words(text: str) -> str:
    """Organs and harm in plain words: "renal injury" and "nephropathy" are "kidney disease"."""
    changed = _COMPOUND.sub(lambda match: f"{_STEMS[match.group(1)]} disease", text)
    changed = _SUPPRESSED.sub("bone marrow disease", changed)
    changed = _HARMED.sub(lambda match: f"{ORGANS[match.group(1)]}{match.group(2)}disease", changed)
    impaired = _IMPAIRED.match(changed)
    if impaired is not None:
        words = [ORGANS.get(word, word) for word in impaired.group(1).split()]
        return f"{' '.join(words)} disease"
    return changed if changed != text else ""


def _possessed(text: str) -> str:
    """ "deficiency of complement factor" is "complement factor deficiency", the order of most names."""
    match = _OF.match(text)
    return f"{match[2]} {match[1]}" if match else ""


def _classed(text: str) -> str:
    """Diseases named only by their class: a kind of inheritance, or an enzyme deficiency."""
    if _INHERITED.match(text):
        linked = re.search(r"\b[xy] linked\b", text)
        return f"{linked.group()} genetic disease" if linked else "genetic disease"
    return "inborn error of metabolism" if _ENZYME.match(text) else ""
