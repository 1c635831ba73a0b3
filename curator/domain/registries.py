"""The forms of identifiers in registries, to check one that the knowledge base lacks before it is used.

The patterns are facts that the registries publish, as identifiers.org and Bioregistry list them; each is of the local
part, behind the prefix. The examples are real identifiers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from curator.domain.curies import contract, curie
from curator.domain.wording import UserError, tr

MORE = 12
"""Prefixes that an error names."""


@dataclass(frozen=True, slots=True)
class Registry:
    """`pattern` matches the whole local part of an identifier; `example` is one, with its prefix."""

    name: str
    pattern: str
    example: str

    def has(self, local: str) -> bool:
        """Whether a local part is written as this registry does it."""
        return re.fullmatch(self.pattern, local, re.ASCII) is not None


REGISTRIES: Mapping[str, Registry] = {
    "MESH": Registry("Medical Subject Headings", r"[CDQ]\d{6}(\d{3})?", "MESH:D008012"),
    "OMIM": Registry("OMIM", r"(PS)?\d{6}", "OMIM:104300"),
    "UMLS": Registry("UMLS", r"C\d{7}", "UMLS:C0002395"),
    "NCBIGene": Registry("NCBI Gene", r"[1-9]\d*", "NCBIGene:7157"),
    "NCBITaxon": Registry("NCBI Taxonomy", r"[1-9]\d*", "NCBITaxon:9606"),
    "Orphanet": Registry("Orphanet", r"C?\d+", "Orphanet:558"),
    "CHEBI": Registry("ChEBI", r"\d+", "CHEBI:15377"),
    "CHEMBL": Registry("ChEMBL", r"CHEMBL\d+", "CHEMBL:CHEMBL25"),
    "DrugBank": Registry("DrugBank", r"DB\d{5}", "DrugBank:DB00945"),
    "GO": Registry("Gene Ontology", r"\d{7}", "GO:0006915"),
    "HP": Registry("Human Phenotype Ontology", r"\d{7}", "HP:0001250"),
    "DOID": Registry("Disease Ontology", r"\d+", "DOID:4"),
    "MONDO": Registry("Mondo", r"\d{7}", "MONDO:0005148"),
    "UBERON": Registry("Uberon", r"\d{7}", "UBERON:0000948"),
    "CL": Registry("Cell Ontology", r"\d{7}", "CL:0000236"),
    "PR": Registry("Protein Ontology", r"\d{9}|[A-Z0-9]{6,10}(-\d+)?", "PR:000000001"),
    "SO": Registry("Sequence Ontology", r"\d{7}", "SO:0000704"),
    "EFO": Registry("Experimental Factor Ontology", r"\d{7}", "EFO:0000400"),
    "HGNC": Registry("HGNC", r"\d{1,5}", "HGNC:11998"),
    "UniProt": Registry(
        "UniProt", r"([OPQ]\d[A-Z0-9]{3}\d|[A-NR-Z]\d([A-Z][A-Z0-9]{2}\d){1,2})(-\d+)?", "UniProt:P04637"
    ),
    "SNOMEDCT": Registry("SNOMED CT", r"[1-9]\d{5,17}", "SNOMEDCT:22298006"),
    "NCIT": Registry("NCI Thesaurus", r"C\d+", "NCIT:C3224"),
    "ICD10": Registry("ICD-10", r"[A-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4})?", "ICD10:E11.9"),
    "ICD9": Registry("ICD-9", r"([EV]?\d{2,3})(\.\d{1,2})?", "ICD9:250.0"),
    "Cellosaurus": Registry("Cellosaurus", r"CVCL_[A-Z0-9]{4}", "Cellosaurus:CVCL_0030"),
    "Wikidata": Registry("Wikidata", r"Q[1-9]\d*", "Wikidata:Q12136"),
}
"""Prefix, as it is written here -> its registry."""


def is_identifier(text: str) -> bool:
    """Whether it is an identifier of a known registry, written as that does it."""
    prefix, _, local = _as_curie(text).partition(":")
    return prefix in REGISTRIES and REGISTRIES[prefix].has(local)


def registry_of(identifier: str) -> Registry:
    """Of an identifier that `checked_identifier` gave."""
    return REGISTRIES[identifier.partition(":")[0]]


def checked_identifier(text: str) -> str:
    """The identifier with its prefix in the usual spelling; a registry's web address is taken, too.

    Raises UserError without a prefix, for a prefix that is not known, and where the registry writes its identifiers in
    another way.
    """
    found = _as_curie(text)
    prefix, colon, local = found.partition(":")
    if not colon or prefix not in REGISTRIES:
        first = ", ".join(sorted(REGISTRIES)[:MORE])
        raise UserError(
            tr(
                "“{text}” cannot be checked: it does not begin with the prefix of a known registry, such as "
                "OMIM:104300. Known prefixes are {first} and {more} more.",
                text=text.strip(),
                first=first,
                more=len(REGISTRIES) - MORE,
            )
        )
    if not REGISTRIES[prefix].has(local):
        raise UserError(
            tr(
                "“{found}” is not written as {registry} writes its identifiers, for example {example}. Check it.",
                found=found,
                registry=REGISTRIES[prefix].name,
                example=REGISTRIES[prefix].example,
            )
        )
    return found


def _as_curie(text: str) -> str:
    text = text.strip()
    found = contract(text) if "://" in text else curie(text)
    prefix, _, local = found.partition(":")
    usual = next((one for one in REGISTRIES if one.casefold() == prefix.casefold()), prefix)
    return f"{usual}:{local.strip()}" if local else found
