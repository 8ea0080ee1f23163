# SPDX-License-Identifier: Apache-2.0
"""What is traced lowers: one GEMM per matrix operation, through the passes up to ROCDL."""

import pytest
from tracing import kernel

import flydsl.expr as fx
from flydsl._mlir._mlir_libs._fly_emit import device_pipeline
from flydsl._mlir.passmanager import PassManager

# Architecture, operation, bits that one copy moves, instructions per wave for a 64 x 64 x 128 tile on 2 x 2 waves.
OPERATIONS = [
    ("gfx942", lambda: fx.rocdl.MFMA(16, 16, 16, fx.BFloat16), fx.BFloat16, 64, 32),
    ("gfx942", lambda: fx.rocdl.MFMA(32, 32, 8, fx.Float16), fx.Float16, 64, 16),
    ("gfx942", lambda: fx.rocdl.MFMA(16, 16, 4, fx.Float32), fx.Float32, 32, 128),
    ("gfx942", lambda: fx.rocdl.MFMA(16, 16, 32, fx.Float8E4M3FNUZ), fx.Float8E4M3FNUZ, 64, 16),
    ("gfx942", lambda: fx.rocdl.MFMA(16, 16, 32, fx.Int8), fx.Int8, 64, 16),
    ("gfx950", lambda: fx.rocdl.MFMA(16, 16, 32, fx.BFloat16), fx.BFloat16, 128, 16),
    ("gfx950", lambda: fx.rocdl.MFMAScale(16, 16, 128, fx.Float8E4M3FN), fx.Float8E4M3FN, 128, 4),
    ("gfx1100", lambda: fx.rocdl.WMMA(16, 16, 16, fx.Float16), fx.Float16, 128, 32),
    ("gfx1201", lambda: fx.rocdl.WMMA(16, 16, 16, fx.BFloat16), fx.BFloat16, 128, 32),
    ("gfx1250", lambda: fx.rocdl.WMMA(16, 16, 32, fx.Float16), fx.Float16, 128, 16),
    ("gfx1250", lambda: fx.rocdl.WMMA(16, 16, 64, fx.Float8E4M3FN), fx.Float8E4M3FN, 64, 8),
]


@pytest.mark.parametrize(("arch", "operation", "element", "bits", "count"), OPERATIONS)
def test_matrix_operations(arch, operation, element, bits, count):
    acc = fx.Int32 if element is fx.Int8 else fx.Float32
    operand = f"!fly.memref<{element.mnemonic}, global, (64,128):(128,1), align<16>>"
    with kernel(operand, operand, f"!fly.memref<{acc.mnemonic}, global, (64,64):(64,1)>", arch=arch) as k:
        mma = fx.make_tiled_mma(fx.make_mma_atom(operation()), fx.make_layout((2, 2, 1), (1, 2, 0)))
        a, b, c = map(fx.Tensor, k.args)
        left, right, sums = mma.make_fragment_A(a), mma.make_fragment_B(b), mma.make_fragment_C(c)
        atom = fx.make_copy_atom(fx.UniversalCopy(bits), element)
        for make, source, fragment in ((fx.make_tiled_copy_A, a, left), (fx.make_tiled_copy_B, b, right)):
            mine = make(atom, mma).get_slice(fx.thread_idx.x)
            fx.copy(mine.tiled_copy, mine.partition_S(source), mine.retile(fragment))
        sums.fill(0)
        fx.gemm(mma, sums, left, right, sums)
        store = fx.make_tiled_copy_C(fx.make_copy_atom(fx.UniversalCopy32b(), acc), mma)
        mine = store.get_slice(fx.thread_idx.x)
        fx.copy(store, mine.retile(sums), mine.partition_D(c))
    with k.module.context:
        stages = device_pipeline(chip=arch)
        last = [stage.name for stage in stages].index("convert-fly-to-rocdl") + 1  # and what cleans up behind it
        for stage in stages[: last + 1]:
            PassManager.parse(f"builtin.module({stage.text})").run(k.module.operation)
        text = k.ir()
    assert text.count("rocdl.mfma") + text.count("rocdl.wmma") == count
    assert "fly." not in text
