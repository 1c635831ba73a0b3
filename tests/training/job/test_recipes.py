"""What every recipe holds, and that training compares as the linker does."""

import pytest
import torch

from models.encoders.pooling import Pooling
from models.errors import ModelError
from models.retrievers.scorers import TokenStates, cosine, score
from resources.recipe_files import Network, Recipe, Role, WrongValueError, recipe_ids
from training.job.assembly import scorer_of
from training.job.recipes import LOSSES, PAIR_LOSSES, Hyperparameters, Regularisation, load_recipe, make_loss
from training.losses.base import LossInputs, Similarity
from training.losses.prototype import PrototypeTripletLoss
from training.losses.triplet import TripletLoss
from training.tasks.reranking import System

IDS = recipe_ids()
SYSTEMS = {
    "pel-ce": "PEL", "pel-pb": "PEL", "pel-ce-fgsm": "PEL", "pel-pb-fgsm": "PEL", "pel-pb-mixed": "PEL",
    "cross-encoder": "Cross-encoder", "cross-encoder-fgsm": "Cross-encoder",
    "t-biencoder-dual": "T-Biencoder", "t-biencoder-som": "T-Biencoder",
    "biencoder-dual": "Bi-encoder", "biencoder-mean": "Bi-encoder", "biencoder-som": "Bi-encoder",
    "amh-dual": "AMH", "amh-mean": "AMH", "amh-som": "AMH",
    "triplet": "Dual-encoder re-ranker", "triplet-downsampled": "Dual-encoder re-ranker",
    "prototype": "Dual-encoder re-ranker", "prototype-srn": "Dual-encoder re-ranker",
    "curator": "Curator", "conventions": "Curator",
    "names": "Curator", "names-proxy": "Curator", "names-mixup": "Curator", "names-prototype": "Curator",
    "names-multi-similarity": "Curator", "names-full": "Curator",
}  # fmt: skip
OURS = {name for name, system in SYSTEMS.items() if system == "Curator"}
NETWORKS = [name for name in IDS if name != "conventions"]


def test_every_system_of_the_papers_is_a_recipe_and_all_but_ours_have_a_quick_variant() -> None:
    assert {name: load_recipe(name).system for name in IDS if not name.endswith("-quick")} == SYSTEMS
    assert {name.removesuffix("-quick") for name in IDS if name.endswith("-quick")} == SYSTEMS.keys() - OURS
    assert all(load_recipe(name).quick == (name.endswith("-quick") or name in OURS - {"names-full"}) for name in IDS)


@pytest.mark.parametrize("name", IDS)
def test_every_recipe_is_complete(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.summary.count(". ") == 1
    assert recipe.summary.endswith(".")
    assert all(parameter.help.endswith(".") for parameter in recipe.parameters)


@pytest.mark.parametrize("name", NETWORKS)
def test_training_knows_every_word_of_a_recipe(name: str) -> None:
    recipe = load_recipe(name)
    assert recipe.loss in (PAIR_LOSSES if recipe.network is Network.PAIR else LOSSES)
    Regularisation(recipe.regulariser)
    assert not recipe.grouping or System(recipe.grouping)
    for values in (recipe.values(), recipe.values(recipe.paper)):
        if recipe.network is Network.TOWERS:
            make_loss(recipe, values)
        inputs = Hyperparameters.of(recipe, values).inputs
        assert inputs.mention_tokens == values.get("mention_tokens", Hyperparameters().mention_tokens)


PUBLISHED = {
    "pel-pb": {"learning_rate": 1e-5, "batch_size": 32, "epochs": 7, "warmup": 0.25, "alpha": 32, "delta": 0.0},
    "pel-ce": {"negative_count": 32, "sharing": "mention", "mention_tokens": 128, "clip": 1.0},
    "pel-pb-mixed": {"negatives": "mixed", "mined_share": 0.5},
    "pel-pb-fgsm": {"epsilon": 0.01, "weight": 1.0},
    "t-biencoder-dual": {
        "epochs": 5,
        "batch_size": 64,
        "negative_count": 15,
        "domain": "in",
        "layer": 1,
        "epsilon": 42,
    },
    "t-biencoder-som": {"epsilon": 40, "freeze_embeddings": True},
    "amh-dual": {"learning_rate": 2e-5, "batch_size": 64, "epochs": 30, "alpha": 0.3, "top_k": 1},
    "amh-som": {"top_k": 10},
    "prototype": {"learning_rate": 1e-5, "margin": 1.6, "candidates": 64, "squared": False},
    "prototype-srn": {"radius": 11.0, "slack": 1.0},
    "triplet": {"squared": True},
    "cross-encoder": {"learning_rate": 2e-5, "batch_size": 4, "epochs": 5, "warmup": 0.2, "candidates": 16},
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_values_are_the_defaults_and_quick_variants_remember_them(name: str) -> None:
    recipe, quick = load_recipe(name), load_recipe(f"{name}-quick")
    assert recipe.paper.items() >= PUBLISHED[name].items()
    assert recipe.values().items() >= recipe.paper.items()
    assert quick.paper == recipe.paper
    assert quick.stage == recipe.stage
    assert quick.values()["mention_tokens"] < recipe.values()["mention_tokens"]


def test_values_are_checked() -> None:
    recipe = load_recipe("pel-pb")
    assert recipe.values({"epochs": 9, "negatives": "mixed"})["negatives"] == "mixed"
    with pytest.raises(WrongValueError, match=r"no parameter 'epoch'.*epochs"):
        recipe.values({"epoch": 9})
    for name, value in [("epochs", 0), ("epochs", 1.5), ("epochs", "3"), ("negatives", "easy"), ("nil_negatives", 1)]:
        with pytest.raises(WrongValueError, match=f"'{name}' cannot be"):
            recipe.values({name: value})


TOWERS = [name for name in NETWORKS if load_recipe(name).network is Network.TOWERS]


@pytest.mark.parametrize("name", TOWERS)
def test_training_compares_as_the_stage_does_that_serves(name: str) -> None:
    """With vectors of any length, the loss is lower with the entity as the gold one that the stage ranks first."""
    recipe = load_recipe(name)
    unmixed = {"alpha": 0.0} if recipe.loss == "adaptive-mixup" else {}  # a mix adds the gold entity to the other
    loss = make_loss(recipe, recipe.values(unmixed))
    assert loss.similarity == recipe.similarity
    drawn = torch.Generator().manual_seed(7)
    decided = 0
    for _ in range(60):
        states = torch.randn(3, 2, 6, generator=drawn) * torch.rand(3, 1, 1, generator=drawn).mul(4).exp()
        mention, one, other = (TokenStates(each[None], torch.ones(1, 2, dtype=torch.bool)) for each in states)
        first, second = served(recipe, mention, one), served(recipe, mention, other)
        right, wrong = (
            loss(
                LossInputs(
                    *(texts_of(recipe, each) for each in (mention, gold, rival)),
                    eligible=torch.ones(1, 1, dtype=torch.bool),
                    linked=torch.ones(1, dtype=torch.bool),
                    clusters=torch.zeros(1, dtype=torch.int64),
                )
            ).item()
            for gold, rival in ((one, other), (other, one))
        )
        if right != wrong:  # both may be beyond a margin
            assert (right < wrong) == (first > second)
            decided += 1
    assert decided > 20


def served(recipe: Recipe, mention: TokenStates, entity: TokenStates) -> float:
    """The score in the linker: cosine over names, a scorer of a retriever, the negative distance of a dual ranker."""
    if recipe.role is Role.RETRIEVER:
        return score(mention, entity, scorer_of(recipe), pooling=Pooling(recipe.pooling)).item()
    one, other = mention.pooled(Pooling(recipe.pooling)), entity.pooled(Pooling(recipe.pooling))
    return (cosine(one, other) if recipe.role is Role.NAMES else -(one - other).norm()).item()


def texts_of(recipe: Recipe, states: TokenStates) -> TokenStates | torch.Tensor:
    return states if recipe.similarity == Similarity.SOM else states.pooled(Pooling(recipe.pooling))


def test_roles_and_stages() -> None:
    assert load_recipe("prototype").role is Role.RANKER
    assert load_recipe("pel-pb").stage == load_recipe("pel-pb-mixed").stage
    assert {load_recipe(name).loss for name in NETWORKS} == {*LOSSES, *PAIR_LOSSES}


def test_conventions_train_no_network() -> None:
    recipe = load_recipe("conventions")
    assert (recipe.role, recipe.network, recipe.parameters) == (Role.FIT, Network.NONE, ())


def test_triplets_are_squared_or_not_as_asked() -> None:
    for name, squared in (("triplet", True), ("prototype", False)):
        loss = make_loss(load_recipe(name), load_recipe(name).values())
        assert isinstance(loss, (TripletLoss, PrototypeTripletLoss))
        assert loss.squared is squared


def test_unknown_recipe_lists_the_known() -> None:
    with pytest.raises(ModelError, match=r"amh-dual, amh-dual-quick, .*pel-pb"):
        load_recipe("pel")
