"""Functions compiled to machine code by numba, which is imported only when the first is defined."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import TypeVar

Function = TypeVar("Function", bound=Callable[..., object])


def compiled(*, fastmath: Collection[str] = ()) -> Callable[[Function], Function]:
    """Compile at the first call, without the GIL; the code is cached on disk next to its file or in the user's cache.
    ``fastmath`` are LLVM's flags."""
    import numba

    options = {"nogil": True, "fastmath": set(fastmath)} if fastmath else {"nogil": True}

    def compile_later(function: Function) -> Function:
        try:
            wrapped: Function = numba.njit(cache=True, **options)(function)
        except RuntimeError:  # no writable folder for the cache
            wrapped = numba.njit(**options)(function)
        return wrapped

    return compile_later
