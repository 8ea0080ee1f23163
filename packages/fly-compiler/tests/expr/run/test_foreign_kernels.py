# SPDX-License-Identifier: Apache-2.0
"""Kernels as their authors write them who know the language's pages only, old and new spellings mixed."""

from types import SimpleNamespace

import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import gpu, range_constexpr
from flydsl.runtime.device import get_rocm_arch


def test_batched_gemm_tiled():
    BM, BN, BK = (64, 64, 32)

    @flyc.kernel(known_block_size=(256, 1, 1))
    def g(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, K: fx.Constexpr[int]):
        tid = fx.thread_idx.x
        bm, bn, bb = (fx.block_idx.x, fx.block_idx.y, fx.block_idx.z)
        mma = fx.make_tiled_mma(
            fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16)), fx.make_layout((2, 2, 1), (1, 2, 0))
        )
        gA = fx.zipped_divide(A[bb, None, None], (BM, BK))
        gB = fx.zipped_divide(B[bb, None, None], (BN, BK))
        gC = fx.zipped_divide(C[bb, None, None], (BM, BN))
        thr = mma.get_slice(tid)
        cA = fx.make_tiled_copy_A(fx.make_copy_atom(fx.UniversalCopy64b(), fx.Float16), mma).get_slice(tid)
        cB = fx.make_tiled_copy_B(fx.make_copy_atom(fx.UniversalCopy64b(), fx.Float16), mma).get_slice(tid)
        tileA = gA[None, (bm, 0)]
        tileB = gB[None, (bn, 0)]
        tileC = gC[None, (bm, bn)]
        fA = thr.make_fragment_A(tileA)
        fB = thr.make_fragment_B(tileB)
        fC = thr.make_fragment_C(tileC)
        fC.fill(0.0)
        for k in range_constexpr(K // BK):
            fx.copy(
                fx.make_copy_atom(fx.UniversalCopy64b(), fx.Float16), cA.partition_S(gA[None, (bm, k)]), cA.retile(fA)
            )
            fx.copy(
                fx.make_copy_atom(fx.UniversalCopy64b(), fx.Float16), cB.partition_S(gB[None, (bn, k)]), cB.retile(fB)
            )
            fx.gemm(mma, fC, fA, fB, fC)
        st = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        cC = fx.make_tiled_copy_C(st, mma).get_slice(tid)
        fx.copy(st, cC.retile(fC), cC.partition_D(tileC))

    @flyc.jit
    def launch(
        A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, K: fx.Constexpr[int], gx: fx.Int32, gy: fx.Int32, gz: fx.Int32
    ):
        g(A, B, C, K).launch(grid=(gx, gy, gz), block=(256, 1, 1))

    a = torch.randn(2, 128, 64).half()
    b = torch.randn(2, 64, 64).half()
    c = torch.zeros(2, 128, 64)
    launch(a, b, c, 64, 2, 1, 2)
    assert torch.allclose(c, a.float() @ b.float().transpose(1, 2), atol=0.01)


def test_fp8_gemm():
    dt = torch.float8_e4m3fnuz if get_rocm_arch() == "gfx942" else torch.float8_e4m3fn
    F8 = fx.Float8E4M3FNUZ if get_rocm_arch() == "gfx942" else fx.Float8E4M3FN

    @flyc.kernel(known_block_size=(64, 1, 1))
    def g(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
        atom = fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 32, F8))
        mma = fx.make_tiled_mma(atom, fx.make_layout((1, 1, 1), (1, 1, 1)))
        thr = mma.get_slice(fx.thread_idx.x)
        fA, fB, fC = (thr.make_fragment_A(A), thr.make_fragment_B(B), thr.make_fragment_C(C))
        ca = fx.make_copy_atom(fx.UniversalCopy(64), F8)
        tA = fx.make_tiled_copy_A(ca, mma).get_slice(fx.thread_idx.x)
        tB = fx.make_tiled_copy_B(ca, mma).get_slice(fx.thread_idx.x)
        fx.copy(ca, tA.partition_S(A), tA.retile(fA))
        fx.copy(ca, tB.partition_S(B), tB.retile(fB))
        fC.fill(0)
        fx.gemm(mma, fC, fA, fB, fC)
        st = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        cC = fx.make_tiled_copy_C(st, mma).get_slice(fx.thread_idx.x)
        fx.copy(st, cC.retile(fC), cC.partition_D(C))

    @flyc.jit
    def launch(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
        g(A, B, C).launch(grid=(1, 1, 1), block=(64, 1, 1))

    a = torch.randn(16, 64).to(dt)
    b = torch.randn(16, 64).to(dt)
    c = torch.zeros(16, 16)
    launch(flyc.from_dlpack(a), flyc.from_dlpack(b), flyc.from_dlpack(c))
    assert torch.allclose(c, a.float() @ b.float().t(), atol=0.001)


def test_swizzled_lds_copy():

    @flyc.kernel(known_block_size=(128, 1, 1))
    def k(A: fx.Tensor, B: fx.Tensor):
        tid = fx.thread_idx.x
        sm = fx.SharedAllocator().allocate(fx.Array[fx.Float16, 64 * 64, 16])
        ptr = fx.apply_swizzle(sm.peek().ptr, fx.static(fx.SwizzleType.get(3, 4, 3)))
        sA = fx.make_view(ptr, fx.make_layout((64, 64), (64, 1)))
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float16)
        tc = fx.make_tiled_copy_tv(atom, fx.make_layout((16, 8), (8, 1)), fx.make_layout((1, 8), (1, 1)))
        th = tc.get_slice(tid)
        src = th.partition_S(A)
        frag = fx.make_fragment_like(src)
        fx.copy(atom, src, frag)
        fx.copy(atom, frag, th.partition_D(sA))
        fx.barrier()
        for i in range_constexpr(32):
            e = tid + i * 128
            B[e // 64, e % 64] = sA[e % 64, e // 64]

    @flyc.jit
    def launch(A: fx.Tensor, B: fx.Tensor):
        k(A, B).launch(grid=(1,), block=(128,))

    a = torch.randn(64, 64).half()
    b = torch.zeros(64, 64).half()
    launch(flyc.from_dlpack(a, assumed_align=16), b)
    assert torch.equal(b, a.t())


def test_predicated_copy():

    @flyc.kernel(known_block_size=(64, 1, 1))
    def k(A: fx.Tensor, B: fx.Tensor, M: fx.Int32, N: fx.Int32):
        tid = fx.thread_idx.x
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        tc = fx.make_tiled_copy_tv(atom, fx.make_layout((8, 8), (8, 1)), fx.make_layout((1, 1), (1, 1)))
        th = tc.get_slice(tid)
        gA = fx.zipped_divide(A, (16, 16))
        gB = fx.zipped_divide(B, (16, 16))
        cT = fx.zipped_divide(fx.make_view(fx.make_int_tuple((0, 0)), fx.make_identity_layout((M, N))), (16, 16))
        co = (fx.block_idx.x, fx.block_idx.y)
        tA = th.partition_S(gA[None, co])
        tB = th.partition_D(gB[None, co])
        tC = th.partition_S(cT[None, co])
        frag = fx.make_fragment_like(tA)
        frag.fill(-1.0)
        pred = fx.make_rmem_tensor(fx.make_layout((1, 2, 2), (1, 1, 2)), fx.Boolean)
        for i in range_constexpr(2):
            for j in range_constexpr(2):
                pred[0, i, j] = fx.elem_less(tC[0, i, j], (M, N))
        fx.copy(atom, tA, frag, pred=pred)
        frag.store(frag.load() * 2.0)
        fx.copy(atom, frag, tB, pred=pred)

    @flyc.jit
    def launch(A: fx.Tensor, B: fx.Tensor, M: fx.Int32, N: fx.Int32):
        k(A, B, M, N).launch(grid=((M + 15) // 16, (N + 15) // 16, 1), block=(64, 1, 1))

    a = torch.randn(37, 21)
    b = torch.zeros(37, 21)
    launch(a, b, 37, 21)
    assert torch.equal(b, a * 2)


def test_topk_rows():

    @flyc.kernel(known_block_size=(64, 1, 1))
    def k(x: fx.Tensor, v: fx.Tensor, idx: fx.Tensor, K: fx.Constexpr[int], N: fx.Constexpr[int]):
        row = fx.block_idx.x
        lane = fx.lane_id()
        vals = [fx.Float32(x[row, lane + 64 * i]) for i in range(N // 64)]
        for k in range_constexpr(K):
            best = vals[0]
            arg = lane
            for i in range_constexpr(1, len(vals)):
                better = vals[i] > best
                arg = better.select(lane + 64 * i, arg)
                best = better.select(vals[i], best)
            for off in (32, 16, 8, 4, 2, 1):
                ov = gpu.shuffle_xor(best, off, 64)
                oi = gpu.shuffle_xor(arg, off, 64)
                take = (ov > best) | (ov == best) & (oi < arg)
                best = take.select(ov, best)
                arg = take.select(oi, arg)
            if lane == 0:
                v[row, k] = best
                idx[row, k] = arg
            vals = [(lane + 64 * i == arg).select(fx.Float32(float("-inf")), w) for i, w in enumerate(vals)]

    @flyc.jit
    def launch(x: fx.Tensor, v: fx.Tensor, idx: fx.Tensor, K: fx.Constexpr[int], N: fx.Constexpr[int]):
        k(x, v, idx, K, N).launch(grid=(x.shape[0], 1, 1), block=(64, 1, 1))

    x = torch.randn(5, 256)
    v = torch.zeros(5, 4)
    i = torch.zeros(5, 4, dtype=torch.int32)
    launch(x, v, i, 4, 256)
    r = x.topk(4)
    assert torch.equal(v, r.values)
    assert torch.equal(i.long(), r.indices)


def test_nested_jit_dispatch():

    @flyc.kernel
    def k(x: fx.Tensor, y: fx.Tensor, mode: fx.Int32):
        i = fx.thread_idx.x

        @flyc.jit
        def pick(v, mode):
            if mode == 0:
                v = v + 1.0
            elif mode == 1:
                v = v * 2.0
            else:
                v = -v
            return v

        y[i] = pick(x[i], mode)

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, mode: fx.Int32):
        k(x, y, mode).launch(grid=(1,), block=(64,))

    x = torch.randn(64)
    for m, r in enumerate((x + 1, x * 2, -x)):
        y = torch.zeros(64)
        launch(x, y, m)
        assert torch.equal(y, r)


def test_containers():

    @flyc.kernel
    def k(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        st = {"m": fx.Float32(-1e30), "s": [fx.Float32(0.0), (fx.Int32(0), fx.full(2, 0.0, fx.Float32))]}
        ns = SimpleNamespace(c=fx.Int32(0))
        for i in range(n):
            v = x[i]
            st["m"] = fx.max(st["m"], v)
            st["s"][0] = st["s"][0] + v
            if v > 0.0:
                c, w = st["s"][1]
                st["s"][1] = (c + 1, w + v)
                ns.c = ns.c + 2
        y[0] = st["m"]
        y[1] = st["s"][0]
        y[2] = st["s"][1][0].to(fx.Float32)
        y[3] = st["s"][1][1][1]
        y[4] = ns.c.to(fx.Float32)

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        k(x, y, n).launch(grid=(1,), block=(1,))

    x = torch.randn(50)
    y = torch.zeros(5)
    launch(x, y, 50)
    p = x > 0
    assert torch.allclose(y, torch.tensor([x.max(), x.sum(), p.sum(), x[p].sum(), 2 * p.sum()]), atol=0.0001)


def test_struct_kernel():

    @fx.struct
    class Params:
        scale: fx.Float32
        bias: fx.Float32
        n: fx.Int32

    @fx.struct
    class Pair:
        lo: fx.Float32
        hi: fx.Float32

    @flyc.kernel
    def k(x: fx.Tensor, y: fx.Tensor, p: Params):
        acc = Pair(fx.Float32(1e30), fx.Float32(-1e30))
        for j in range(p.n):
            v = x[j] * p.scale + p.bias
            if v < acc.lo:
                acc = acc.replace(lo=v)
            if v > acc.hi:
                acc = acc.replace(hi=v)
        y[0] = acc.lo
        y[1] = acc.hi

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, p: Params):
        k(x, y, p).launch(grid=(1,), block=(1,))

    x = torch.randn(33)
    y = torch.zeros(2)
    launch(x, y, Params(2.0, 1.0, 33))
    assert torch.allclose(y, torch.stack([(x * 2 + 1).min(), (x * 2 + 1).max()]))


def test_while_vec():

    @flyc.kernel
    def k(x: fx.Tensor, y: fx.Tensor, lim: fx.Float32):
        i = fx.thread_idx.x
        v = fx.full(4, 1.0, fx.Float32)
        s = fx.Float32(x[i])
        n = fx.Int32(0)
        while (v.reduce("add") < lim) & (n < 20):
            v = v * 1.5 + s
            n += 1
        y[i, 0] = v[0]
        y[i, 1] = n.to(fx.Float32)

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, lim: fx.Float32):
        k(x, y, lim).launch(grid=(1, 1, 1), block=(64, 1, 1))

    x = torch.rand(64)
    y = torch.zeros(64, 2)
    launch(x, y, 100.0)
    v = torch.ones(64)
    n = torch.zeros(64)
    for _ in range(20):
        m = 4 * v < 100
        v = torch.where(m, v * 1.5 + x, v)
        n = n + m
    assert torch.allclose(y[:, 0], v, rtol=1e-05)
    assert torch.equal(y[:, 1], n)
