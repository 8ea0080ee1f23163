# SPDX-License-Identifier: Apache-2.0
"""Imports that a first call waits for, without the collections of Python's that they would set off."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_collections_of_imports"]


@contextmanager
def without_collections_of_imports() -> Iterator[None]:
    """Keep Python's cyclic garbage collector out of imports.

    What they make stays, but collections meanwhile, and the first one behind them, would walk over all of it, and over
    what other packages made. So it joins the oldest objects, unless the process has frozen some: to take these out
    again is not ours.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            if not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
            gc.enable()
