"""What is run, and which questions the runs answer.

All retrievers take equally many steps on the same mentions at one size; so do the re-rankers. A setting is a recipe
with a few parameters changed, and nothing was chosen by what it gives on dev.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from resources.recipe_files import Network, Recipe, Role
from training.job.recipes import load_recipe

RETRIEVER: Mapping[str, Any] = {
    "epochs": 1,
    "batch_size": 32,
    "learning_rate": 5e-5,
    "warmup": 0.1,
    "weight_decay": 0.01,
    "mention_tokens": 64,
    "entity_tokens": 64,
    "style": "types-synonyms",
    "entity_tower": "train",
    "sharing": "batch",
    "in_batch": True,
    "negative_count": 32,
    "nil_negatives": False,
    "freeze_embeddings": False,
}
RANKER: Mapping[str, Any] = {**RETRIEVER, "candidates": 16}
PAIR: Mapping[str, Any] = {
    "epochs": 1,
    "batch_size": 32,
    "learning_rate": 5e-5,
    "mention_tokens": 64,
    "entity_tokens": 64,
    "style": "types-synonyms",
    "candidates": 8,
    "learnt_share": 1.0,
    "asked_share": 1.0,
}


@dataclass(frozen=True)
class Setting:
    """A recipe with `changes`, which make it what it is, and what it needs at the common `size`; `name` is its key in
    the report."""

    name: str
    recipe: str
    changes: Mapping[str, Any] = field(default_factory=dict)
    size: Mapping[str, Any] = field(default_factory=dict)

    @property
    def loaded(self) -> Recipe:
        return load_recipe(self.recipe)

    @property
    def ranks(self) -> bool:
        return self.loaded.role is Role.RANKER

    def parameters(self, *, full: bool = False, passes: int = 1) -> dict[str, Any]:
        """Those of the common size that the recipe has, and the changes, `passes` times as often over the mentions;
        `full`: the recipe's own values and the changes."""
        if full:
            return dict(self.changes)
        recipe = self.loaded
        common = PAIR if recipe.network is Network.PAIR else RANKER if self.ranks else RETRIEVER
        known = {one.name for one in recipe.parameters}
        values = {name: value for name, value in common.items() if name in known} | {**self.size, **self.changes}
        return {**values, "epochs": passes * values["epochs"]}


@dataclass(frozen=True)
class Question:
    """Whether `better` beats `worse` in `figure`, as the papers found (`published`)."""

    text: str
    better: str
    worse: str
    figure: str
    published: str


ALONE = {"in_batch": False}
"""The gold entities of other mentions are no negatives: they would serve across domains."""
HARD = {**ALONE, "negatives": "hard"}
IN = {**ALONE, "domain": "in"}
HALF = {"epochs": 3}
"""Recipes that sample triplets from their batches make half as many of them."""
MOVED = {"calibrated": True}
"""The loss's zero where scores lie before training: at this size adaptive mixup's logits would saturate without."""
SETTINGS = (
    Setting("pel-pb", "pel-pb"),
    Setting("pel-ce", "pel-ce"),
    Setting("pel-pb moved", "pel-pb", MOVED),
    Setting("pel-pb mixed", "pel-pb-mixed"),
    Setting("amh-dual", "amh-dual", size=MOVED),
    Setting("dual hard", "biencoder-dual", HARD),
    Setting("prototype-srn", "prototype-srn", size=HALF),
    Setting("prototype", "prototype", size=HALF),
    Setting("triplet", "triplet"),
    Setting("triplet-downsampled", "triplet-downsampled", size=HALF),
    Setting("amh-dual α 0", "amh-dual", {"alpha": 0.0}, MOVED),
    Setting("triplet-downsampled margin 32", "triplet-downsampled", {"margin": 32.0}, HALF),
    Setting("triplet-downsampled margin 13", "triplet-downsampled", {"margin": 13.0}, HALF),
    Setting("triplet-downsampled margin 53", "triplet-downsampled", {"margin": 53.0}, HALF),
    Setting("prototype margin .6", "prototype", {"margin": 0.6}, HALF),
    Setting("prototype margin 2.4", "prototype", {"margin": 2.4}, HALF),
    Setting("dual random cross", "biencoder-dual", ALONE),
    Setting("dual random in", "biencoder-dual", IN),
    Setting("dual hard in", "biencoder-dual", {**HARD, **IN}),
    Setting("t-biencoder-dual", "t-biencoder-dual", ALONE),
    Setting("pel-pb fgsm", "pel-pb-fgsm"),
    Setting("pel-pb δ .1", "pel-pb", {"delta": 0.1}),
    Setting("pel-pb δ .05", "pel-pb", {"delta": 0.05}),
    Setting("pel-pb δ .01", "pel-pb", {"delta": 0.01}),
    Setting("amh-mean", "amh-mean", size=MOVED),
    Setting("mean hard", "biencoder-mean", HARD),
    Setting("amh-som", "amh-som", size=MOVED),
    Setting("som hard", "biencoder-som", HARD),
    Setting("t-biencoder-som", "t-biencoder-som", ALONE),
    Setting("pel-ce fgsm", "pel-ce-fgsm"),
    Setting("curator", "curator", {"entity_tower": "frozen", "nil_negatives": True}),
    Setting("cross-encoder", "cross-encoder"),
    Setting("pel-pb mixed moved", "pel-pb-mixed", MOVED),
    Setting("pel-pb fgsm moved", "pel-pb-fgsm", MOVED),
    Setting("cross-encoder fgsm", "cross-encoder-fgsm"),
)
AT_1, AT_64, NIL = "recall@1", "recall@64", "NIL auPR"
QUESTIONS = (
    Question("Proxy loss against cross-entropy, random negatives", "pel-pb", "pel-ce", AT_1, "+7.6 on MedMentions"),
    Question("The same, the proxy loss's zero moved", "pel-pb moved", "pel-ce", AT_1, "not in the paper"),
    Question("Proxy loss, its zero moved or not", "pel-pb moved", "pel-pb", AT_1, "not in the paper"),
    Question("NIL by score: proxy loss against cross-entropy", "pel-pb", "pel-ce", NIL, "83.7 against 32.3"),
    Question("NIL: margin δ .01 against 0", "pel-pb δ .01", "pel-pb", NIL, "84.4 against 83.7"),
    Question("NIL: margin δ .05 against .01", "pel-pb δ .05", "pel-pb δ .01", NIL, "85.8 against 84.4"),
    Question("NIL: margin δ .1 against .05", "pel-pb δ .1", "pel-pb δ .05", NIL, "87.6 against 85.8"),
    Question("Mixed-50 % against random negatives", "pel-pb mixed", "pel-pb", AT_1, "+9.3 on MedMentions"),
    Question("The same, the zero moved", "pel-pb mixed moved", "pel-pb moved", AT_1, "not in the paper"),
    Question("FGSM, proxy loss", "pel-pb fgsm", "pel-pb", AT_1, "not lower"),
    Question("The same, the zero moved", "pel-pb fgsm moved", "pel-pb moved", AT_1, "not in the paper"),
    Question("FGSM, cross-entropy", "pel-ce fgsm", "pel-ce", AT_1, "not lower"),
    Question("In-domain against all, random", "dual random in", "dual random cross", AT_64, "higher"),
    Question("In-domain against all, hard", "dual hard in", "dual hard", AT_64, "higher"),
    Question("Transformation, DUAL, hard in-domain", "t-biencoder-dual", "dual hard in", AT_64, "higher"),
    Question("Adaptive mixup against hard, DUAL", "amh-dual", "dual hard", AT_64, "higher"),
    Question("The mixture alone: α at .3 against 0, DUAL", "amh-dual", "amh-dual α 0", AT_64, "not in the paper"),
    Question("The same, first", "amh-dual", "amh-dual α 0", AT_1, "not in the paper"),
    Question("Without the mixture against hard, DUAL", "amh-dual α 0", "dual hard", AT_64, "not in the paper"),
    Question("Adaptive mixup against hard, mean", "amh-mean", "mean hard", AT_64, "higher"),
    Question("Adaptive mixup against hard, SOM", "amh-som", "som hard", AT_64, "higher"),
    Question("Adaptive mixup against hard, SOM, first", "som hard", "amh-som", AT_1, "hard higher: 32.7 against 31.2"),
    Question("Prototype with soft radius against prototype", "prototype-srn", "prototype", AT_1, "+0.3 to 0.7"),
    Question("Prototype against down-sampled triplets", "prototype", "triplet-downsampled", AT_1, "higher"),
    Question(
        "The same, both margins 1.2 standard deviations", "prototype", "triplet-downsampled margin 32", AT_1, "higher"
    ),
    Question("Down-sampled against all triplets", "triplet-downsampled", "triplet", AT_1, "higher"),
)
REPEATED = (
    "pel-pb",
    "pel-ce",
    "pel-pb moved",
    "pel-pb mixed",
    "amh-dual",
    "dual hard",
    "prototype-srn",
    "prototype",
    "triplet",
    "triplet-downsampled",
    "pel-pb fgsm",
    "t-biencoder-dual",
    "dual hard in",
    "cross-encoder",
)
"""Settings whose intervals decide a question: three seeds are run of them, once each setting was run with the first."""
SEEDS = (0, 1, 2)


def runs() -> list[tuple[Setting, int]]:
    """All of them in the order in which they are run."""
    first = [(setting, SEEDS[0]) for setting in SETTINGS]
    again = [(setting, seed) for seed in SEEDS[1:] for setting in SETTINGS if setting.name in REPEATED]
    return [*first, *again]
