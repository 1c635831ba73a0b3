"""Vectors of mentions between their markers, read in their context."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from models.encoders.encoders import Encoder, length_batches
from models.encoders.inputs import InputSettings, mention_tokens
from models.encoders.pooling import MentionVector, marked_vector
from models.types import DocumentInput, MentionInput

FLOATS = NDArray[np.float32]
Mentions = Sequence[tuple[DocumentInput, MentionInput]]


def encode_marked_mentions(
    encoder: Encoder, mentions: Mentions, *, settings: InputSettings, which: MentionVector = MentionVector.MARKERS
) -> FLOATS:
    """(m, d) of the MARKERS or the SPAN, not normalised; equal inputs are encoded once."""
    tokens = [mention_tokens(encoder.tokenizer, d, m, settings=settings) for d, m in mentions]
    distinct = list(dict.fromkeys(tokens))
    number = {item: row for row, item in enumerate(distinct)}
    vectors = np.zeros((len(distinct), encoder.dimension), dtype=np.float32)
    encoder.module.eval()
    device = encoder.device
    for rows in length_batches([len(t.ids) for t in distinct], limit=device.batch_size, tokens=device.batch_tokens):
        ids, mask = encoder.pad([distinct[row].ids for row in rows])
        starts = torch.tensor([distinct[row].start for row in rows], device=device.torch)
        ends = torch.tensor([distinct[row].end for row in rows], device=device.torch)
        with torch.inference_mode():
            states = encoder.module.token_states(ids, mask)
        vectors[rows] = marked_vector(states, starts, ends, which).float().cpu().numpy()
    return vectors[[number[item] for item in tokens]]
