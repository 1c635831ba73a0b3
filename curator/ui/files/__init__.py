"""Input and output: new projects, imports, PubMed, exports and releases, with their dialogs."""
