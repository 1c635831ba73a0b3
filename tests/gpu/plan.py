"""What is done, in which order, at which size, and what each step starts from.

The trained retrievers and re-rankers start from the names' encoder that is right most often on the strings set aside
from train (`names_alone.ASIDE`); development sets choose nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from models.encoders.encoders import load_encoder
from models.linker.build import NAMES_TOKENS
from models.linker.bundle import Bundle
from tests.gpu import checks, full_card, names_alone, synonyms, trained
from tests.gpu.material import HELD_OUT, Material
from tests.gpu.steps import ENCODED, TRAINED, Result, Results, Step
from tests.gpu.synonyms import Learning
from tests.gpu.trained import Runner

VECTORS, NEIGHBOURS = "vectors", "neighbours"
STOCK, SYNONYMS, DECISIONS, BOTH = "names: stock", "names: synonyms", "names: decisions", "names: both"
UNTRAINED, SPREAD = "untrained linker", "spread"
LONGER, HALFWAY = "names: longer", "names: halfway"
STAGES = (STOCK, SYNONYMS, DECISIONS, BOTH)
TRIED = (*STAGES, LONGER, HALFWAY)
FULL = "full card"
PEL = {
    f"{recipe} {negatives}": (recipe, negatives) for recipe in ("pel-ce", "pel-pb") for negatives in ("random", "mixed")
}
SEEDS = (0, 1, 2)
MARGINS = (0.5, 1.0, 2.0)
"""In standard deviations of the distance, or of the squared distance where the loss squares it."""
ALPHAS = (0.3, 0.1, 0.01)
"""Of adaptive mixup; the paper's, and towards none."""
JOB = 45.0
"""Seconds that a training job takes beside training, on a machine with a GPU, until one was measured."""


@dataclass(frozen=True)
class Size:
    """How large the steps are; `longer` teaches more synonyms; `held_out` and `documents`
    are those of `Material`.

    Parameters of recipes: `towers` of all retrievers and re-rankers, `pel` of PEL, `ranker` of re-rankers, `mixup`
    of adaptive mixup.
    """

    learning: Learning = field(default_factory=Learning)
    longer: Learning = field(default_factory=lambda: Learning(pairs=200_000, per_entity=12, epochs=2, batch_size=128))
    throughput: Mapping[str, int] = field(default_factory=lambda: {"names": 20_000, "steps": 60, "pairs": 4000})
    max_steps: int | None = None
    seeds: tuple[int, ...] = SEEDS
    margins: tuple[float, ...] = MARGINS
    alphas: tuple[float, ...] = ALPHAS
    held_out: int = HELD_OUT
    documents: int | None = None
    towers: Mapping[str, Any] = field(
        default_factory=lambda: {
            "mention_tokens": 64,
            "entity_tokens": 64,
            "style": "types-synonyms",
            "entity_tower": "train",
            "epochs": 4,
        }
    )
    pel: Mapping[str, Any] = field(
        default_factory=lambda: {"batch_size": 32, "negative_count": 32, "sharing": "mention", "learning_rate": 2e-5}
    )
    ranker: Mapping[str, Any] = field(default_factory=lambda: {"candidates": 16, "learning_rate": 2e-5})
    mixup: Mapping[str, Any] = field(
        default_factory=lambda: {"batch_size": 64, "negative_count": 64, "calibrated": True}
    )


TINY = {"mention_tokens": 24, "entity_tokens": 24, "epochs": 2, "batch_size": 8, "entity_tower": "train"}
SMALL = Size(
    learning=Learning(pairs=120, epochs=1, batch_size=8, max_steps=4),
    longer=Learning(pairs=200, epochs=1, batch_size=8, max_steps=6),
    throughput={"names": 200, "steps": 3, "pairs": 40},
    max_steps=4,
    seeds=(0,),
    margins=(1.0,),
    alphas=(0.3, 0.01),
    held_out=2,
    documents=7,
    towers={**TINY, "style": "types-synonyms"},
    pel={"negative_count": 4, "sharing": "mention"},
    ranker={"candidates": 4},
    mixup={"negative_count": 4, "calibrated": True},
)


@dataclass(frozen=True)
class Plan:
    """All steps over a material on a device; results of earlier steps are read from `results`."""

    material: Material
    results: Results
    device: str
    size: Size

    @property
    def runner(self) -> Runner:
        return Runner(self.material, self.device, self.size.max_steps)

    def steps(self) -> Iterator[Step]:
        yield from self._checks()
        yield from self._names()
        yield Step(UNTRAINED, UNTRAINED, lambda: self.runner.untrained(self.base()), needs=STAGES, fixed=2 * JOB)
        margin = {**self.size.towers, **self.size.ranker}
        yield Step(SPREAD, SPREAD, lambda: self.runner.spread(self.base(), margin), needs=STAGES, fixed=JOB)
        for number, seed in enumerate(self.size.seeds):
            yield from self._pel(seed)
            if not number:
                yield from self._margins(seed)
                yield from self._mixup(seed)

    def encoder(self, name: str) -> Path:
        """The folder of a names' encoder."""
        return self.material.encoder if name == STOCK else self.material.work / "encoders" / name.split(": ")[1]

    def base_name(self) -> str:
        """Which names' encoder is best on the strings set aside from train, of those there are; the first of equals."""
        known = [name for name in TRIED if name in self.results.done]
        return max(known, key=lambda name: self.results.figures(name)[names_alone.ASIDE]["right"] or 0.0)

    def base(self) -> Bundle:
        """The untrained linker that the others start from."""
        return self.bundle(self.base_name())

    def bundle(self, name: str) -> Bundle:
        return self.material.bundle(name.split(": ")[1], self.encoder(name), device=self.device)

    def _checks(self) -> Iterator[Step]:
        material, device, size = self.material, self.device, self.size.throughput
        names, steps, pairs = size["names"], size["steps"], size["pairs"]
        yield Step(VECTORS, VECTORS, partial(checks.vectors, material, device))
        yield Step(ENCODED, ENCODED, partial(checks.encoding, material, device, names=names))
        yield Step(TRAINED, TRAINED, partial(checks.training, material, device, steps=steps, pairs=pairs))
        yield Step(NEIGHBOURS, NEIGHBOURS, partial(checks.neighbours, material, device), encoded=self._names_count)
        yield Step(FULL, FULL, partial(full_card.measure, material, device), fixed=4 * JOB)

    def _names(self) -> Iterator[Step]:
        learning = self.size.learning
        yield Step(STOCK, STOCK, lambda: self._alone(STOCK), encoded=self._names_count)
        for name, own in ((SYNONYMS, learning), (LONGER, self.size.longer)):
            yield Step(
                name,
                name,
                partial(self._synonyms, name, own),
                trained=10.0 * own.pairs * own.epochs,  # a name, its pair, 8 rivals
                encoded=2.0 * self._names_count,
                products=(self.encoder(name),),
                seed=own.seed,
            )
        yield Step(
            HALFWAY,
            HALFWAY,
            self._halfway,
            needs=(LONGER,),
            encoded=2.0 * self._names_count,
            products=(self.encoder(HALFWAY),),
        )
        for name, start in ((DECISIONS, STOCK), (BOTH, SYNONYMS)):
            yield Step(
                name,
                "names from decisions",
                partial(self._decisions, name, start),
                needs=(start,),
                encoded=3.0 * self._names_count,
                fixed=2 * JOB,
                products=(self.encoder(name),),
                seed=0,
            )

    def _pel(self, seed: int) -> Iterator[Step]:
        size = self.size
        own = {**size.towers, **size.pel}
        for name, (recipe, negatives) in PEL.items():
            changes = {**own, "negatives": negatives, **({"calibrated": True} if recipe == "pel-pb" else {})}
            yield self._part(f"{name}, seed {seed}", f"PEL {negatives}", recipe, changes, seed, self._texts(own))

    def _margins(self, seed: int) -> Iterator[Step]:
        own = {**self.size.towers, **self.size.ranker}
        texts = self._texts({**own, "negative_count": own["candidates"]})
        for units in self.size.margins:
            for recipe, kind in (("prototype", "plain"), ("triplet-downsampled", "squared"), ("triplet", "squared")):
                name = f"{recipe}, margin {units:g} spreads, seed {seed}"
                margin = partial(self._margin, units, kind)
                yield self._part(
                    name, recipe, recipe, own, seed, texts, more=margin, needs=(*STAGES, UNTRAINED, SPREAD)
                )

    def _mixup(self, seed: int) -> Iterator[Step]:
        own = {**self.size.towers, **self.size.mixup}
        for alpha in self.size.alphas:
            changes = {**own, "alpha": alpha}
            yield self._part(
                f"amh-dual, α {alpha:g}, seed {seed}", "amh-dual", "amh-dual", changes, seed, self._texts({})
            )

    def _part(
        self,
        name: str,
        kind: str,
        recipe: str,
        changes: Mapping[str, Any],
        seed: int,
        texts: float,
        *,
        more: Callable[[], Mapping[str, Any]] = dict,
        needs: tuple[str, ...] = STAGES,
    ) -> Step:
        """`more` parameters are known only when it is begun."""

        def run() -> Result:
            rows = trained.rows_of(self.results.figures(UNTRAINED)) if UNTRAINED in self.results.done else []
            base = self.base()
            figures = self.runner.part(base, recipe, {**changes, **more()}, seed, name.replace(" ", "_"), rows=rows)
            return {"from": self.base_name(), **figures}

        return Step(name, kind, run, needs=needs, trained=texts, fixed=JOB, seed=seed)

    def _margin(self, units: float, kind: str) -> dict[str, float]:
        """Within what the recipe allows."""
        return {"margin": round(min(100.0, max(0.01, units * self.results.figures(SPREAD)[kind])), 4)}

    def _texts(self, own: Mapping[str, Any]) -> float:
        """Texts that a training encodes with gradients: mentions, gold entities and negatives, for each epoch."""
        mentions = sum(len(line["mentions"]) for line in self.material.world.train)
        shared = own.get("sharing") != "mention"
        return mentions * int(self.size.towers["epochs"]) * (3.0 if shared else 2.0 + int(own["negative_count"]))

    @property
    def _names_count(self) -> float:
        return float(len(self.material.kb.names))

    def _alone(self, name: str) -> Result:
        encoder = load_encoder(self.encoder(name), device=self.device, max_tokens=NAMES_TOKENS)
        return names_alone.figures(encoder, self.material.kb, names_alone.Asked.of(self.material))

    def _synonyms(self, name: str, learning: Learning) -> Result:
        encoder = load_encoder(self.material.encoder, device=self.device, max_tokens=NAMES_TOKENS)
        result, taught = synonyms.learn(encoder, self.material.kb, learning)
        synonyms.saved(encoder, self.encoder(name))
        run = {"pairs": taught, "steps": result.steps, "seconds": result.seconds, "precision": result.precision}
        return {**self._alone(name), "run": run}

    def _halfway(self) -> Result:
        stock, longer = (
            load_encoder(self.encoder(name), device=self.device, max_tokens=NAMES_TOKENS) for name in (STOCK, LONGER)
        )
        synonyms.halfway(stock, longer)
        synonyms.saved(stock, self.encoder(HALFWAY))
        return self._alone(HALFWAY)

    def _decisions(self, name: str, start: str) -> Result:
        run = self.runner.names(self.bundle(start), self.encoder(name), seed=0)
        return {**self._alone(name), "from": start, "job": run}
