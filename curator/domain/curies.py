"""Identifiers as CURIEs, after the conventions of Bioregistry: `MESH:D008012`, `OMIM:104300`, `UMLS:C0002395`.

A small table replaces the `curies` and `bioregistry` packages: these namespaces are known offline, and all others keep
the prefix of their file. Bioregistry writes prefixes in lower case. The spelling here is that of corpora and knowledge
bases. Whether two identifiers are the same is decided by `look_up_key` alone; they are shown and written as they were
given.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from curator.domain.wording import UserError, tr

OBO = "http://purl.obolibrary.org/obo/"


@dataclass(frozen=True, slots=True)
class Registry:
    """`pattern` matches the whole local part of an identifier; `example` is one, with its prefix.

    `aliases` are other prefixes for it, and the names that files give to its identifiers. `kinds` are the only kinds of
    entities that it has, in the words of `kind_of`; empty if it has many.
    """

    name: str
    pattern: str
    example: str
    aliases: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()

    def has(self, local: str) -> bool:
        """Whether a local part has this registry's form."""
        return re.fullmatch(self.pattern, local, re.ASCII) is not None

    def has_in_any_case(self, local: str) -> bool:
        return self.has(local) or self.has(local.upper())


GENE, ORGANISM, DISEASE, CHEMICAL, CELL, VARIANT = "gene", "organism", "disease", "chemical", "cell", "variant"

REGISTRIES: Mapping[str, Registry] = {
    "MESH": Registry(
        "Medical Subject Headings", r"[CDQ]\d{6}(\d{3})?", "MESH:D008012", ("MSH", "NCBI MeSH", "MeSH UI", "MeSH UID")
    ),
    "OMIM": Registry("OMIM", r"(PS)?\d{6}", "OMIM:104300", ("MIM", "OMIM number", "MIM number"), (DISEASE, GENE)),
    "UMLS": Registry("UMLS", r"C\d{7}", "UMLS:C0002395", ("CUI", "UMLS CUI", "UMLS concept", "UMLS Metathesaurus")),
    "NCBIGene": Registry(
        "NCBI Gene",
        r"[1-9]\d*",
        "NCBIGene:7157",
        ("Entrez", "Entrez Gene", "NCBI Entrez Gene", "NCBI Entrez", "GeneID", "NCBI GeneID", "EG", "LocusLink"),
        (GENE,),
    ),
    "NCBITaxon": Registry(
        "NCBI Taxonomy",
        r"[1-9]\d*",
        "NCBITaxon:9606",
        ("NCBI Taxonomy", "NCBI Taxon", "Taxonomy", "Taxon", "Tax", "TaxID", "NCBI TaxID", "TxID", "NCBI TxID"),
        (ORGANISM,),
    ),
    "Orphanet": Registry(
        "Orphanet", r"C?\d+", "Orphanet:558", ("ORPHA", "ORDO", "ORPHAcode", "Orphanet number"), (DISEASE, GENE)
    ),
    "CHEBI": Registry("ChEBI", r"\d+", "CHEBI:15377", (), (CHEMICAL,)),
    "CHEMBL": Registry("ChEMBL", r"CHEMBL\d+", "CHEMBL:CHEMBL25", ("ChEMBL compound",)),
    "DrugBank": Registry("DrugBank", r"DB\d{5}", "DrugBank:DB00945", (), (CHEMICAL,)),
    "GO": Registry("Gene Ontology", r"\d{7}", "GO:0006915", ("Gene Ontology",)),
    "HP": Registry("Human Phenotype Ontology", r"\d{7}", "HP:0001250", ("HPO", "Human Phenotype Ontology"), (DISEASE,)),
    "DOID": Registry("Disease Ontology", r"\d+", "DOID:4", ("DO", "Disease Ontology"), (DISEASE,)),
    "MONDO": Registry("Mondo", r"\d{7}", "MONDO:0005148", (), (DISEASE,)),
    "UBERON": Registry("Uberon", r"\d{7}", "UBERON:0000948"),
    "CL": Registry("Cell Ontology", r"\d{7}", "CL:0000236", ("Cell Ontology",), (CELL,)),
    "PR": Registry(
        "Protein Ontology", r"\d{9}|[A-Z0-9]{6,10}(-\d+)?", "PR:000000001", ("PRO", "Protein Ontology"), (GENE,)
    ),
    "SO": Registry("Sequence Ontology", r"\d{7}", "SO:0000704", ("Sequence Ontology",)),
    "EFO": Registry("Experimental Factor Ontology", r"\d{7}", "EFO:0000400", ("Experimental Factor Ontology",)),
    "HGNC": Registry("HGNC", r"\d{1,5}", "HGNC:11998", (), (GENE,)),
    "UniProt": Registry(
        "UniProt",
        r"([OPQ]\d[A-Z0-9]{3}\d|[A-NR-Z]\d([A-Z][A-Z0-9]{2}\d){1,2})(-\d+)?",
        "UniProt:P04637",
        ("UniProtKB", "UniProtKB AC", "Swiss-Prot", "UniProtKB/Swiss-Prot"),
        (GENE,),
    ),
    "SNOMEDCT": Registry(
        "SNOMED CT",
        r"[1-9]\d{5,17}",
        "SNOMEDCT:22298006",
        ("SCTID", "SCT", "SNOMED", "SNOMEDCT_US", "SNOMED CT concept"),
    ),
    "NCIT": Registry("NCI Thesaurus", r"C\d+", "NCIT:C3224", ("NCI",)),
    "ICD10": Registry("ICD-10", r"[A-Z]\d[0-9A-Z](\.[0-9A-Z]{1,4})?", "ICD10:E11.9", (), (DISEASE,)),
    "ICD9": Registry("ICD-9", r"([EV]?\d{2,3})(\.\d{1,2})?", "ICD9:250.0", (), (DISEASE,)),
    "Cellosaurus": Registry("Cellosaurus", r"CVCL_[A-Z0-9]{4}", "Cellosaurus:CVCL_0030", (), (CELL,)),
    "Wikidata": Registry("Wikidata", r"Q[1-9]\d*", "Wikidata:Q12136", ("Wikidata item",)),
    "dbSNP": Registry("dbSNP", r"rs\d+", "dbSNP:rs121434568", ("rsID", "RS"), (VARIANT,)),
    "tmVar": Registry("tmVar", r"[cgmnpr]\|[A-Za-z]+\|.+", "tmVar:p|SUB|L|858|R", (), (VARIANT,)),
}
"""Prefix, in the spelling used here -> its registry. The patterns are published by the registries and listed by
identifiers.org and Bioregistry; the examples are real identifiers."""


_KINDS: Mapping[str, str] = {
    DISEASE: "specificdisease modifier diseaseclass compositemention diseaseorphenotypicfeature disorder phenotype",
    CHEMICAL: "chemicalentity drug compound",
    ORGANISM: "organismtaxon species taxon strain genus livingbeing virus bacterium bacteria fungus fungi plant animal "
    "microorganism microbe pathogen parasite host mouse rat human",
    GENE: "geneorgeneproduct geneproduct proteincoding protein familyname domainmotif",
    CELL: "cellline celltype",
    VARIANT: "sequencevariant variation mutation dnamutation proteinmutation acidchange dnaallele proteinallele snp",
}
"""Kind -> the types of NCBI Disease, BioRED, BioC, PubTator, tmVar and NCBI Gene, and the last words of others; letters
and digits in lower case."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_KIND_OF: Mapping[str, str] = {name: kind for kind, names in _KINDS.items() for name in (kind, *names.split())}


def kind_of(type_name: str) -> str:
    """The kind of entities, as in `Registry.kinds`, that a type of mentions or entities names, in the singular or
    plural, by its last word, or by the registry that has only this kind; '' if it is not known."""
    flat, head = _flat(type_name), _head(type_name)
    registry = REGISTRIES.get(PREFIXES.get(flat, ""))
    kinds = registry.kinds if registry is not None else ()
    named = (_KIND_OF.get(one) for word in (flat, head) for one in (word, word.removesuffix("s")))
    return next(filter(None, named), kinds[0] if len(kinds) == 1 else "")


@lru_cache(maxsize=4096)
def _head(type_name: str) -> str:
    """The last word, in lower case, which says what it is: `strain` of `Mouse strain`; `species` of `SpeciesName`."""
    words = [one.casefold() for one in _WORD.findall(type_name) if one.casefold() not in ("name", "mention", "entity")]
    return words[-1] if words else ""


@lru_cache(maxsize=4096)
def _flat(word: str) -> str:
    return "".join(ch for ch in word.casefold() if ch.isalnum())


PREFIXES: Mapping[str, str] = {
    _flat(word): prefix for prefix, one in REGISTRIES.items() for word in (prefix, one.name, *one.aliases)
}
"""Every prefix and name of a registry, letters and digits in lower case -> the prefix in the spelling used here."""

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
    "https://www.ncbi.nlm.nih.gov/gene/": "NCBIGene",
    "http://purl.uniprot.org/uniprot/": "UniProt",
    "http://linkedlifedata.com/resource/umls/id/": "UMLS",
    "https://meshb.nlm.nih.gov/record/ui?ui=": "MESH",
    "https://www.ncbi.nlm.nih.gov/Taxonomy/Browser/wwwtax.cgi?id=": "NCBITaxon",
    "https://www.omim.org/entry/": "OMIM",
    "http://aims.fao.org/aos/agrovoc/": "AGROVOC",
    "http://eurovoc.europa.eu/": "EuroVoc",
}
"""Beginning of an address -> prefix. Addresses of OBO's form, `…/obo/DOID_4`, need no entry."""

_IDENTIFIERS = re.compile(r"https?://(?:identifiers\.org|bioregistry\.io)/([A-Za-z0-9_.]+)[:/](.+)", re.DOTALL)
_OBO_ID = re.compile(r"([A-Za-z][A-Za-z0-9._]*)_([^/#?_]+)")  # the last underscore divides
_SPACED_ID = re.compile(r"([A-Za-z][A-Za-z0-9 ._/-]*?)[\s#*+%^-]+(\S+)")  # `OMIM #104300`, `MESH D003920`
_JOINED_ID = re.compile(r"([A-Za-z]+)(\d+)")  # `ORPHA586`
_SHORT_NAME = 3
"""The most letters of a registry's name that may mean something else before any number, such as `DO`."""
_RELEASE = re.compile(r"(_\d{4}_\d\d_\d\d)?")  # of `SNOMEDCT_US_2023_03_01`
_OMIM_MARKS = "#*+%^ "
_ICD10_WITHOUT_DOT = re.compile(r"([A-Z]\d[0-9A-Z])([0-9A-Z]{1,4})", re.IGNORECASE | re.ASCII)
_NUMBER = re.compile(r"\d+")
_TAXON = re.compile(r"txid(\d+)", re.IGNORECASE)


def usual_prefix(prefix: str) -> str:
    """A prefix, or a registry's name, in the spelling used here; unchanged if it is not known."""
    return PREFIXES.get(_flat(prefix), prefix)


def curie(text: str) -> str:
    """An identifier with its prefix in the usual spelling: `mesh:D1` is `MESH:D1`, and `MESH:MSH:D1` too."""
    text = text.strip()
    prefix, colon, local = text.partition(":")
    if prefix.lower() == "ncbi" and (taxon := _TAXON.fullmatch(local)):  # EDAM's and Cellosaurus's `NCBI:txid9606`
        return f"NCBITaxon:{taxon[1]}"
    again, repeated, inner = local.partition(":")
    usual = usual_prefix(prefix) if colon else ""
    local = (inner if repeated and usual_prefix(again) == usual else local).strip()
    return f"{usual}:{local}" if usual in REGISTRIES and not any(map(str.isspace, local)) else text


def look_up_key(text: str) -> str:
    """The normal form of an identifier, equal for all spellings of the same: those of its registry's prefix, its web
    address or the end of it (`HP_0001250`), the name of its registry before it (`ORPHA586`, `OMIM #104300`), upper and
    lower case, compatible characters, white space."""
    text = unicodedata.normalize("NFKC", text).strip()
    whole = contract(text) if "://" in text else curie(text)
    return " ".join((whole if "://" in whole else _usual_form(whole)).casefold().split())


def _usual_form(text: str) -> str:
    """The CURIE of an identifier that names its registry in another way; unchanged if it does not."""
    prefix, colon, local = text.partition(":")
    if not colon:
        return _with_colon(text)
    prefix, local = usual_prefix(_RELEASE.sub("", prefix)), local.strip()
    registry = REGISTRIES.get(prefix)
    if registry is None:
        return _of_other_prefix(text, _flat(prefix), local)
    if prefix == "OMIM":
        local = local.lstrip(_OMIM_MARKS)
    if prefix == "ICD10" and (found := _ICD10_WITHOUT_DOT.fullmatch(local)):
        local = f"{found[1]}.{found[2]}"
    again = "" if ":" in local or registry.has_in_any_case(local) else _with_colon(local)
    return again if again.startswith(f"{prefix}:") else f"{prefix}:{local}"


def _of_other_prefix(text: str, flat: str, local: str) -> str:
    """Prefixes that are no names of a registry: a gene's number is NCBI's, and a series of OMIM has its own prefix."""
    if flat == "gene" and REGISTRIES["NCBIGene"].has(local):
        return f"NCBIGene:{local}"
    return f"OMIM:PS{local}" if flat == "omimps" and REGISTRIES["OMIM"].has(local) else text


def _with_colon(text: str) -> str:
    """The CURIE of an identifier after its registry's name, if it has the registry's form; unchanged otherwise."""
    for form in (_OBO_ID, _SPACED_ID, _JOINED_ID):
        if found := form.fullmatch(text):
            registry = REGISTRIES.get(prefix := usual_prefix(found[1]))
            if registry is None or not registry.has_in_any_case(found[2]):
                continue
            if form is _OBO_ID or len(_flat(found[1])) > _SHORT_NAME or not registry.has("1"):
                return f"{prefix}:{found[2]}"
    return text


def local_part(text: str) -> str:
    """The part of an identifier after its prefix; '' without one."""
    return "" if "://" in text else curie(text).partition(":")[2].strip()


def kinds_of(text: str) -> tuple[str, ...]:
    """The kinds of entities that the registry of an identifier has; none if there are many, or it is not known."""
    registry = REGISTRIES.get(curie(text).partition(":")[0]) if ":" in text else None
    return registry.kinds if registry is not None else ()


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


MORE = 12
"""The most prefixes listed in an error."""


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
    return f"{prefix}:{local.strip()}" if local else found
