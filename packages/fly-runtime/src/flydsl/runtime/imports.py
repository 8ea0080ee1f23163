# SPDX-License-Identifier: Apache-2.0
"""Python's cyclic garbage collector, kept out of what a first call waits for: imports and compilations."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_collections", "without_collections_of_imports"]


@contextmanager
def without_collections() -> Iterator[None]:
    """Keep the collector out of what makes many objects that live until it ends, such as a compilation.

    The collections that they set off would walk over everything in the process, which with torch is a good part of a
    small kernel's compile time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


@contextmanager
def without_collections_of_imports() -> Iterator[None]:
    """Keep the collector out of imports.

    What they make stays, but collections meanwhile, and the first one behind them, would walk over all of it, and over
    what other packages made. So it joins the oldest objects, unless the process has frozen some: to take these out
    again is not ours.
    """
    is_ours = gc.isenabled()
    with without_collections():
        try:
            yield
        finally:
            if is_ours and not gc.get_freeze_count():
                gc.freeze()
                gc.unfreeze()
