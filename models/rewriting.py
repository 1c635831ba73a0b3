"""Other ways to say the same: plain words for Latin and Greek ones, nouns for adjectives, symbols of elements.

A rewritten mention is one more query, never a replacement. The tables are general medical and chemical
vocabulary; they know nothing of any corpus.
"""

from __future__ import annotations

import re

from models.normalise import normalise

ELEMENTS = {
    "Ag": "silver", "Al": "aluminum", "As": "arsenic", "Au": "gold", "Ba": "barium", "Be": "beryllium",
    "Bi": "bismuth", "Br": "bromine", "C": "carbon", "Ca": "calcium", "Cd": "cadmium", "Cl": "chlorine",
    "Co": "cobalt", "Cr": "chromium", "Cs": "cesium", "Cu": "copper", "F": "fluorine", "Fe": "iron",
    "Ga": "gallium", "Gd": "gadolinium", "H": "hydrogen", "He": "helium", "Hg": "mercury", "I": "iodine",
    "K": "potassium", "La": "lanthanum", "Li": "lithium", "Mg": "magnesium", "Mn": "manganese",
    "Mo": "molybdenum", "N": "nitrogen", "Na": "sodium", "Ni": "nickel", "O": "oxygen", "P": "phosphorus",
    "Pb": "lead", "Pd": "palladium", "Pt": "platinum", "Rb": "rubidium", "S": "sulfur", "Sb": "antimony",
    "Se": "selenium", "Si": "silicon", "Sn": "tin", "Sr": "strontium", "Te": "tellurium", "Ti": "titanium",
    "Tl": "thallium", "U": "uranium", "V": "vanadium", "W": "tungsten", "Zn": "zinc",
    "H2O": "water", "CO2": "carbon dioxide", "CO": "carbon monoxide", "NO": "nitric oxide", "O2": "oxygen",
    "N2O": "nitrous oxide", "H2O2": "hydrogen peroxide", "NaCl": "sodium chloride", "KCl": "potassium chloride",
    "CaCl2": "calcium chloride", "LiCl": "lithium chloride", "NH3": "ammonia", "H2S": "hydrogen sulfide",
}  # fmt: skip
_CHARGE = re.compile(r"\s*\(?\d*[+-]+\)?$")

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
_COORDINATED = re.compile(r"^(.{2,40}?)(?: and/or | and | or |/|, )(.{2,60})$")


def rewritings(text: str) -> tuple[str, ...]:
    """Other wordings of a mention, most literal first; often none."""
    symbol = ELEMENTS.get(_CHARGE.sub("", text.strip()))
    if symbol is not None:
        return (symbol,)
    plain = normalise(text)
    found = [_noun(plain), _plain_words(plain)]
    return tuple(dict.fromkeys(item for item in found if item and item != plain))


def composite_parts(text: str) -> tuple[str, ...]:
    """The mentions joined in one: "breast and ovarian cancer" gives "breast cancer" and "ovarian cancer".

    Two complete names ("nausea and vomiting") come back too: what is a head word cannot be seen from outside.
    """
    match = _COORDINATED.match(text.strip())
    if match is None:
        return ()
    left, right = match.group(1).strip(), match.group(2).strip()
    if min(len(left), len(right)) < 3:
        return ()
    head = right.split()[-1]
    shared = (f"{left} {head}",) if len(right.split()) > 1 and len(left.split()) < 4 else ()
    return (*shared, right, left)


def _noun(text: str) -> str:
    """The last word's noun: "diabetic" is "diabetes"; empty where no rule fits."""
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
