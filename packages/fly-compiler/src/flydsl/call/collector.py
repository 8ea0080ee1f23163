# SPDX-License-Identifier: Apache-2.0
"""Python's cyclic garbage collector, kept out of compilations."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

__all__ = ["without_collections"]


@contextmanager
def without_collections() -> Iterator[None]:
    """Keep Python's cyclic garbage collector out of a compilation.

    Tracing makes many objects that live until it ends; the collections that they set off would walk over everything in
    the process, which with torch is a good part of a small kernel's compile time.
    """
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()
