"""Knowledge bases in files: one module for each source."""
