"""Room for matrices on Dask's workers.

Dask tells the C library of its workers to give freed memory back at once (`MALLOC_TRIM_THRESHOLD_`), which is right for tables that come and
go. Sums over parts free and take matrices of the same size thousands of times, and each is then mapped and cleared anew: a third more
processor time. So memory is kept while a part is worked on, and given back after it.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any

#: Numbers of glibc's `malloc.h`.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
#: What glibc itself starts with.
_MMAP_USUAL = 128 * 1024
#: Matrices below this come from the heap (glibc allows no more), and a heap is not trimmed below that.
_MMAP_ROOMY, _TRIM_ROOMY = 32 * 1024**2, 1024**3

_lock = threading.Lock()
_within = 0


def roomy(work: Callable[..., Any]) -> Callable[..., Any]:
    """The same function, which keeps memory that it frees until it returns."""

    @wraps(work)
    def kept(*given: Any, **named: Any) -> Any:
        with _keeping():
            return work(*given, **named)

    return kept


@contextmanager
def _keeping() -> Iterator[None]:
    global _within
    library, usual = _library(), os.environ.get("MALLOC_TRIM_THRESHOLD_", "")
    if library is None or not usual.isdigit():
        yield
        return
    with _lock:
        _within += 1
        if _within == 1:
            library.mallopt(_MMAP_THRESHOLD, _MMAP_ROOMY)
            library.mallopt(_TRIM_THRESHOLD, _TRIM_ROOMY)
    try:
        yield
    finally:
        with _lock:
            _within -= 1
            if _within == 0:
                library.mallopt(_MMAP_THRESHOLD, _MMAP_USUAL)
                library.mallopt(_TRIM_THRESHOLD, int(usual))
                library.malloc_trim(0)


@lru_cache(maxsize=1)
def _library() -> Any:
    """The C library, if it is glibc."""
    try:
        library = ctypes.CDLL(None)
        library.gnu_get_libc_version  # noqa: B018
    except (AttributeError, OSError, TypeError):
        return None
    return library
