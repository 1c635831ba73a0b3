"""Identifiers as CURIEs, after the conventions of Bioregistry: `MESH:D008012`, `OMIM:104300`, `UMLS:C0002395`.

A small table replaces the `curies` and `bioregistry` packages: the program knows these namespaces offline, and all
others keep the prefix in their file. Bioregistry writes prefixes in lower case. The spelling here is that of corpora
and knowledge bases, and look-up ignores case.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

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
"""Prefix in lower case -> as it is written here."""

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
"""Beginning of an address -> prefix. Those of OBO's own form, `…/obo/DOID_4`, need no line."""

_IDENTIFIERS = re.compile(r"https?://(?:identifiers\.org|bioregistry\.io)/([A-Za-z0-9_.]+)[:/](.+)", re.DOTALL)
_OBO_ID = re.compile(r"([A-Za-z][A-Za-z0-9.]*)_([^/#?]+)")
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
    """A bare identifier with `prefix`; one that has a prefix of its own keeps it."""
    text = text.strip()
    return curie(text if not text or ":" in text or not prefix else f"{prefix}:{text}")


def contract(address: str, namespaces: Mapping[str, str] | None = None) -> str:
    """The CURIE of a web address; with `namespaces` (beginning -> prefix) those that its file declares.

    An address of none of them is given back as it is: it is unambiguous, if long.
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


# PMIDs as people hand them over: a column, a line with commas, with `PMID:` before them or not.

_BEFORE = re.compile(r"\bPMIDs?\b\s*[:=-]?", re.IGNORECASE)
_BETWEEN = re.compile(r"[\s,;|]+")
_PMID = re.compile(r"0*([1-9][0-9]{0,8})", re.ASCII)
SHOWN = 5


def pmids_in(text: str) -> tuple[str, ...]:
    """Each once, in their order, without leading zeros; lines that begin with `#` are notes.

    Raises UserError that names what is no PMID, with its line.
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
            tr("{count:,} of these are no PMIDs, which are numbers: {shown}.", count=len(wrong), shown=shown)
        )
    return tuple(found)


def listed(pmids: Iterable[str], most: int) -> str:
    """For a sentence: the first `most` of them, and how many more there are."""
    every = list(pmids)
    words = ", ".join(every[:most])
    return words if len(every) <= most else tr("{pmids} and {count:,} more", pmids=words, count=len(every) - most)
