"""The linker as a whole: its stages one after another, the bundle it lies in, and what changed since it was built."""
