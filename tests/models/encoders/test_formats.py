import dataclasses

import numpy as np

from models.core.device import Precision
from models.encoders.encoders import load_encoder


def test_number_formats_never_share_a_cache_key(encoder) -> None:
    keys = {
        dataclasses.replace(encoder, device=dataclasses.replace(encoder.device, precision=precision)).cache_key
        for precision in Precision
    }
    assert len(keys) == len(Precision)
    assert f"{encoder.fingerprint[:40]}-64" in keys  # caches of earlier versions stay good


def test_half_precision_gives_like_vectors_in_float32(tiny_bert, encoder) -> None:
    half = load_encoder(tiny_bert, device="cpu", precision="bf16", max_tokens=64).encode(["heart failure"])
    assert half.dtype == np.float32
    assert (half * encoder.encode(["heart failure"])).sum() > 0.99
