"""The one evaluation, used by the training job, its gate and `curator evaluate`.

Conventions. Only decided mentions count. A mention is NIL if none of its gold ids is in the knowledge base, primary or
alternate. Recall is over in-KB mentions: *any-match* counts a composite mention as found if one of its entities is
among the first k, *all-match* if all of them are among the first max(k, number of its entities). A mention without an
answer, or whose entity was not retrieved, is an error (unnormalised). Candidates count in the order the linker gave
them: it sorts by score, breaks ties by the exact match of a name and then by entity id, so equal scores never gain by
chance. Figures are micro-averaged unless they say macro, which is the mean over types (worlds, for ZESHEL).
"""

from training.evaluation.flips import Flip, FlipKind, flips
from training.evaluation.report import KS, NilFigures, Report, SliceFigures, evaluate, is_right

__all__ = ["KS", "Flip", "FlipKind", "NilFigures", "Report", "SliceFigures", "evaluate", "flips", "is_right"]
