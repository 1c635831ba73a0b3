"""Loading the stages of a bundle, the parts of a ``Linker``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from models.core.device import Device
from models.core.kb import KB_FILE, KnowledgeBase
from models.core.stored_kb import open_kb
from models.encoders.encoders import Encoder, load_encoder
from models.errors import ModelError, say
from models.linker.build import NAMES_INDEX, lexical_list, names_source
from models.linker.bundle import REMEDY, Bundle, EncoderRef, RankerSpec, RetrieverSpec
from models.names.candidates import LEXICAL, NAMES, NameCandidates, NameStage
from models.names.lexical import LexicalRetriever, TfIdf
from models.names.lexical_merged import LexicalList, WordRetriever, load_words
from models.names.names import NamesRetriever
from models.rankers.cross_encoder import load_cross_encoder
from models.rankers.dual_ranker import DualRanker, load_ranker_entities
from models.rankers.ranker import Ranker, RankerSettings, RankerTally, RerankRule
from models.retrievers.biencoder import (
    INDEX_FILE,
    Biencoder,
    BiencoderRetriever,
    BiencoderSettings,
    Scorer,
    TrainedRetriever,
    index_source,
)
from models.retrievers.fusion import RELATIVE
from models.retrievers.projection import load_projection
from models.retrievers.som import load_som
from models.vectors.index import VectorIndex

MERGED = "“{name}” also searches by words: tf-idf over {terms:,} words, merged by rank with the matches by letters."
BM25 = "“{name}” searches by words only: BM25 over {terms:,} words."


@dataclass(frozen=True, slots=True, eq=False)
class Stages:
    """Everything loaded: untrained name stages, trained retrievers, the ranker, and a sentence about each."""

    kb: KnowledgeBase
    names: NameCandidates
    trained: tuple[TrainedRetriever, ...]
    ranker: Ranker | None
    rule: RerankRule
    scales: dict[str, str]
    sentences: tuple[str, ...]
    tally: RankerTally = field(default_factory=RankerTally)


class StageLoader:
    """Loads a bundle's parts; an encoder that several parts share is loaded once."""

    def __init__(self, bundle: Bundle, device: Device) -> None:
        self.bundle = bundle
        self.device = device
        self._encoders: dict[EncoderRef, Encoder] = {}

    def load(self, before_indexes: Callable[[], None] = lambda: None) -> Stages:
        """`before_indexes` is called once the knowledge base is loaded, before any index is read."""
        manifest = self.bundle.manifest
        kb = open_kb(self.bundle.file(KB_FILE))
        if (len(kb.entities), len(kb.names)) != (manifest.kb_entities, manifest.kb_names):
            raise ModelError(
                say(
                    "The knowledge base of {path} does not match its manifest. {remedy}",
                    path=self.bundle.path,
                    remedy=say(REMEDY),
                )
            )
        kb.prepare()
        before_indexes()
        sentences: list[str] = []
        untrained: dict[str, NameStage] = {}
        trained = []
        for spec in manifest.retrievers:
            if spec.kind == LEXICAL:
                untrained[LEXICAL] = self._lexical(spec, len(kb.names), sentences)
            elif spec.kind == NAMES:
                untrained[NAMES] = self._names(spec, len(kb.names), sentences)
            elif spec.kind == "biencoder":
                trained.append(self._biencoder(spec, len(kb.entities), sentences))
            else:
                raise ModelError(
                    say(
                        "{path} has a retriever of the unknown kind {kind!r}. {remedy}",
                        path=self.bundle.path,
                        kind=spec.kind,
                        remedy=say(REMEDY),
                    )
                )
        if not untrained:
            raise ModelError(
                say("{path} has no retriever for names. {remedy}", path=self.bundle.path, remedy=say(REMEDY))
            )
        defined = kb.has_definition
        ranker, rule = self._ranker(manifest.ranker, kb, sentences) if manifest.ranker else (None, RerankRule())
        return Stages(
            kb,
            NameCandidates(kb, untrained, defined),
            tuple(trained),
            ranker,
            rule,
            {r.name: r.scale for r in trained} | {"ranker": RELATIVE},
            tuple(sentences),
        )

    @property
    def _on_gpu(self) -> bool:
        return self.device.torch.type == "cuda"

    def encoder(self, ref: EncoderRef) -> Encoder:
        """The encoder; raises ModelError if it is not the one the bundle was made with."""
        if ref not in self._encoders:
            folder = self.bundle.encoder_folder(ref)
            loaded = load_encoder(folder, device=self.device, max_tokens=ref.max_tokens, trainable=False)
            if loaded.fingerprint != ref.fingerprint:
                raise ModelError(
                    say(
                        "The encoder {folder} is not the one that the linker {path} uses. {remedy}",
                        folder=loaded.folder,
                        path=self.bundle.path,
                        remedy=say(REMEDY),
                    )
                )
            self._encoders[ref] = loaded
        return self._encoders[ref]

    def _lexical(self, spec: RetrieverSpec, names: int, sentences: list[str]) -> NameStage:
        folder, kind = self.bundle.file(spec.folder), lexical_list(spec)
        tfidf = TfIdf.load(folder)
        self._check_names(tfidf.shape[0], names)
        sentences.append(
            say(
                "“{name}” compares letters: tf-idf over {shape:,} character n-grams.",
                name=spec.name,
                shape=tfidf.shape[1],
            )
        )
        chars = LexicalRetriever(tfidf)
        if kind is LexicalList.CHARACTERS:
            return chars
        words = load_words(folder, kind)
        self._check_names(words.shape[0], names)
        terms = words.shape[1]
        sentences.append(say(MERGED if kind is LexicalList.MERGED else BM25, name=spec.name, terms=terms))
        return WordRetriever(chars, LexicalRetriever(words), names, merged=kind is LexicalList.MERGED)

    def _check_names(self, found: int, wanted: int) -> None:
        if found != wanted:
            raise ModelError(
                say(
                    "The lexical index of {path} belongs to another knowledge base. {remedy}",
                    path=self.bundle.path,
                    remedy=say(REMEDY),
                )
            )

    def _names(self, spec: RetrieverSpec, names: int, sentences: list[str]) -> NamesRetriever:
        encoder = self.encoder(spec.encoders[0])
        path = self.bundle.file(spec.folder) / NAMES_INDEX
        index = VectorIndex.load(path, rows=names, source=names_source(self.bundle, spec))
        where = index.to_gpu(wanted=self._on_gpu)
        sentences.append(say("“{name}” compares names by meaning. {to_gpu}", name=spec.name, to_gpu=where))
        return NamesRetriever(encoder, index)

    def _biencoder(self, spec: RetrieverSpec, entities: int, sentences: list[str]) -> TrainedRetriever:
        mention, entity = (self.encoder(ref) for ref in (spec.encoders[0], spec.encoders[-1]))
        folder, settings = self.bundle.file(spec.folder), BiencoderSettings.from_json(spec.settings)
        projection = load_projection(folder, dimension=entity.dimension) if settings.projected else None
        towers = Biencoder(mention, entity, settings, projection)
        source = index_source(self.bundle.manifest.kb_hash, entity.fingerprint, projection)
        retriever: TrainedRetriever
        if towers.settings.scorer is Scorer.SOM:
            retriever = load_som(spec.name, towers, folder, entities=entities, source=source, on_gpu=self._on_gpu)
        else:
            index = VectorIndex.load(folder / INDEX_FILE, rows=entities, source=source)
            index.to_gpu(wanted=self._on_gpu)
            retriever = BiencoderRetriever(spec.name, towers, index)
        sentences.append(retriever.sentence())
        return retriever

    def _ranker(self, spec: RankerSpec, kb: KnowledgeBase, sentences: list[str]) -> tuple[Ranker, RerankRule]:
        rule = RerankRule.from_json(spec.top_k, spec.settings)
        if spec.kind not in ("dual", "cross"):
            raise ModelError(
                say(
                    "{path} has a ranker of the unknown kind {kind!r}. {remedy}",
                    path=self.bundle.path,
                    kind=spec.kind,
                    remedy=say(REMEDY),
                )
            )
        if not spec.encoders:
            raise ModelError(
                say(
                    "The ranker of {path} does not name an encoder. {remedy}", path=self.bundle.path, remedy=say(REMEDY)
                )
            )
        folder, settings = self.bundle.file(spec.folder), RankerSettings.from_json(spec.settings)
        sentences.append(rule.sentence(spec.name))
        first, last = spec.encoders[0], spec.encoders[-1]
        if spec.kind == "cross":
            return load_cross_encoder(spec.name, self.encoder(first), folder, settings=settings, kb=kb), rule
        vectors = load_ranker_entities(folder, source=index_source(self.bundle.manifest.kb_hash, last.fingerprint))
        return DualRanker(spec.name, self.encoder(first), settings, vectors, self.encoder(last)), rule
