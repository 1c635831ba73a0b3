"""What the knowledge base lacks and what changed in it: NIL mentions in clusters, new entities, links to be mapped
anew."""
