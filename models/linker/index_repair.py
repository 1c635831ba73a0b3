"""Finding and rebuilding damaged files of a bundle.

Sizes are compared whenever a bundle is opened; hashes of all files are compared while it is loaded, and no question is
answered before (``load_checked``). Files computed from the knowledge base and the encoders (indexes and a ranker's
entities) are computed again, names from the embedding cache. Knowledge base, encoders and weights cannot be rebuilt.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from models.core.device import Device, choose_device, gpu_memory
from models.core.file_io import sha256_file, write_json, writing
from models.core.kb import KB_FILE, KnowledgeBase
from models.core.stored_kb import open_kb
from models.errors import ModelError, say
from models.linker.build import build_names, lexical_list, names_source
from models.linker.bundle import (
    MANIFEST,
    REMEDY,
    STAGING_PREFIX,
    Bundle,
    FileInfo,
    RetrieverSpec,
    manifest_to_json,
    open_bundle,
    seal_at,
    seal_of,
)
from models.linker.linker import Linker
from models.linker.made_here import is_made_here, note_made_here
from models.linker.stages import StageLoader
from models.names.candidates import LEXICAL, NAMES
from models.names.lexical_merged import build_lists
from models.rankers.dual_ranker import HEADER_FILE, VECTORS_FILE, build_ranker_entities
from models.rankers.ranker import RankerSettings
from models.retrievers.biencoder import Biencoder, BiencoderSettings, Scorer, build_entity_index
from models.retrievers.projection import FILE as PROJECTION_FILE
from models.retrievers.projection import load_projection
from models.retrievers.som import build_som_index
from models.types import Progress
from models.vectors.index_files import read_header
from models.vectors.index_plan import IndexKind, plan_index

log = logging.getLogger(__name__)

BUNDLES = "bundles"
ELSEWHERE = (
    "Linker {bundle} was not made on this computer, so its indexes are rebuilt from its knowledge base "
    "before it is used."
)
BUILDING = "Rebuilding the indexes of linker {bundle}: {at} of {count}, {percent} %"


class DamagedBundleError(ModelError):
    """Files of a bundle are missing or altered; ``damaged`` are their names in the manifest."""

    def __init__(self, message: str, damaged: tuple[str, ...]) -> None:
        super().__init__(message)
        self.damaged = damaged


def damaged_files(bundle: Bundle, *, full: bool) -> tuple[str, ...]:
    """Files of the manifest that are missing or of another size, or, if ``full``, with another hash."""
    return _damaged_of(bundle, bundle.manifest.files, full=full)


def _damaged_of(bundle: Bundle, names: Iterable[str], *, full: bool) -> tuple[str, ...]:
    files = bundle.manifest.files
    return tuple(name for name in names if _differs(bundle.file(name), files[name], full=full))


def repair(
    bundle: Bundle,
    damaged: Sequence[str],
    *,
    device: str | Device = "auto",
    cache: Path | None = None,
    tell: Callable[[str], None] = log.info,
) -> None:
    """Rebuild the indexes of the damaged files in place, each file atomically; ``cache`` is the embedding cache's root
    (None: the usual one), ``tell`` gets a sentence about each step.

    Raises ModelError, before anything is written, if a damaged file cannot be rebuilt.
    """
    place = choose_device(device) if isinstance(device, str) else device
    retrievers, ranker = _parts(bundle, damaged)
    with writing(bundle.path):
        kb = open_kb(bundle.file(KB_FILE))
        loader = StageLoader(bundle, place)
        folders = [spec.folder for spec in retrievers]
        builds = [_rebuild(bundle, spec, kb, loader, cache) for spec in retrievers]
        if ranker:
            folders += [f"{bundle.manifest.ranker.folder}/{name}" for name in (VECTORS_FILE, HEADER_FILE)]  # type: ignore[union-attr]
            builds.append(_rebuild_ranker(bundle, kb, loader))
        for at, build in enumerate(builds, start=1):
            for step in build:
                percent = 100 * step.done // max(step.total, 1)
                tell(say(BUILDING, bundle=bundle.manifest.id, at=at, count=len(builds), percent=percent))
        _record(bundle, folders)


def load_checked(path: Path | str, *, device: str | Device = "auto") -> Linker:
    """``Linker.load`` while another thread hashes every file: no index is read before all indexes have been compared,
    and no linker is returned before all files have.

    Hashing takes less time than loading, so this takes no longer. Raises DamagedBundleError with the damaged files, or
    ModelError as ``Linker.load`` does.
    """
    bundle = open_bundle(path, verify="manifest")
    _refuse_another_name(bundle)
    check = BundleCheck(bundle)
    check.start()
    try:
        linker = Linker.load(path, device=device, before_indexes=check.wait_for_indexes)
    except Exception as error:  # libraries raise various errors for damaged files; an intact bundle's error is raised
        if damaged := check.wait():
            raise _damaged(bundle, damaged) from error
        raise
    if damaged := check.wait():
        raise _damaged(bundle, damaged)
    return linker


def load_intact(
    path: Path | str,
    *,
    device: str | Device = "auto",
    cache: Path | None = None,
    tell: Callable[[str], None] = log.info,
) -> tuple[Linker, tuple[str, ...]]:
    """``load_checked``, after rebuilding damaged files and all indexes not made on this computer; also returns the
    damaged files. ``tell`` gets sentences about the files being built.

    Raises ModelError if the bundle can neither be opened nor repaired.
    """
    bundle = open_bundle(path, verify="manifest")
    repaired: tuple[str, ...] = ()
    if not is_made_here(seal_at(bundle.path)):
        _refuse_another_name(bundle)
        tell(say(ELSEWHERE, bundle=bundle.manifest.id))
        repaired = damaged_files(bundle, full=True)
        repair(bundle, list(dict.fromkeys((*repaired, *_indexes(bundle)))), device=device, cache=cache, tell=tell)
    try:
        return load_checked(path, device=device), repaired
    except DamagedBundleError as error:
        damaged = error.damaged
        log.warning("%s They are built again.", error)
    repair(bundle, damaged, device=device, cache=cache, tell=tell)
    return load_checked(path, device=device), tuple(dict.fromkeys((*repaired, *damaged)))


class BundleCheck:
    """Hashes all files of a bundle in its own thread, indexes first: the code that reads them checks no bounds."""

    def __init__(self, bundle: Bundle) -> None:
        self.bundle = bundle
        self._compared = threading.Event()
        self._damaged: tuple[str, ...] = ()
        self._failed: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="bundle check", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def wait_for_indexes(self) -> None:
        """Raises DamagedBundleError if indexes are damaged, and what prevented the comparison."""
        self._compared.wait()
        if self._failed is not None and not self._damaged:
            raise self._failed
        if self._damaged:
            raise _damaged(self.bundle, self._damaged)

    def wait(self) -> tuple[str, ...]:
        """The damaged files, after all have been read. Raises what prevented the comparison."""
        self._thread.join()
        if self._failed is not None and not self._damaged:
            raise self._failed
        return self._damaged

    def _run(self) -> None:
        try:
            indexes = _indexes(self.bundle)
            self._damaged = _damaged_of(self.bundle, indexes, full=True)
            self._compared.set()
            others = [name for name in self.bundle.manifest.files if name not in indexes]
            self._damaged += _damaged_of(self.bundle, others, full=True)
        except Exception as error:  # raised where the result is awaited
            self._failed = error
        finally:
            self._compared.set()


def _damaged(bundle: Bundle, damaged: tuple[str, ...]) -> DamagedBundleError:
    return DamagedBundleError(
        say(
            "Files of the linker {path} are damaged: {damaged}. {remedy}",
            path=bundle.path,
            damaged=", ".join(damaged),
            remedy=say(REMEDY),
        ),
        damaged,
    )


def _refuse_another_name(bundle: Bundle) -> None:
    """Raises ModelError for another linker's manifest: its indexes would be built in this folder, with answers under
    the wrong name."""
    name = bundle.path.resolve().name
    if bundle.path.parent.name == BUNDLES and not name.startswith(STAGING_PREFIX) and name != bundle.manifest.id:
        raise ModelError(
            say(
                "The manifest of {path} is that of another linker ({id}). {remedy}",
                path=bundle.path,
                id=bundle.manifest.id,
                remedy=say(REMEDY),
            )
        )


def _indexes(bundle: Bundle) -> list[str]:
    """The files of all indexes: the retrievers' files except trained weights."""
    learnt = {f"{spec.folder}/{PROJECTION_FILE}" for spec in bundle.manifest.retrievers}
    folders = [spec.folder for spec in bundle.manifest.retrievers]
    return [name for name in bundle.manifest.files if name not in learnt and any(_inside(name, one) for one in folders)]


def _differs(path: Path, info: FileInfo, *, full: bool) -> bool:
    try:
        return path.stat().st_size != info.size or (full and sha256_file(path) != info.sha256)
    except OSError:
        return True


def _parts(bundle: Bundle, damaged: Sequence[str]) -> tuple[list[RetrieverSpec], bool]:
    """The retrievers to rebuild, and whether to rebuild the ranker's entities."""
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
        encoder = loader.encoder(spec.encoders[0])
        kind = _known_kind(folder)
        if kind is plan_index(len(kb.names), encoder.dimension, gpu_memory=gpu_memory()).kind:
            kind = None  # as chosen before, so that the file is the same
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
    """The kind of the index, if its header still states it; otherwise it is chosen again."""
    for header in folder.glob("*.faiss.json"):
        try:
            return read_header(header.with_suffix("")).plan.kind
        except ModelError:
            continue
    return None


def _record(bundle: Bundle, folders: Sequence[str]) -> None:
    """Write the manifest with sizes and hashes of the rebuilt files."""
    kept = {n: info for n, info in bundle.manifest.files.items() if not any(_inside(n, folder) for folder in folders)}
    for folder in folders:
        path = bundle.file(folder)
        for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
            if file.is_file() and not file.name.startswith("."):
                name = file.relative_to(bundle.path).as_posix()
                kept[name] = FileInfo(file.stat().st_size, sha256_file(file))
    sealed = manifest_to_json(bundle.manifest.replace(files=kept))
    write_json(bundle.path / MANIFEST, sealed)
    note_made_here(seal_of(sealed))


def _inside(name: str, folder: str) -> bool:
    return name == folder or name.startswith(f"{folder}/")
