# SPDX-License-Identifier: Apache-2.0
"""The accumulator of one tiled MMA as an operand of the next: `retile_A` and `retile_B`."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.runtime.device import get_rocm_arch

KEYS, ROWS, DEPTH, HEAD = 64, 32, 32, 32


def _one_wave(depth, order):
    atom = fx.make_mma_atom(fx.rocdl.MFMA(32, 32, depth, fx.Float16))
    return fx.make_tiled_mma(atom, fx.make_layout((1, 1, 1), (0, 0, 0)), (None, None, order))


def _operand(make_copy, make_fragment, tiled, source, thread, bits):
    atom = fx.make_copy_atom(fx.UniversalCopy(bits), source.dtype)
    copy = make_copy(atom, tiled).get_slice(thread)
    fragment = make_fragment(source)
    fx.copy(atom, copy.partition_S(source), copy.retile(fragment))
    return fragment


def test_the_transposed_accumulator_as_operand_b():
    """O^T = V^T (K Q^T): a lane's keys of S^T are its keys of the operand, if K of the second product is permuted."""
    depth = 16 if get_rocm_arch().startswith("gfx950") else 8

    @flyc.kernel(known_block_size=(64, 1, 1))
    def kernel(k: fx.Tensor, q: fx.Tensor, vt: fx.Tensor, ot: fx.Tensor):
        first = _one_wave(depth, None)
        second = _one_wave(depth, fx.make_layout((4, 2, 2), (1, 8, 4)) if depth == 16 else None)
        qk, pv = (one.get_slice(fx.thread_idx.x) for one in (first, second))
        a = _operand(fx.make_tiled_copy_A, qk.make_fragment_A, first, k, fx.thread_idx.x, 64 if depth == 8 else 128)
        b = _operand(fx.make_tiled_copy_B, qk.make_fragment_B, first, q, fx.thread_idx.x, 64 if depth == 8 else 128)
        scores = fx.make_rmem_tensor(((4, 4), KEYS // 32, ROWS // 32), fx.Float32)
        scores.fill(0.0)
        fx.gemm(first, scores, a, b, scores)
        weights = fx.make_fragment_like(scores, fx.Float16)
        weights.store(scores.load().to(fx.Float16))
        v = _operand(fx.make_tiled_copy_A, pv.make_fragment_A, second, vt, fx.thread_idx.x, 64)
        output = pv.make_fragment_C(ot)
        output.fill(0.0)
        fx.gemm(second, output, v, pv.retile_B(weights, qk), output)
        store = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        to = fx.make_tiled_copy_C(store, second).get_slice(fx.thread_idx.x)
        fx.copy(store, to.retile(output), to.partition_D(ot))

    @flyc.jit
    def launch(k: fx.Tensor, q: fx.Tensor, vt: fx.Tensor, ot: fx.Tensor):
        kernel(k, q, vt, ot).launch(grid=(1,), block=(64,))

    generator = torch.Generator().manual_seed(3)
    shapes = ((KEYS, DEPTH), (ROWS, DEPTH), (HEAD, KEYS))
    k, q, vt = (torch.randint(-2, 3, shape, generator=generator).half() for shape in shapes)
    ot = torch.full((HEAD, ROWS), float("nan"))
    launch(*(flyc.from_dlpack(one, assumed_align=16) for one in (k, q, vt, ot)))
    assert torch.equal(ot.double(), vt.double() @ (k.double() @ q.double().t()))  # small integers: exact


def test_the_accumulator_as_operand_a():
    """A row a thread: (a b^T) c^T with the sums of the first product in the registers that the second takes."""

    @flyc.kernel(known_block_size=(64, 1, 1))
    def kernel(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, d: fx.Tensor):
        tiled = fx.make_tiled_mma(fx.make_mma_atom(fx.UniversalFMA(fx.Float32)), fx.make_layout((64, 1, 1), (1, 0, 0)))
        mine = tiled.get_slice(fx.thread_idx.x)
        fa = _operand(fx.make_tiled_copy_A, mine.make_fragment_A, tiled, a, fx.thread_idx.x, 32)
        fb = _operand(fx.make_tiled_copy_B, mine.make_fragment_B, tiled, b, fx.thread_idx.x, 32)
        sums = fx.make_rmem_tensor((1, 1, 6), fx.Float32)
        sums.fill(0.0)
        fx.gemm(tiled, sums, fa, fb, sums)
        fc = _operand(fx.make_tiled_copy_B, mine.make_fragment_B, tiled, c, fx.thread_idx.x, 32)
        result = mine.make_fragment_C(d)
        result.fill(0.0)
        fx.gemm(tiled, result, mine.retile_A(sums, mine), fc, result)
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        to = fx.make_tiled_copy_C(atom, tiled).get_slice(fx.thread_idx.x)
        fx.copy(atom, to.retile(result), to.partition_D(d))

    @flyc.jit
    def launch(a: fx.Tensor, b: fx.Tensor, c: fx.Tensor, d: fx.Tensor):
        kernel(a, b, c, d).launch(grid=(1,), block=(64,))

    generator = torch.Generator().manual_seed(4)
    a, b, c = (torch.randint(-4, 5, shape, generator=generator).float() for shape in ((64, 5), (6, 5), (3, 6)))
    d = torch.full((64, 3), float("nan"))
    launch(*(flyc.from_dlpack(one) for one in (a, b, c, d)))
    assert torch.equal(d, a @ b.t() @ c.t())


@pytest.mark.parametrize(
    ("operand", "order", "shape", "message"),
    [
        ("B", None, ((4, 4), 2, 1), None),
        ("B", "pairs", ((4, 4), 2, 1), "permute the contracted mode"),
        ("A", None, ((4, 4), 2, 1), "thread 0 does not have the elements of operand A"),
        ("B", None, (8, 2, 1), "a fragment of 8 x 2 x 1 elements is not that of an accumulator"),
        ("B", None, (16, 2), r"is \(V, M, N\) of static extents, not \(16,2\)"),
    ],
)
def test_what_cannot_be_an_operand_is_refused(operand, order, shape, message):
    """An accumulator of 32 x 32 instructions of K = 8, which keep four neighbours of K in a lane."""

    @flyc.kernel(known_block_size=(64, 1, 1))
    def kernel():
        first = _one_wave(8, None)
        second = _one_wave(8, fx.make_layout((4, 2, 2), (1, 8, 4)) if order else None)
        fragment = fx.make_rmem_tensor(shape, fx.Float16)
        fragment.fill(0.0)
        mine = second.get_slice(fx.thread_idx.x)
        (mine.retile_A if operand == "A" else mine.retile_B)(fragment, first)

    @flyc.jit
    def launch():
        kernel().launch(grid=(1,), block=(64,))

    if message is None:
        launch()
        return
    with pytest.raises(ValueError, match=message):
        launch()
