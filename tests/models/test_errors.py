"""Which errors mean that memory ran out, and what is said of them."""

import pytest
import torch

from models.errors import is_out_of_memory, no_memory


@pytest.mark.parametrize(
    ("error", "is_memory"),
    [
        (torch.OutOfMemoryError("x"), True),
        (MemoryError(), True),
        (RuntimeError("CUDA error: out of memory"), True),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`"), True),
        (RuntimeError("CUDA error: CUBLAS_STATUS_NOT_INITIALIZED when calling `cublasCreate(handle)`"), True),
        (RuntimeError("shape mismatch"), False),
        (ValueError("out of memory"), False),
    ],
)
def test_what_counts_as_memory(error: Exception, is_memory: bool) -> None:
    assert is_out_of_memory(error) is is_memory


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (
            torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"),
            "The GPU has too little free memory",
        ),
        (RuntimeError("MPS backend out of memory (MPS allocated: 9 GB)"), "The GPU has too little free memory"),
        (MemoryError(), "There is not enough memory"),
        (MemoryError("numpy.core clamps a chip"), "There is not enough memory"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "There is not enough memory"),
    ],
)
def test_what_is_said_of_it(error: Exception, said: str) -> None:
    reported = no_memory(error)
    assert str(reported).startswith(said)
    assert reported is not None
    assert no_memory(reported) is reported, "what was reported already stays as it is"
    assert no_memory(KeyError("out of memory")) is None
