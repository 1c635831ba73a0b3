"""Recipes as the dialog sees them agree with what the training job accepts."""

from __future__ import annotations

import pytest

from curator.domain.wording import UserError
from curator.services.training.recipes import find_recipe, learns_from_nil, load_recipes, parsed_values
from resources.recipe_files import Network, Recipe
from training.job.recipes import make_loss
from training.losses.proxy import ProxyLoss


@pytest.mark.parametrize("recipe", load_recipes(), ids=lambda one: one.id)
def test_it_says_of_nil_decisions_what_the_loss_does(recipe: Recipe) -> None:
    for values in (recipe.values(None), recipe.values(recipe.paper)):
        loss = make_loss(recipe, values) if recipe.network is Network.TOWERS else None
        assert learns_from_nil(recipe, values) == (isinstance(loss, ProxyLoss) and loss.nil_negatives)


def test_parameters_written_as_text() -> None:
    values = parsed_values(find_recipe("pel-pb"), {"epochs": "2", "learning_rate": "3e-5"})
    assert (values["epochs"], values["learning_rate"]) == (2, 3e-5)
    for wrong in ({"epochs": "2.5"}, {"epochs": "two"}, {"learning_rate": "fast"}, {"nothing": "1"}):
        with pytest.raises(UserError):
            parsed_values(find_recipe("pel-pb"), wrong)
