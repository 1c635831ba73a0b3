"""The ranked candidates of one mention, the record of each, what speaks for one against another, and the search in the
knowledge base."""
