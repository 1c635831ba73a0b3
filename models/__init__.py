"""The embedded entity linker: encoders, retrievers, fusion, NIL, bundles. Usable without the window."""
