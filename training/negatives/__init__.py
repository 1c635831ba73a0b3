"""Which entities a mention is pushed away from: random, mined, mixed; across domains or within; never its own.

Entities are rows (positions in the knowledge base). The gold entity is never a negative, nor is any entity that shares
an id with it, primary or alternate.

    kinship   which entities share an id; whose names must not compete
    sampling  the base of all samplers: sets for a batch or a mention, domains, the generator's state
    uniform   random negatives
    mined     hard and mixed ones; `training.tasks.mining` mines them
    batch     the rows to encode for a batch, and the mask of allowed negatives
    choice    from the words of a recipe to a sampler

* **A sampler draws distinct rows and says which of them serve which mention**; `candidate_set` joins them with the
  gold rows and never lets an entity or its alias compete with itself. A domain is a few ranges of rows, since a
  knowledge base is ordered by types.
"""

from training.negatives.batch import DrawnNegatives, candidate_set
from training.negatives.choice import NegativeScope, make_reach, make_sampler
from training.negatives.kinship import Kinship, NameKinship, Rows, eligible
from training.negatives.mined import HardNegatives, MinedNegatives, MixedNegatives, gold_and_best, hard_rows
from training.negatives.sampling import NegativeSampler, Reach, Sharing
from training.negatives.uniform import RandomNegatives

__all__ = [
    "DrawnNegatives",
    "HardNegatives",
    "Kinship",
    "MinedNegatives",
    "MixedNegatives",
    "NameKinship",
    "NegativeSampler",
    "NegativeScope",
    "RandomNegatives",
    "Reach",
    "Rows",
    "Sharing",
    "candidate_set",
    "eligible",
    "gold_and_best",
    "hard_rows",
    "make_reach",
    "make_sampler",
]
