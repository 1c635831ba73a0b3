"""Gaps and changes of the knowledge base: NIL mentions in clusters, new entities, links to remap; and views of one
entity in the whole project: all its uses, and its page at its source."""
