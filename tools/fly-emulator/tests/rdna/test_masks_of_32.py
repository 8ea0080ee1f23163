# SPDX-License-Identifier: Apache-2.0
"""Scalar instructions on masks of 32 bits: EXEC saved and combined, on gfx11 and gfx12."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from rdna.harness import Runner

RNG = np.random.default_rng(32)
M32 = 0xFFFFFFFF
#: what becomes of EXEC, from a source and EXEC itself
COMBINE: dict[str, Callable[[int, int], int]] = {
    "and": lambda s, e: s & e, "or": lambda s, e: s | e, "xor": lambda s, e: s ^ e,
    "nand": lambda s, e: ~(s & e), "nor": lambda s, e: ~(s | e), "xnor": lambda s, e: ~(s ^ e),
    "and_not0": lambda s, e: ~s & e, "and_not1": lambda s, e: s & ~e,
    "or_not0": lambda s, e: ~s | e, "or_not1": lambda s, e: s | ~e,
}  # fmt: skip


def after(run: Runner, arch: str, line: str, source: int, execute: int) -> tuple[int, int, int]:
    """The destination, EXEC and SCC."""
    code = f"""
      s_mov_b32 s20, {source:#x}
      s_mov_b32 exec_lo, {execute:#x}
      {line}
      s_cselect_b32 s23, 1, 0
      s_mov_b32 s24, exec_lo
      s_mov_b32 exec_lo, -1
      v_mov_b32 v40, s22
      v_mov_b32 v41, s24
      v_mov_b32 v42, s23
    """
    out = run(code, arch, 32, None, 3)
    assert (out == out[:, :1]).all()
    return int(out[0, 0]), int(out[1, 0]), int(out[2, 0])


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
@pytest.mark.parametrize("name", COMBINE)
def test_saveexec(run: Runner, name: str, arch: str) -> None:
    source, execute = (int(v) for v in RNG.integers(1, 2**32, 2))
    # The second pair makes EXEC empty for most of them.
    for s, e in ((source, execute), (source, ~source & M32)):
        want = COMBINE[name](s, e) & M32
        assert after(run, arch, f"s_{name}_saveexec_b32 s22, s20", s, e) == (e, want, int(want != 0))


@pytest.mark.parametrize("arch", ["gfx1100", "gfx1201"])
@pytest.mark.parametrize("name", ["and_not0", "and_not1"])
def test_wrexec(run: Runner, name: str, arch: str) -> None:
    source, execute = (int(v) for v in RNG.integers(1, 2**32, 2))
    for s, e in ((source, execute), (source, source)):
        want = COMBINE[name](s, e) & M32
        assert after(run, arch, f"s_{name}_wrexec_b32 s22, s20", s, e) == (want, want, int(want != 0))
