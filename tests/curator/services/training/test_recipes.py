"""Recipes as the dialog sees them agree with what the training job accepts."""

from __future__ import annotations

import pytest

from curator.domain.wording import UserError
from curator.services.training.recipes import Recipe, find_recipe, load_recipes
from training.job.recipes import Network, load_recipe
from training.losses.proxy import ProxyLoss


@pytest.mark.parametrize("recipe", load_recipes(), ids=lambda one: one.id)
def test_the_training_job_accepts_the_defaults(recipe: Recipe) -> None:
    assert load_recipe(recipe.id).values(recipe.values(None)) == recipe.values(None)
    assert recipe.title
    assert recipe.description
    assert all(one.help for one in recipe.parameters)


@pytest.mark.parametrize("recipe", load_recipes(), ids=lambda one: one.id)
def test_it_says_of_nil_decisions_what_the_loss_does(recipe: Recipe) -> None:
    own = load_recipe(recipe.id)
    for values in (recipe.values(None), recipe.values(recipe.published())):
        loss = own.make_loss(values) if own.network is Network.TOWERS else None
        assert recipe.learns_from_nil(values) == (isinstance(loss, ProxyLoss) and loss.nil_negatives)


def test_parameters_written_as_text() -> None:
    values = find_recipe("pel-pb").parse({"epochs": "2", "learning_rate": "3e-5"})
    assert (values["epochs"], values["learning_rate"]) == (2, 3e-5)
    for wrong in ({"epochs": "2.5"}, {"epochs": "two"}, {"learning_rate": "fast"}, {"nothing": "1"}):
        with pytest.raises(UserError):
            find_recipe("pel-pb").parse(wrong)
