"""Data that ships with Curator, read through `importlib.resources`."""
