"""Finding by name: lexical lists, names as vectors, and mentions found in a text by the dictionary."""
