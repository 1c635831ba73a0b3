"""Suggestions: asked of the linker in time, remembered decisions taught to it, and what it says about two
candidates."""
