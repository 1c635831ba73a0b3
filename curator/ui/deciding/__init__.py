"""From a key to a decision: navigation, checks of the key, and deciding many mentions at once by string or by
probability."""
