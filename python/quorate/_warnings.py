"""What the core remarks about data and models, as Python warnings."""

import warnings
from collections.abc import Iterable


class QuorateWarning(UserWarning):
    """A remark of the core: a constant column that was dropped, missing cells, rows outside the range seen."""


def remark(notes: Iterable[str], depth: int = 3) -> None:
    """Passes each note on as a warning that points at the caller's line, `depth` calls above this one."""
    for note in notes:
        warnings.warn(note, QuorateWarning, stacklevel=depth + 1)
