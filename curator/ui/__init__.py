"""Qt widgets and item models: they compose and show, they decide nothing."""
