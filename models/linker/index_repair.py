"""Damaged files of a bundle found and built again.

Sizes are compared whenever a bundle is opened, hashes in the background (``BundleCheck``). What was computed from the
knowledge base and the encoders is computed again, names from the embedding cache: indexes and a ranker's entities.
The knowledge base, encoders and weights themselves cannot be.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from models.core import KB_FILE, Device, KnowledgeBase, choose_device, open_kb, sha256_file, write_json, writing
from models.errors import ModelError, say
from models.linker.build import build_names, lexical_list, names_source
from models.linker.bundle import MANIFEST, Bundle, FileInfo, RetrieverSpec, manifest_to_json, open_bundle
from models.linker.linker import Linker
from models.linker.stages import StageLoader
from models.names import LEXICAL, NAMES, build_lists
from models.rankers import HEADER_FILE, VECTORS_FILE, RankerSettings, build_ranker_entities
from models.retrievers import FILE as PROJECTION_FILE
from models.retrievers import Biencoder, BiencoderSettings, Scorer, build_entity_index, build_som_index, load_projection
from models.types import Progress
from models.vectors import IndexKind, read_header

log = logging.getLogger(__name__)


def damaged_files(bundle: Bundle, *, full: bool) -> tuple[str, ...]:
    """Files of the manifest that are missing or of another size, or, if ``full``, of another hash."""
    return tuple(name for name, info in bundle.manifest.files.items() if _differs(bundle.file(name), info, full=full))


def repair(bundle: Bundle, damaged: Sequence[str], *, device: str | Device = "auto", cache: Path | None = None) -> None:
    """Build the indexes again that the damaged files belong to, in place, each file atomically; ``cache`` is the
    embedding cache's root (None: the usual one).

    Raises ModelError, before anything is written, where a damaged file cannot be computed.
    """
    place = choose_device(device) if isinstance(device, str) else device
    retrievers, ranker = _parts(bundle, damaged)
    with writing(bundle.path):
        kb = open_kb(bundle.file(KB_FILE))
        loader = StageLoader(bundle, place)
        folders = [spec.folder for spec in retrievers]
        for spec in retrievers:
            for step in _rebuild(bundle, spec, kb, loader, cache):
                log.info("%s: %s of %s", step.stage, step.done, step.total)
        if ranker:
            folders += [f"{bundle.manifest.ranker.folder}/{name}" for name in (VECTORS_FILE, HEADER_FILE)]  # type: ignore[union-attr]
            for step in _rebuild_ranker(bundle, kb, loader):
                log.info("%s: %s of %s", step.stage, step.done, step.total)
        _record(bundle, folders)


def load_intact(path: Path | str, *, device: str = "auto", cache: Path | None = None) -> tuple[Linker, tuple[str, ...]]:
    """``Linker.load``, after building again what is damaged in the bundle; and the files that were.

    Raises ModelError as ``Linker.load`` does where the bundle cannot be opened nor repaired.
    """
    try:
        return Linker.load(path, device=device), ()
    except ModelError as error:
        bundle = open_bundle(path, verify="manifest")
        damaged = damaged_files(bundle, full=False) or damaged_files(bundle, full=True)
        if not damaged:
            raise
        log.warning("%s Damaged: %s. They are built again.", error, ", ".join(damaged))
    repair(bundle, damaged, device=device, cache=cache)
    return Linker.load(path, device=device), damaged


class BundleCheck:
    """Hashes all files of a bundle in a thread of its own; ``on_damage`` is called there with those that differ."""

    def __init__(self, bundle: Bundle, *, on_damage: Callable[[tuple[str, ...]], None]) -> None:
        self.bundle = bundle
        self.damaged: tuple[str, ...] = ()
        self._on_damage = on_damage
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="bundle check", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """No more files are read; ``on_damage`` is not called unless it has been already."""
        self._stopped.set()

    def wait(self) -> tuple[str, ...]:
        """The damaged files, when all have been read."""
        self._thread.join()
        return self.damaged

    def _run(self) -> None:
        try:
            found = []
            for name, info in self.bundle.manifest.files.items():
                if self._stopped.is_set():
                    return
                if _differs(self.bundle.file(name), info, full=True):
                    found.append(name)
            self.damaged = tuple(found)
            if self.damaged and not self._stopped.is_set():
                self._on_damage(self.damaged)
        except Exception:  # thread boundary: the linker in use stays in use
            log.exception("The files of %s could not be checked or repaired.", self.bundle.path)


def _differs(path: Path, info: FileInfo, *, full: bool) -> bool:
    try:
        return path.stat().st_size != info.size or (full and sha256_file(path) != info.sha256)
    except OSError:
        return True


def _parts(bundle: Bundle, damaged: Sequence[str]) -> tuple[list[RetrieverSpec], bool]:
    """The retrievers to build again, and whether the ranker's entities are to be."""
    manifest = bundle.manifest
    retrievers = [r for r in manifest.retrievers if any(_inside(name, r.folder) for name in damaged)]
    entities = manifest.ranker is not None and manifest.ranker.kind == "dual"
    vectors = {f"{manifest.ranker.folder}/{name}" for name in (VECTORS_FILE, HEADER_FILE)} if manifest.ranker else set()
    learnt = {f"{r.folder}/{PROJECTION_FILE}" for r in retrievers}
    lost = [name for name in damaged if name in learnt or not any(_inside(name, r.folder) for r in retrievers)]
    if hopeless := [name for name in lost if not (entities and name in vectors)]:
        raise ModelError(
            say(
                "The linker {path} is damaged, and {hopeless} cannot be recomputed. Roll back to "
                "another linker, or rebuild the linker from the knowledge base.",
                path=bundle.path,
                hopeless=", ".join(hopeless),
            )
        )
    return retrievers, bool(lost)


def _rebuild(
    bundle: Bundle, spec: RetrieverSpec, kb: KnowledgeBase, loader: StageLoader, cache: Path | None
) -> Iterator[Progress]:
    folder = bundle.file(spec.folder)
    if spec.kind == LEXICAL:
        yield from build_lists(kb.names, folder, lexical_list(spec))
    elif spec.kind == NAMES:
        kind = _known_kind(folder)
        encoder = loader.encoder(spec.encoders[0])
        yield from build_names(kb, bundle.path, encoder, cache, source=names_source(bundle, spec), kind=kind)
    else:
        mention, entity = (loader.encoder(ref) for ref in (spec.encoders[0], spec.encoders[-1]))
        settings = BiencoderSettings.from_json(spec.settings)
        projection = load_projection(folder, dimension=entity.dimension) if settings.projected else None
        towers = Biencoder(mention, entity, settings, projection)
        build = build_som_index if towers.settings.scorer is Scorer.SOM else build_entity_index
        yield from build(towers, kb, folder, kb_hash=bundle.manifest.kb_hash)


def _rebuild_ranker(bundle: Bundle, kb: KnowledgeBase, loader: StageLoader) -> Iterator[Progress]:
    spec = bundle.manifest.ranker
    assert spec is not None
    settings = RankerSettings.from_json(spec.settings)
    encoder = loader.encoder(spec.encoders[-1])
    folder = bundle.file(spec.folder)
    yield from build_ranker_entities(encoder, kb, folder, settings=settings, kb_hash=bundle.manifest.kb_hash)


def _known_kind(folder: Path) -> IndexKind | None:
    """The kind of the index, if its header still gives it; otherwise it is chosen again."""
    for header in folder.glob("*.faiss.json"):
        try:
            return read_header(header.with_suffix("")).plan.kind
        except ModelError:
            continue
    return None


def _record(bundle: Bundle, folders: Sequence[str]) -> None:
    """Write the manifest with sizes and hashes of what was built again."""
    kept = {n: info for n, info in bundle.manifest.files.items() if not any(_inside(n, folder) for folder in folders)}
    for folder in folders:
        path = bundle.file(folder)
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and not file.name.startswith("."):
                name = file.relative_to(bundle.path).as_posix()
                kept[name] = FileInfo(file.stat().st_size, sha256_file(file))
    write_json(bundle.path / MANIFEST, manifest_to_json(bundle.manifest.replace(files=kept)))


def _inside(name: str, folder: str) -> bool:
    return name == folder or name.startswith(f"{folder}/")
