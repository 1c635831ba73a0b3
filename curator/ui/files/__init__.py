"""What comes in and goes out: new projects, imports, PubMed, exports and releases, with the windows that ask about
them."""
