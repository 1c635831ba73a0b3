"""The rows of the work, one repository a module: documents, mentions, decisions, suggestions, notes, rounds."""
