"""From a key to a decision: where the curator is, what the key may decide, and deciding many mentions at once by their
string or by their probability."""
