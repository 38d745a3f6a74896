"""Progress of long work, handed to a function of the caller's or shown as tqdm bars."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from typing import Any, Iterator, Union

Callback = Callable[[str, int, int], Any]
#: None; a function of stage, done and total; or the class `tqdm` (or one like it).
Progress = Union[None, bool, Callback, type]


@contextmanager
def watching(progress: Progress) -> Iterator[Callback | None]:
    """The callback the core should use while the block runs."""
    if progress is None or progress is False:
        yield None
        return
    if progress is True:
        from tqdm.auto import tqdm as progress  # noqa: PLC0415
    if not callable(progress):
        raise TypeError(
            "progress must be None, True, a function of (stage, done, total), or the class tqdm; "
            f"got {type(progress).__name__}"
        )
    if not hasattr(progress, "update"):
        yield progress
        return
    bars = _Bars(progress)
    try:
        yield bars
    finally:
        bars.close()


class _Bars:
    """One bar for each stage, made by a class with the interface of tqdm."""

    def __init__(self, make: Any):
        self._make = make
        self._bar: Any = None
        self._stage: str | None = None

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage != self._stage:
            self.close()
            self._bar = self._make(total=total or None, desc=stage)
            self._stage = stage
        if total:
            self._bar.total = total
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.close()
        self._bar = self._stage = None
