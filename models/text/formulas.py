"""Names of chemical symbols: elements and ions, simple formulas, isotopes (IUPAC's names of inorganic compounds)."""

from __future__ import annotations

import re

ELEMENTS = {
    "Ag": "silver", "Al": "aluminum", "Ar": "argon", "As": "arsenic", "Au": "gold", "B": "boron", "Ba": "barium",
    "Be": "beryllium", "Bi": "bismuth", "Br": "bromine", "C": "carbon", "Ca": "calcium", "Cd": "cadmium",
    "Ce": "cerium", "Cl": "chlorine", "Co": "cobalt", "Cr": "chromium", "Cs": "cesium", "Cu": "copper",
    "F": "fluorine", "Fe": "iron", "Ga": "gallium", "Gd": "gadolinium", "Ge": "germanium", "H": "hydrogen",
    "He": "helium", "Hg": "mercury", "I": "iodine", "In": "indium", "K": "potassium", "Kr": "krypton",
    "La": "lanthanum", "Li": "lithium", "Mg": "magnesium", "Mn": "manganese", "Mo": "molybdenum", "N": "nitrogen",
    "Na": "sodium", "Ni": "nickel", "O": "oxygen", "P": "phosphorus", "Pb": "lead", "Pd": "palladium",
    "Pt": "platinum", "Ra": "radium", "Rb": "rubidium", "Rn": "radon", "Ru": "ruthenium", "S": "sulfur",
    "Sb": "antimony", "Se": "selenium", "Si": "silicon", "Sm": "samarium", "Sn": "tin", "Sr": "strontium",
    "Tc": "technetium", "Te": "tellurium", "Th": "thorium", "Ti": "titanium", "Tl": "thallium", "U": "uranium",
    "V": "vanadium", "W": "tungsten", "Xe": "xenon", "Y": "yttrium", "Zn": "zinc", "Zr": "zirconium",
}  # fmt: skip
_TRIVIAL = {
    "H2O": "water", "H2O2": "hydrogen peroxide", "NH3": "ammonia", "NO": "nitric oxide", "N2O": "nitrous oxide",
    "NH4": "ammonium", "HCl": "hydrochloric acid", "H2SO4": "sulfuric acid", "HNO3": "nitric acid",
    "H3PO4": "phosphoric acid", "CH4": "methane", "CHCl3": "chloroform", "HCN": "hydrogen cyanide", "O3": "ozone",
    "PO4": "phosphate", "SO4": "sulfate", "NO3": "nitrate", "NO2": "nitrogen dioxide", "HCO3": "bicarbonate",
    "H2S": "hydrogen sulfide", "O2": "oxygen", "N2": "nitrogen", "H2": "hydrogen", "OH": "hydroxyl radical",
}  # fmt: skip
_ANIONS = {
    "Cl": "chloride", "Br": "bromide", "F": "fluoride", "I": "iodide", "O": "oxide", "S": "sulfide", "OH": "hydroxide",
    "SO4": "sulfate", "SO3": "sulfite", "NO3": "nitrate", "NO2": "nitrite", "CO3": "carbonate", "HCO3": "bicarbonate",
    "PO4": "phosphate", "CN": "cyanide", "Cr2O7": "dichromate", "MnO4": "permanganate", "SeO3": "selenite",
    "VO3": "vanadate", "VO4": "vanadate", "AsO2": "arsenite", "MoO4": "molybdate", "N3": "azide", "H": "hydride",
    "ClO4": "perchlorate", "SCN": "thiocyanate",
}  # fmt: skip
_NON_METALS = frozenset(["C", "N", "P", "S", "Si", "B", "Se", "Cl", "As"])
_COUNTS = {"": "mon", "1": "mon", "2": "di", "3": "tri", "4": "tetra", "5": "penta", "6": "hexa"}
_CHARGE = re.compile(r"\s*\(?\d*[+-]+\)?$|\s*\((?:I{1,3}|IV|VI{0,2})\)$")
_SYMBOL = "|".join(sorted(ELEMENTS, key=len, reverse=True))
_SALT = re.compile(rf"^({_SYMBOL})(\d?)\(?({'|'.join(sorted(_ANIONS, key=len, reverse=True))})\)?(\d?)$")
_ISOTOPE = re.compile(rf"^\[?\(?(?:\d{{1,3}}m?[- ]?({_SYMBOL})|({_SYMBOL})[- ]?\d{{2,3}}m?)\)?\]?$")
_RADIO = re.compile(rf"^radio-?({'|'.join(ELEMENTS.values())})$", re.IGNORECASE)


def in_words(text: str) -> str:
    """The name that a symbol stands for: "Ca2+" is calcium, "CdCl2" cadmium chloride; empty for anything else."""
    symbol = text.strip()
    bare = _CHARGE.sub("", symbol)
    if bare in ELEMENTS:
        return ELEMENTS[bare]
    return _TRIVIAL.get(bare, "") or _salt(bare) or _isotope(symbol)


def _salt(symbol: str) -> str:
    """A metal and an anion, or two non-metals with counts: "CCl4" is carbon tetrachloride."""
    match = _SALT.match(symbol)
    if match is None:
        return ""
    first, _, anion, count = match.groups()
    if symbol.startswith("PO"):  # a pressure: pO2
        return ""
    name = _ANIONS[anion]
    if first not in _NON_METALS or len(anion) > 2 or anion in ("OH", "CN"):
        return f"{ELEMENTS[first]} {name}"
    prefix = _COUNTS.get(count, "")
    if prefix == "mon":
        return f"{ELEMENTS[first]} {'monoxide' if name == 'oxide' else 'mono' + name}"
    return f"{ELEMENTS[first]} {prefix}{name}"


def _isotope(symbol: str) -> str:
    """ "125I", "Tc-99m" and "radiocalcium" are isotopes of their elements."""
    match = _ISOTOPE.match(symbol)
    if match is not None:
        return f"{ELEMENTS[match[1] or match[2]]} isotopes"
    radio = _RADIO.match(symbol)
    return f"{radio[1].lower()} radioisotopes" if radio else ""
