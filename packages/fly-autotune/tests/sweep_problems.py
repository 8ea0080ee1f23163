# SPDX-License-Identifier: Apache-2.0
"""Problems that workers of a sweep import: one whose times are made up and whose evaluations are recorded, one real."""

from __future__ import annotations

import os
import time
from pathlib import Path

import numpy as np

from flydsl.autotune import Config, Search, Space, autotune

BLOCKS = (1, 2, 3, 4, 5, 6, 7, 8)


def made_up(folder: str, waits_for: int = 0, method: str = "exhaustive", kind: str = ""):
    """BLOCK takes (BLOCK - 6)^2 + 1 ms; 3 fails. Each evaluation leaves `begun-…` and `ended-…`, with its process.

    The first one of BLOCK = `waits_for` waits to be killed. `kind`, the name of an environment variable, is a part of
    what the search is for.
    """
    block = 0

    def kernel(n: int, kind: str, BLOCK: int = 0) -> None:
        nonlocal block
        block = BLOCK

    def bench(call, warmup: int, rep: int) -> float:
        call()
        first = not list(Path(folder).glob(f"begun-{block}-*"))
        Path(folder, f"begun-{block}-{os.getpid()}-{time.monotonic_ns()}").touch()
        while block == waits_for and first:
            time.sleep(0.05)
        if block == 3:
            raise ValueError("no such block")
        Path(folder, f"ended-{block}-{os.getpid()}-{time.monotonic_ns()}").touch()
        return (block - 6) ** 2 + 1.0

    kernel.source_digest = "made up"
    spec = Search(Space("blocks", BLOCK=BLOCKS), method=method, evaluations=8)
    return autotune(spec, key=["n", "kind"], do_bench=bench)(kernel), (7, os.environ.get(kind, ""))


def scaling(count: int):
    """`launchers.scale` of so many elements, predicted."""
    from launchers import scale

    space = Space("scale", BLOCK=[64, 256], EACH=[1, 4], constraints=[lambda BLOCK, EACH, n: n >= BLOCK * EACH])
    tuned = autotune(Search(space, sampled=True), key=["n"])(scale)
    return tuned, (np.ones(count, np.float32), np.zeros(count, np.float32), count)


def listed():
    """A problem with a list, and nothing that can be pickled in it."""
    return autotune([Config(BLOCK=2), Config(BLOCK=5)], do_bench=lambda call, **_: call() or 1.0)(
        lambda BLOCK: None
    ), ()
