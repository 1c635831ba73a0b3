"""Identifiers as CURIEs, after the conventions of Bioregistry: `MESH:D008012`, `OMIM:104300`, `UMLS:C0002395`.

A small table replaces the `curies` and `bioregistry` packages: these namespaces are known offline, and all others keep
the prefix of their file. Bioregistry writes prefixes in lower case. The spelling here is that of corpora and knowledge
bases; look-up ignores case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from curator.domain.wording import UserError, tr

OBO = "http://purl.obolibrary.org/obo/"

PREFIXES: Mapping[str, str] = {
    "mesh": "MESH",
    "msh": "MESH",
    "omim": "OMIM",
    "mim": "OMIM",
    "umls": "UMLS",
    "umls_cui": "UMLS",
    "ncbigene": "NCBIGene",
    "entrez": "NCBIGene",
    "ncbi_gene": "NCBIGene",
    "geneid": "NCBIGene",
    "ncbitaxon": "NCBITaxon",
    "taxonomy": "NCBITaxon",
    "orphanet": "Orphanet",
    "orpha": "Orphanet",
    "ordo": "Orphanet",
    "chebi": "CHEBI",
    "chembl": "CHEMBL",
    "drugbank": "DrugBank",
    "go": "GO",
    "hp": "HP",
    "doid": "DOID",
    "mondo": "MONDO",
    "uberon": "UBERON",
    "cl": "CL",
    "hgnc": "HGNC",
    "uniprot": "UniProt",
    "snomedct": "SNOMEDCT",
    "sctid": "SNOMEDCT",
    "ncit": "NCIT",
    "icd10": "ICD10",
    "icd9": "ICD9",
    "efo": "EFO",
    "cellosaurus": "Cellosaurus",
    "wikidata": "Wikidata",
}
"""Prefix in lower case -> its spelling here."""

NAMESPACES: Mapping[str, str] = {
    "http://id.nlm.nih.gov/mesh/": "MESH",
    "https://id.nlm.nih.gov/mesh/": "MESH",
    "http://purl.bioontology.org/ontology/MESH/": "MESH",
    "http://www.orpha.net/ORDO/Orphanet_": "Orphanet",
    "http://www.ebi.ac.uk/efo/EFO_": "EFO",
    "http://ncicb.nci.nih.gov/xml/owl/EVS/Thesaurus.owl#": "NCIT",
    "http://www.wikidata.org/entity/": "Wikidata",
    "http://snomed.info/id/": "SNOMEDCT",
    "https://omim.org/entry/": "OMIM",
    "http://omim.org/entry/": "OMIM",
    "https://www.omim.org/entry/": "OMIM",
    "http://aims.fao.org/aos/agrovoc/": "AGROVOC",
    "http://eurovoc.europa.eu/": "EuroVoc",
}
"""Beginning of an address -> prefix. Addresses of OBO's form, `…/obo/DOID_4`, need no entry."""

_IDENTIFIERS = re.compile(r"https?://(?:identifiers\.org|bioregistry\.io)/([A-Za-z0-9_.]+)[:/](.+)", re.DOTALL)
_OBO_ID = re.compile(r"([A-Za-z][A-Za-z0-9._]*)_([^/#?_]+)")  # the last underscore divides
_NUMBER = re.compile(r"\d+")


def curie(text: str) -> str:
    """An identifier with its prefix in the usual spelling: `mesh:D1` is `MESH:D1`, and `MESH:MESH:D1` too."""
    text = text.strip()
    prefix, colon, local = text.partition(":")
    usual = PREFIXES.get(prefix.lower())
    if not colon or usual is None:
        return text
    again, colon, inner = local.partition(":")
    return f"{usual}:{inner}" if colon and PREFIXES.get(again.lower(), again) == usual else f"{usual}:{local.strip()}"


def with_prefix(text: str, prefix: str) -> str:
    """A bare identifier with `prefix`; an identifier with a prefix keeps it."""
    text = text.strip()
    return curie(text if not text or ":" in text or not prefix else f"{prefix}:{text}")


def contract(address: str, namespaces: Mapping[str, str] | None = None) -> str:
    """The CURIE of a web address; `namespaces` (beginning -> prefix) are those declared in its file.

    Any other address is returned unchanged: it is unambiguous, if long.
    """
    if address.startswith(OBO) and (found := _OBO_ID.fullmatch(address[len(OBO) :])):
        return curie(f"{found[1]}:{found[2]}")
    if found := _IDENTIFIERS.fullmatch(address):
        return curie(f"{found[1]}:{found[2]}")
    known = {**(namespaces or {}), **NAMESPACES}
    fitting = [start for start in known if address.startswith(start) and len(address) > len(start)]
    if not fitting:
        return address
    start = max(fitting, key=len)
    return curie(f"{known[start]}:{address[len(start) :]}") if known[start] else address


def medic_id(text: str) -> str:
    """An id of CTD's merged disease vocabulary: digits are OMIM's, D and C numbers are MeSH's."""
    if ":" in text:
        return curie(text)
    return f"OMIM:{text}" if _NUMBER.fullmatch(text) else f"MESH:{text}"


# PMIDs as people paste them: in a column or separated by commas, with or without `PMID:`.

_BEFORE = re.compile(r"\bPMIDs?\b\s*[:=-]?", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;|]+")
_PMID = re.compile(r"0*([1-9][0-9]{0,8})", re.ASCII)
SHOWN = 5


def pmids_in(text: str) -> tuple[str, ...]:
    """Each PMID once, in order, without leading zeros; lines that begin with `#` are comments.

    Raises UserError with text and line of anything that is not a PMID.
    """
    found, wrong = dict[str, None](), list[str]()
    for number, line in enumerate(text.removeprefix("\ufeff").split("\n"), 1):
        if line.lstrip().startswith("#"):
            continue
        for word in _BETWEEN.split(_BEFORE.sub(" ", line)):
            match = _PMID.fullmatch(word)
            if match is not None:
                found[match[1]] = None
            elif word:
                wrong.append(tr("“{word}” in line {line}", word=word[:40], line=number))
    if wrong:
        shown = ", ".join(wrong[:SHOWN]) + (" …" if len(wrong) > SHOWN else "")
        raise UserError(
            tr("{count:,} of these are not PMIDs (a PMID is a number): {shown}.", count=len(wrong), shown=shown)
        )
    return tuple(found)


def listed(pmids: Iterable[str], most: int) -> str:
    """For a sentence: the first `most` of them, and the number of the others."""
    every = list(pmids)
    words = ", ".join(every[:most])
    return words if len(every) <= most else tr("{pmids} and {count:,} more", pmids=words, count=len(every) - most)


# The forms of identifiers in registries, to check one that the knowledge base lacks before it is used. The patterns are
# published by the registries and listed by identifiers.org and Bioregistry; each matches the local part, after the
# prefix. The examples are real identifiers.

MORE = 12
"""The most prefixes listed in an error."""


@dataclass(frozen=True, slots=True)
class Registry:
    """`pattern` matches the whole local part of an identifier; `example` is one, with its prefix."""

    name: str
    pattern: str
    example: str

    def has(self, local: str) -> bool:
        """Whether a local part has this registry's form."""
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
"""Prefix, in the spelling used here -> its registry."""


def is_identifier(text: str) -> bool:
    """Whether it is an identifier of a known registry in the registry's form."""
    prefix, _, local = _as_curie(text).partition(":")
    return prefix in REGISTRIES and REGISTRIES[prefix].has(local)


def miswritten(text: str) -> str:
    """Why it is not a valid identifier, if it begins with the prefix of a known registry and a digit; else ''."""
    prefix, _, local = _as_curie(text).partition(":")
    if prefix not in REGISTRIES or not any(one.isdigit() for one in local) or REGISTRIES[prefix].has(local):
        return ""
    return _not_so_written(f"{prefix}:{local}", REGISTRIES[prefix])


def registry_of(identifier: str) -> Registry:
    """The registry of a checked identifier."""
    return REGISTRIES[identifier.partition(":")[0]]


def checked_identifier(text: str) -> str:
    """The identifier with its prefix in the usual spelling; a registry's web address is accepted, too.

    Raises UserError without a prefix, for an unknown prefix, and if the registry's identifiers have another form.
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
        raise UserError(_not_so_written(found, REGISTRIES[prefix]))
    return found


def _not_so_written(found: str, registry: Registry) -> str:
    return tr(
        "“{found}” is not written as {registry} writes its identifiers, for example {example}. Check it.",
        found=found,
        registry=registry.name,
        example=registry.example,
    )


def _as_curie(text: str) -> str:
    text = text.strip()
    found = contract(text) if "://" in text else curie(text)
    prefix, _, local = found.partition(":")
    usual = next((one for one in REGISTRIES if one.casefold() == prefix.casefold()), prefix)
    return f"{usual}:{local.strip()}" if local else found
