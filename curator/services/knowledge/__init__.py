"""The knowledge base as the project has it: search, records, entities that curators made, and decisions mapped to a
new version."""
