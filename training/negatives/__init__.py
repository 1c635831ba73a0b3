"""The entities that a mention is pushed away from: random, mined or mixed; from all domains or its own; never its gold
entities.

Entities are rows (positions in the knowledge base). The gold entity is never a negative, and neither is an entity that
shares a primary or alternate id with it.

    kinship   which entities share an id; whose names must not compete
    sampling  the base of all samplers: sets for a batch or a mention, domains; random negatives
    mined     hard and mixed ones; `training.tasks.mining` mines them
    batch     the rows to encode for a batch, and the mask of allowed negatives
    choice    from the words of a recipe to a sampler

* **A sampler draws distinct rows and states which of them are negatives for which mention**. `candidate_set` adds the
  gold rows and ensures that an entity never competes with itself or an alias. A domain is a few ranges of rows, since a
  knowledge base is ordered by types.
"""
