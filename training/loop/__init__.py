"""The one training loop: steps, gradients, towers, saving and going on after a crash."""
