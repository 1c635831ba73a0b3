"""Symbols of elements, formulas and isotopes in words."""

import pytest

from models.text.formulas import in_words


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("Ca2+", "calcium"),
        ("Fe(II)", "iron"),
        ("CdCl2", "cadmium chloride"),
        ("K2Cr2O7", "potassium dichromate"),
        ("MgSO4", "magnesium sulfate"),
        ("Ca(OH)2", "calcium hydroxide"),
        ("CCl4", "carbon tetrachloride"),
        ("CO", "carbon monoxide"),
        ("SO2", "sulfur dioxide"),
        ("As2O3", "arsenic trioxide"),
        ("H2O2", "hydrogen peroxide"),
        ("125I", "iodine isotopes"),
        ("99mTc", "technetium isotopes"),
        ("Tc-99m", "technetium isotopes"),
        ("radiocalcium", "calcium radioisotopes"),
    ],
)
def test_symbols_in_words(symbol: str, name: str) -> None:
    assert in_words(symbol) == name


@pytest.mark.parametrize("text", ["HIV", "PCP", "aspirin", "PO2", "", "CaXy", "ca", "Ca and Mg"])
def test_other_texts_are_no_symbols(text: str) -> None:
    assert in_words(text) == ""
