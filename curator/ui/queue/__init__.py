"""The list of documents and of mentions to be decided, its facets and filters, and the head of the open document."""
