# SPDX-License-Identifier: Apache-2.0
"""What the target lacks is refused where it is asked for; which chips have what is a table of the dialect.

The table itself is compared with LLVM in `tests/test_instruction_availability.py` of fly-dialect.
"""

import pytest
from tracing import kernel

import flydsl.expr as fx
from flydsl.expr import rocdl
from flydsl.expr.rocdl.availability import is_available


def test_intrinsics_by_name_are_asked():
    with kernel("i32") as k:
        word = fx.Int32(k.args[0]).ir_value()
        with pytest.raises(ValueError, match=r"permlane16\.swap needs gfx950.*, but the kernel is compiled for gfx942"):
            rocdl.call_intrinsic("llvm.amdgcn.permlane16.swap", (word, word), fx.T.i32)
        with pytest.raises(
            ValueError, match=r"fdot2_bf16_bf16 needs gfx1100.*, but the kernel is compiled for gfx942$"
        ):
            rocdl.fdot2_bf16_bf16(fx.T.bf16, word, word, word)


def test_operations_of_mlir_are_asked():
    with (
        kernel() as k,
        pytest.raises(ValueError, match=r"s\.wait\.dscnt needs gfx1201 or gfx1250, .* it has s\.waitcnt"),
    ):
        rocdl.s_wait_dscnt(0)
    with kernel(arch="gfx1201") as k:
        rocdl.s_wait_dscnt(0)
        rocdl.s_barrier()
        assert "rocdl.s.wait.dscnt" in k.ir()


def test_a_chip_of_another_vendor_has_none_of_them():
    with kernel(arch="sm_90a"), pytest.raises(ValueError, match=r"asyncmark needs gfx950, but .* for sm_90a"):
        rocdl.asyncmark()


@pytest.mark.parametrize(
    ("arch", "rows"), [("gfx942", True), ("gfx950", True), ("gfx1100", False), ("gfx1201", False), ("gfx1250", False)]
)
def test_who_combines_lanes_by_broadcasts_of_rows(arch, rows):
    with kernel(arch=arch):
        assert is_available("rocdl.update.dpp.row_bcast") is rows


@pytest.mark.parametrize(
    ("arch", "mnemonic"), [("gfx1151", "gfx11.wmma"), ("gfx1201", "gfx120x.wmma"), ("gfx1250", "gfx1250.wmma")]
)
def test_wmma_is_what_the_target_has(arch, mnemonic):
    k = 32 if arch == "gfx1250" else 16
    with kernel(arch=arch):
        assert f"fly_rocdl.{mnemonic}<" in str(rocdl.WMMA(16, 16, k, fx.Float16))
        if arch != "gfx1250":
            with pytest.raises(ValueError, match=f"mod_c is for gfx1250; the kernel is compiled for {arch}"):
                rocdl.WMMA(16, 16, k, fx.Float16, mod_c=1)
