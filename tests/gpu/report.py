"""All figures as Markdown: the machine, the checks, the stage over names, the trained parts, and what was left."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tests.gpu.full_card import ACTS
from tests.gpu.names_alone import ASIDE, SLICES
from tests.gpu.plan import ALPHAS, FULL, MARGINS, NEIGHBOURS, PEL, SPREAD, STOCK, TRIED, UNTRAINED, VECTORS
from tests.gpu.steps import ENCODED, TRAINED, Results
from training.evaluation.resampling import DocumentBootstrap, Estimate, Figure, ratio

Run = Mapping[str, Any]
Row = Sequence[object]
MACHINE = ("device", "python", "torch", "cuda", "transformers", "faiss", "scikit-learn", "numpy", "tf32", "small")


def report(results: Results, manifest: Mapping[str, Any] | None = None) -> str:
    """The whole page."""
    parts = ["# On a GPU", _machine(results, manifest), *_checks(results), *_names(results), *_parts(results)]
    return "\n\n".join([*parts, *_steps(results)]) + "\n"


def _machine(results: Results, manifest: Mapping[str, Any] | None) -> str:
    """One line for each way in which steps were run."""
    ways = dict.fromkeys(
        "; ".join(f"{key} {one[key]}" for key in MACHINE if one.get(key) not in (None, ""))
        for one in results.done.values()
    )
    packed = "" if not manifest else "".join(f"\n* packed: {key}: {value}" for key, value in manifest["facts"].items())
    return "\n".join(f"* {way}" for way in ways) + packed


def _checks(results: Results) -> Iterator[str]:
    if VECTORS in results.done:
        found = results.figures(VECTORS)
        head = ("on the device", "smallest cosine", "mean cosine", "largest difference", "same nearest name")
        keys = ("smallest_cosine", "mean_cosine", "largest_difference", "same_nearest")
        yield f"## Vectors against the processor's in float32 ({found['names']:,} names)\n\n" + _by(found, head, keys)
    if NEIGHBOURS in results.done:
        found = results.figures(NEIGHBOURS)
        title = f"{found['queries']:,} queries in {found['vectors']:,} vectors, {found['neighbours']} neighbours"
        head = ("way", "equally near", "largest difference", "queries a second")
        keys = ("equally_near", "largest_difference", "queries_a_second")
        notes = "".join(f"\n\n{note}" for note in found["notes"])
        yield f"## Search ({title})\n\n" + _by({"formats": found["ways"]}, head, keys) + notes
    if ENCODED in results.done:
        found = results.figures(ENCODED)
        head = ("encoding", "names a second", "texts of 128 tokens a second")
        yield "## Throughput\n\n" + _by(found, head, ("names_a_second", "texts_a_second"))
    if FULL in results.done:
        yield _full(results.figures(FULL))
    if TRAINED in results.done:
        found = results.figures(TRAINED)
        head = ("training of the names' encoder", "texts a second", "steps a second", "last loss")
        yield _by(found, head, ("texts_a_second", "steps_a_second", "last_loss"))


def _full(found: Run) -> str:
    rows = [[level, *(_act(acts[name]) for name in ACTS)] for level, acts in found["levels"].items()]
    return "## A card that other programs fill\n\n" + _table(["MiB free", *ACTS], rows)


def _act(ended: Run) -> str:
    """What came of it, and how often a batch was halved; a bug in capitals."""
    if "bug" in ended:
        return f"BUG: {ended['bug']}"
    words = ended.get("told") or "; ".join(
        f"{key.replace('_', ' ')} {value}" for key, value in ended["figures"].items()
    )
    return f"{words} (halved {ended['halved']} times)" if ended["halved"] else words


def _names(results: Results) -> Iterator[str]:
    known = [name for name in TRIED if name in results.done]
    if not known:
        return
    head = ["the nearest name is right, %"]
    head += [f"{one} ({results.figures(known[0])[one]['n']:,})" for one in SLICES]
    rows: list[Row] = []
    for name in known:
        own = results.figures(name)
        rows.append([name, *(_name_cell(own, results, one, base=name != STOCK) for one in SLICES)])
    said = (
        "In brackets the difference from the stock encoder with its 95 % interval over documents. "
        f"“{ASIDE}” are strings of train, by which the encoder was chosen that the trained parts start from."
    )
    yield "## The stage over names by itself\n\n" + _table(head, rows) + f"\n\n{said}"


def _name_cell(own: Run, results: Results, part: str, *, base: bool) -> str:
    value = own[part]["right"]
    if value is None:
        return "–"
    if not base or STOCK not in results.done:
        return f"{100 * value:.1f}"
    other = results.figures(STOCK)[part]
    return f"{100 * value:.1f} ({_difference([own[part]['hits']], [other['hits']], own[part]['sizes'])})"


def _parts(results: Results) -> Iterator[str]:
    groups = _groups(results)
    if not groups:
        return
    head = ["part", "seeds", "from", "steps", "s", "held-out r@1 before → after", "recall@1", "recall@64", "NIL auPR"]
    rows: list[Row] = []
    if UNTRAINED in results.done:
        found = results.figures(UNTRAINED)
        rows.append([UNTRAINED, "–", "–", "–", "–", "–", *(_recall([found], k) for k in (1, 64)), "–"])
    rows += [_part_row(name, seeds, own) for name, (seeds, own) in groups.items()]
    yield "## Trained parts by themselves, on the development set\n\n" + _table(head, rows)
    if SPREAD in results.done:
        spread = results.figures(SPREAD)
        yield f"One spread is {spread['plain']:g} of the distance, {spread['squared']:g} of the squared distance."
    questions = [row for row in (_question(groups, *one) for one in _asked()) if row]
    if questions:
        head = ["question", "k", "better", "worse", "difference in points"]
        yield "## Questions\n\n" + _table(head, questions)


def _groups(results: Results) -> dict[str, tuple[str, list[Run]]]:
    """name without seed → seeds and figures, in the order in which they were run."""
    found: dict[str, tuple[list[str], list[Run]]] = {}
    for name, one in results.done.items():
        title, mark, seed = name.rpartition(", seed ")
        if mark:
            seeds, own = found.setdefault(title, ([], []))
            seeds.append(seed)
            own.append(one["figures"])
    return {title: (", ".join(seeds), own) for title, (seeds, own) in found.items()}


def _part_row(name: str, seeds: str, own: Sequence[Run]) -> Row:
    held = own[0]["held_out"]
    aupr = [one["nil_aupr"] for one in own if one.get("nil_aupr") is not None]
    return [
        name,
        seeds,
        ", ".join(dict.fromkeys(str(one["from"]).split(": ")[-1] for one in own)),
        own[0]["run"]["steps"],
        f"{np.mean([one['run']['seconds'] for one in own]):.0f}",
        f"{100 * held['before_at_1']:.1f} → {100 * float(np.mean([one['held_out']['after_at_1'] for one in own])):.1f}",
        *(_recall(own, k) for k in (1, 64)),
        f"{100 * float(np.mean(aupr)):.1f}" if aupr else "–",
    ]


def _recall(own: Sequence[Run], k: int) -> str:
    figure = _share([one[f"hits_{k}"] for one in own])
    found = _bootstrap(own[0]["sizes"]).estimates({"": figure})[""]
    return f"{100 * float(found.value or 0.0):.1f}{_interval(found)}"


def _asked() -> Iterator[tuple[str, int, str, str]]:
    """Question, k, what should be better, than what."""
    for recipe in ("pel-ce", "pel-pb"):
        yield f"Mixed against random negatives, {recipe}", 1, f"{recipe} mixed", f"{recipe} random"
    for negatives in dict.fromkeys(negatives for _, negatives in PEL.values()):
        yield f"Proxy loss against cross-entropy, {negatives}", 1, f"pel-pb {negatives}", f"pel-ce {negatives}"
    for units in MARGINS:
        where = f"margin {units:g} spreads"
        yield (
            f"Prototypes against down-sampled triplets, {where}",
            1,
            f"prototype, {where}",
            f"triplet-downsampled, {where}",
        )
    first, *_, last = ALPHAS
    for k in (1, 64):
        yield "Adaptive mixup against hardly any", k, f"amh-dual, α {first:g}", f"amh-dual, α {last:g}"


def _question(
    groups: Mapping[str, tuple[str, list[Run]]], text: str, k: int, better: str, worse: str
) -> list[object] | None:
    if better not in groups or worse not in groups:
        return None
    this, other = groups[better][1], groups[worse][1]
    hits = ([one[f"hits_{k}"] for one in side] for side in (this, other))
    return [text, k, better, worse, _difference(*hits, this[0]["sizes"])]


def _steps(results: Results) -> Iterator[str]:
    rows = [
        [name, f"{one['seconds']:.1f}", one["seed"] if one["seed"] is not None else "–"]
        for name, one in results.done.items()
    ]
    yield "## Steps\n\n" + _table(["step", "s", "seed"], rows)
    for title, found in (("Left", results.left), ("Failed", {k: v.splitlines()[0] for k, v in results.failed.items()})):
        if found:
            yield f"## {title}\n\n" + "\n".join(f"* {name}: {reason}" for name, reason in found.items())


def _share(hits: Sequence[str]) -> Figure:
    """Of several seeds the mean of each mention."""
    found = np.mean([np.frombuffer(one.encode(), dtype=np.uint8) == ord("1") for one in hits], axis=0)
    return ratio(found, np.ones(len(found)))


def _difference(this: Sequence[str], other: Sequence[str], sizes: Sequence[int]) -> str:
    found = _bootstrap(sizes).differences({"": _share(this)}, {"": _share(other)})[""].difference
    return f"{100 * float(found.value or 0.0):+.1f}{_interval(found, sign='+')}"


def _interval(found: Estimate, *, sign: str = "") -> str:
    if found.low is None or found.high is None:
        return ""
    return f", {100 * found.low:{sign}.1f} to {100 * found.high:{sign}.1f}"


def _bootstrap(sizes: Sequence[int]) -> DocumentBootstrap:
    return DocumentBootstrap(np.repeat(np.arange(len(sizes), dtype=np.int64), sizes))


def _by(found: Run, head: Row, keys: Sequence[str]) -> str:
    return _table(head, [[name, *(one[key] for key in keys)] for name, one in found["formats"].items()])


def _table(head: Row, rows: Sequence[Row]) -> str:
    lines = ["| " + " | ".join("–" if one is None else str(one) for one in row) + " |" for row in (head, *rows)]
    return "\n".join([lines[0], "|" + "---|" * len(head), *lines[1:]])
