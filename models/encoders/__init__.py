"""Texts in, vectors out: the networks, what they read, and the vectors kept of what was read before."""
