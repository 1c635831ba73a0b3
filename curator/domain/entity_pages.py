"""The page of an entity at its source: an address for each prefix of identifiers.

A pattern is an address with `{id}` where the identifier goes, without its prefix. The forms are those that the
registries themselves use for links to their records; `source` names the place of use.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from curator.domain.curies import OBO, usual_prefix
from curator.domain.entities import is_new
from curator.domain.wording import UserError, tr

PLACE = "{id}"
BARE = "*"
"""Stands for the prefix of identifiers that have none."""
NO_PREFIX = (
    "“{id}” has no prefix that says where it comes from. For identifiers without a prefix, add a line with * and an "
    "address to “Pages of entities” in the settings."
)
NO_PATTERN = (
    "No address is known for identifiers that begin with {prefix}. Add a line such as “{prefix} "
    "https://example.org/{place}” to “Pages of entities” in the settings."
)
MADE_HERE = "{id} is a new entity, made in this project: no registry has a page of it yet."
NO_PLACE = "The address for {prefix} has no {place}, the place for the identifier: {pattern}"
NO_ADDRESS = "The address for {prefix} does not begin with http:// or https://: {pattern}"
NO_LINE = "Line {number}: write a prefix, a blank and an address with {place}, such as “MESH https://…/{place}”."


@dataclass(frozen=True, slots=True)
class SourcePage:
    """`registry` is its name; `source` the origin of the address's form."""

    prefix: str
    registry: str
    pattern: str
    source: str


def _obo(prefix: str, registry: str) -> SourcePage:
    return SourcePage(prefix, registry, f"{OBO}{prefix}_{PLACE}", "OBO Foundry, permanent addresses of terms")


PAGES: tuple[SourcePage, ...] = (
    SourcePage("MESH", "MeSH Browser", "https://meshb.nlm.nih.gov/record/ui?ui={id}", "NLM, links to MeSH records"),
    SourcePage("OMIM", "OMIM", "https://omim.org/entry/{id}", "OMIM, linking to entries"),
    SourcePage("UMLS", "UMLS Metathesaurus", "https://uts.nlm.nih.gov/uts/umls/concept/{id}", "NLM, UTS browser"),
    SourcePage("NCBIGene", "NCBI Gene", "https://www.ncbi.nlm.nih.gov/gene/{id}", "NCBI, links to Gene records"),
    SourcePage(
        "NCBITaxon",
        "NCBI Taxonomy",
        "https://www.ncbi.nlm.nih.gov/Taxonomy/Browser/wwwtax.cgi?id={id}",
        "NCBI, links to the Taxonomy browser",
    ),
    SourcePage("Orphanet", "Orphanet", "https://www.orpha.net/en/disease/detail/{id}", "Orphanet, pages of disorders"),
    SourcePage("CHEBI", "ChEBI", "https://www.ebi.ac.uk/chebi/searchId.do?chebiId=CHEBI:{id}", "EBI, links to ChEBI"),
    SourcePage("CHEMBL", "ChEMBL", "https://identifiers.org/chembl:{id}", "Identifiers.org, namespace chembl"),
    SourcePage("DrugBank", "DrugBank", "https://go.drugbank.com/drugs/{id}", "DrugBank, pages of drugs"),
    SourcePage("GO", "AmiGO", "https://amigo.geneontology.org/amigo/term/GO:{id}", "Gene Ontology, AmiGO's terms"),
    SourcePage("HP", "HPO", "https://hpo.jax.org/browse/term/HP:{id}", "HPO, browser of terms"),
    SourcePage("DOID", "Disease Ontology", "https://disease-ontology.org/?id=DOID:{id}", "Disease Ontology, terms"),
    SourcePage("MONDO", "Monarch Initiative", "https://monarchinitiative.org/MONDO:{id}", "Monarch, pages of diseases"),
    _obo("UBERON", "Uberon"),
    _obo("CL", "Cell Ontology"),
    _obo("PR", "Protein Ontology"),
    _obo("SO", "Sequence Ontology"),
    SourcePage(
        "HGNC",
        "HGNC",
        "https://www.genenames.org/data/gene-symbol-report/#!/hgnc_id/HGNC:{id}",
        "HGNC, gene symbol reports",
    ),
    SourcePage("UniProt", "UniProt", "https://www.uniprot.org/uniprotkb/{id}/entry", "UniProt, pages of entries"),
    SourcePage(
        "SNOMEDCT",
        "SNOMED CT Browser",
        "https://browser.ihtsdotools.org/?perspective=full&conceptId1={id}",
        "SNOMED International, browser",
    ),
    SourcePage(
        "NCIT",
        "NCI Thesaurus",
        "https://evsexplore.semantics.cancer.gov/evsexplore/concept/ncit/{id}",
        "NCI, EVS Explore",
    ),
    SourcePage("ICD10", "ICD-10", "https://icd.who.int/browse10/2019/en#/{id}", "WHO, ICD-10 browser of 2019"),
    SourcePage("EFO", "EFO", "http://www.ebi.ac.uk/efo/EFO_{id}", "EFO, addresses of its own terms"),
    SourcePage("Cellosaurus", "Cellosaurus", "https://www.cellosaurus.org/{id}", "Cellosaurus, pages of cell lines"),
    SourcePage("dbSNP", "dbSNP", "https://www.ncbi.nlm.nih.gov/snp/{id}", "NCBI, links to reference SNPs"),
    SourcePage("Wikidata", "Wikidata", "https://www.wikidata.org/wiki/{id}", "Wikidata, pages of items"),
    SourcePage("AGROVOC", "AGROVOC", "http://aims.fao.org/aos/agrovoc/{id}", "FAO, addresses of its own concepts"),
    SourcePage("EuroVoc", "EuroVoc", "http://eurovoc.europa.eu/{id}", "EU, addresses of its own concepts"),
)
"""The addresses shipped with the program."""


def shipped() -> dict[str, str]:
    """Prefix -> pattern."""
    return {one.prefix: one.pattern for one in PAGES}


def address_of(entity_id: str, own: Mapping[str, str] | None = None) -> str:
    """The address of an entity's page. `own` patterns by prefix replace the program's.

    Raises UserError for an entity made in the project, an identifier without a prefix, a prefix without a pattern and a
    pattern that is not an address or lacks `{id}`.
    """
    if is_new(entity_id):
        raise UserError(tr(MADE_HERE, id=entity_id))
    prefix, colon, local = entity_id.strip().partition(":")
    if not colon or not local:
        prefix, local = BARE, entity_id.strip()
    patterns = {usual_prefix(one).casefold(): pattern for one, pattern in {**shipped(), **(own or {})}.items()}
    usual = usual_prefix(prefix)
    pattern = patterns.get(usual.casefold())
    if pattern is None and prefix == BARE:
        raise UserError(tr(NO_PREFIX, id=entity_id))
    if pattern is None:
        raise UserError(tr(NO_PATTERN, prefix=usual, place=PLACE))
    return checked_pattern(usual, pattern).replace(PLACE, quote(local.strip(), safe=":"))


def registry_of(entity_id: str) -> str:
    """The name of the registry that an identifier is from, if it is known; otherwise its prefix, '' without one."""
    prefix, colon, _ = entity_id.partition(":")
    usual = usual_prefix(prefix) if colon else ""
    return next((one.registry for one in PAGES if one.prefix == usual), usual)


def checked_pattern(prefix: str, pattern: str) -> str:
    """The pattern itself. Raises UserError if it is not a web address or lacks `{id}`."""
    if not pattern.startswith(("http://", "https://")):
        raise UserError(tr(NO_ADDRESS, prefix=prefix, pattern=pattern))
    if PLACE not in pattern:
        raise UserError(tr(NO_PLACE, prefix=prefix, place=PLACE, pattern=pattern))
    return pattern


def pages_text(own: Mapping[str, str]) -> str:
    """Every pattern as a line for editing: the prefix, a space, the address."""
    return "\n".join(f"{prefix} {pattern}" for prefix, pattern in {**shipped(), **own}.items())


def own_pages(text: str) -> dict[str, str]:
    """The patterns, from lines in the format of `pages_text`, that differ from the program's. For a removed line the
    program's pattern is used.

    Raises UserError that names the line.
    """
    found: dict[str, str] = {}
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        prefix, _, pattern = line.strip().partition(" ")
        if not pattern.strip():
            raise UserError(tr(NO_LINE, number=number, place=PLACE))
        usual = usual_prefix(prefix.rstrip(":"))
        found[usual] = checked_pattern(usual, pattern.strip())
    known = shipped()
    return {prefix: pattern for prefix, pattern in found.items() if known.get(prefix) != pattern}


def checked_pages(value: Any) -> dict[str, str] | None:
    """Patterns by prefix, from a mapping or from lines; None for anything else. Raises UserError that names the
    pattern."""
    if isinstance(value, str):
        return own_pages(value)
    if isinstance(value, Mapping) and all(isinstance(one, str) for pair in value.items() for one in pair):
        return {prefix: checked_pattern(prefix, pattern) for prefix, pattern in value.items()}
    return None
