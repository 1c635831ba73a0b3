"""From token states to one vector, ignoring padding."""

from __future__ import annotations

from enum import StrEnum

import torch


class Pooling(StrEnum):
    """How the token states of one text become one vector."""

    MEAN = "mean"
    CLS = "cls"


class MentionVector(StrEnum):
    """The pooling of a mention in its context: the whole TEXT, pooled; the two MARKERS around the mention
    (prototype-triplet paper, section 3.2); or the SPAN from one to the other (ours)."""

    TEXT = "text"
    MARKERS = "markers"
    SPAN = "span"


def pool(states: torch.Tensor, mask: torch.Tensor, pooling: Pooling) -> torch.Tensor:
    """Reduce (n, tokens, d) states to (n, d); ``mask`` (n, tokens) is 1 at real tokens, 0 at padding."""
    return states[:, 0] if pooling is Pooling.CLS else mean_pool(states, mask)


def mean_pool(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """(n, d): the mean of (n, tokens, d) states over real tokens; a text without any is the zero vector."""
    weights = mask.unsqueeze(-1).to(states.dtype)
    return (states * weights).sum(1) / weights.sum(1).clamp(min=1.0)


def marker_mean(states: torch.Tensor, starts: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """(n, d): the mean of the states at the two marker positions (prototype-triplet paper, section 3.2)."""
    rows = torch.arange(len(states), device=states.device)
    return (states[rows, starts] + states[rows, ends]) / 2


def span_mean(states: torch.Tensor, starts: torch.Tensor, ends: torch.Tensor) -> torch.Tensor:
    """(n, d): the mean of the states from marker to marker, both included, so that it is never empty."""
    places = torch.arange(states.shape[1], device=states.device)
    inside = (places >= starts.unsqueeze(1)) & (places <= ends.unsqueeze(1))
    return mean_pool(states, inside)


def marked_vector(states: torch.Tensor, starts: torch.Tensor, ends: torch.Tensor, which: MentionVector) -> torch.Tensor:
    """(n, d) of MARKERS or SPAN."""
    return (span_mean if which is MentionVector.SPAN else marker_mean)(states, starts, ends)
