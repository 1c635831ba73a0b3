"""Data that ships with Curator, read through `importlib.resources`."""

__curator__ = True
