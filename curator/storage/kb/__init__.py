"""The knowledge base's tables and the search over names."""
