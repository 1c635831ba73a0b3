"""The evaluation that the training job, its gate and `curator evaluate` share.

Conventions. Only decided mentions count. A mention is NIL if none of its gold ids is in the knowledge base, primary or
alternate. Recall is calculated over in-KB mentions. *Any-match* counts a composite mention as found if one of its
entities is among the first k, *all-match* if all of them are among the first max(k, number of its entities). A mention
without an answer, or whose entity was not retrieved, is an error (unnormalised). Candidates keep the linker's order: by
score, then exact name matches first, then by entity id, so ties are never broken by chance. Figures are micro-averaged
unless called macro, which is the mean over types (worlds, for ZESHEL).
"""

from training.evaluation.embedding_map import MAP_FILE, EmbeddingMap, make_map, seen_by, select_points
from training.evaluation.errors import ErrorKind, LinkingError, Relation, errors_json, linking_errors
from training.evaluation.flips import Flip, FlipKind, flips
from training.evaluation.headline import compare, curves, headline, slice_estimates
from training.evaluation.outcomes import Outcomes, outcomes
from training.evaluation.page import evaluation_page
from training.evaluation.page_map import map_of
from training.evaluation.page_replay import replay_page
from training.evaluation.replay import ReplayCurves, SimulatedDecision, curves_of, simulate
from training.evaluation.report import KS, NilFigures, Report, SliceFigures, evaluate, is_right, members, report_of
from training.evaluation.resampling import DocumentBootstrap, Figure, ratio
from training.evaluation.slices import NameClass, SliceFacts, name_class, slice_facts
from training.evaluation.teaching import learner, teach

__all__ = [
    "KS",
    "MAP_FILE",
    "DocumentBootstrap",
    "EmbeddingMap",
    "ErrorKind",
    "Figure",
    "Flip",
    "FlipKind",
    "LinkingError",
    "NameClass",
    "NilFigures",
    "Outcomes",
    "Relation",
    "ReplayCurves",
    "Report",
    "SimulatedDecision",
    "SliceFacts",
    "SliceFigures",
    "compare",
    "curves",
    "curves_of",
    "errors_json",
    "evaluate",
    "evaluation_page",
    "flips",
    "headline",
    "is_right",
    "learner",
    "linking_errors",
    "make_map",
    "map_of",
    "members",
    "name_class",
    "outcomes",
    "ratio",
    "replay_page",
    "report_of",
    "seen_by",
    "select_points",
    "simulate",
    "slice_estimates",
    "slice_facts",
    "teach",
]
