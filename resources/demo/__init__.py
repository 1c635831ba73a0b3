"""Demo projects, invented for this project."""
