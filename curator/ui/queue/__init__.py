"""The list of documents and of mentions to decide, its facets and filters, and the header of the open document."""
