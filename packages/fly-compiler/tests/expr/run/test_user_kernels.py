# SPDX-License-Identifier: Apache-2.0
"""Whole kernels as users write them, in the spellings of older pages and of newer ones, against torch."""

from types import SimpleNamespace

import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl.compiler.kernel_function import CompilationContext
from flydsl.expr import const_expr, gpu, range_constexpr, rocdl
from flydsl.expr.typing import T
from flydsl.expr.vector import ReductionOp
from flydsl.utils.smem_allocator import SmemAllocator, SmemPtr

Vec = fx.Vector
torch.manual_seed(0)


def test_warp_softmax():
    """Softmax of a row in one wave, by butterflies."""
    N = 512
    WARP = 64

    @flyc.kernel
    def sm(x: fx.Tensor, y: fx.Tensor, N: fx.Constexpr[int]):
        row = fx.block_idx.x
        lane = fx.thread_idx.x
        vals = []
        m = fx.Float32(float("-inf"))
        for i in range_constexpr(N // WARP):
            v = x[row, lane + i * WARP]
            vals.append(v)
            m = m.maximumf(v)
        for sh in [32, 16, 8, 4, 2, 1]:
            m = m.maximumf(m.shuffle_xor(sh, WARP))
        s = fx.Float32(0.0)
        es = []
        for v in vals:
            e = ((v - m) * 1.4426950408889634).exp2()
            es.append(e)
            s = s + e
        for sh in [32, 16, 8, 4, 2, 1]:
            s = s + fx.gpu.shuffle_xor(s, sh, WARP)
        for i in range_constexpr(N // WARP):
            y[row, lane + i * WARP] = es[i] / s

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, M: fx.Int32, N: fx.Constexpr[int], stream: fx.Stream = fx.Stream(None)):
        sm(x, y, N).launch(grid=(M, 1, 1), block=(WARP, 1, 1), stream=stream)

    x = torch.randn(7, N)
    y = torch.zeros(7, N)
    launch(x, y, 7, N)
    assert torch.allclose(y, x.softmax(-1), atol=1e-5)


def test_online_softmax_loop():
    """Softmax in one pass, in loops over a run-time length."""

    @flyc.kernel
    def k(x: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        row = fx.block_idx.x
        lane = fx.thread_idx.x
        m = fx.Float32(-1e30)
        s = fx.Float32(0.0)
        for c in range(lane, n, 64):
            v = x[row, c]
            nm = fx.max(m, v)
            s = s * fx.exp(m - nm) + fx.exp(v - nm)
            m = nm
        for sh in range_constexpr(6):
            om = fx.gpu.shuffle(m, 1 << sh, 64, mode="xor")
            os_ = gpu.shuffle(s, 1 << sh, 64)
            nm = fx.max(m, om)
            s = s * fx.exp(m - nm) + os_ * fx.exp(om - nm)
            m = nm
        for c in range(lane, n, 64):
            y[row, c] = fx.exp(x[row, c] - m) / s

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor, M: fx.Int32, n: fx.Int32):
        k(x, y, n).launch(grid=(M,), block=(64,))

    x = torch.randn(5, 200) * 5
    y = torch.zeros(5, 200)
    launch(x, y, 5, 200)
    assert torch.allclose(y, x.softmax(-1), atol=1e-5)


def test_histogram():
    """Counts in LDS by atomics, added to global memory by atomics."""
    BINS = 32

    @flyc.kernel
    def k(x: fx.Tensor, h: fx.Tensor, n: fx.Int32):
        @fx.struct
        class S:
            bins: fx.Array[fx.Int32, BINS]

        st = fx.SharedAllocator().allocate(S)
        tid = fx.thread_idx.x
        if tid < BINS:
            st.bins.peek()[tid] = 0
        fx.barrier()
        i = fx.block_idx.x * 256 + tid
        if i < n:
            fx.atomic_add(st.bins.peek().ptr + x[i], fx.Int32(1))
        fx.barrier()
        if tid < BINS:
            fx.atomic_add(fx.get_iter(h) + tid, st.bins.peek()[tid], syncscope=fx.rocdl.SyncScope.Agent)

    @flyc.jit
    def launch(x: fx.Tensor, h: fx.Tensor, n: fx.Int32):
        k(x, h, n).launch(grid=((n + 255) // 256,), block=(256,))

    x = torch.randint(0, BINS, (1000,), dtype=torch.int32)
    h = torch.zeros(BINS, dtype=torch.int32)
    launch(x, h, 1000)
    assert torch.equal(h, torch.bincount(x.long(), minlength=BINS).int())


def test_transpose_lds():
    """A transpose through padded LDS."""
    TS = 32

    @flyc.kernel(known_block_size=(256, 1, 1))
    def k(a: fx.Tensor, b: fx.Tensor):
        tid = fx.thread_idx.x
        bx, by = fx.block_idx.x, fx.block_idx.y
        alloc = fx.SharedAllocator()
        buf = alloc.allocate(fx.Array[fx.Float32, TS * (TS + 1)]).peek()
        s = buf.view(fx.make_layout((TS, TS), (TS + 1, 1)))
        c, r0 = tid % TS, tid // TS
        for i in range_constexpr(4):
            s[r0 + i * 8, c] = a[by * TS + r0 + i * 8, bx * TS + c]
        gpu.barrier()
        for i in range_constexpr(4):
            b[bx * TS + r0 + i * 8, by * TS + c] = s[c, r0 + i * 8]

    @flyc.jit
    def launch(a: fx.Tensor, b: fx.Tensor, gx: fx.Constexpr[int], gy: fx.Constexpr[int]):
        k(a, b).launch(grid=(gx, gy, 1), block=[256, 1, 1])

    a = torch.randn(64, 96)
    b = torch.zeros(96, 64)
    launch(a, b, 3, 2)
    assert torch.equal(b, a.t())


def test_smem_alloc_gemm():
    """A GEMM by raw MFMA intrinsics, with two stages in LDS of the older allocator."""
    # SmemAllocator + raw MFMA intrinsics, ping-pong
    M = N = 32
    K = 64
    allocator = SmemAllocator(None, arch="gfx942", global_sym_name="smem_pp")
    BK = 16
    aA_off = allocator._align(allocator.ptr, 16)
    allocator.ptr = aA_off + 2 * 32 * BK * 2
    aB_off = allocator._align(allocator.ptr, 16)
    allocator.ptr = aB_off + 2 * 32 * BK * 2

    @flyc.kernel
    def gemm(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
        base = allocator.get_base()
        sA = SmemPtr(base, aA_off, T.f16, shape=(2 * 32 * BK,))
        sB = SmemPtr(base, aB_off, T.f16, shape=(2 * 32 * BK,))
        tid = fx.thread_idx.x
        lane = tid % 64
        wave = tid // 64

        def load(stage, k0):
            for i in range_constexpr(32 * BK // 256):
                idx = tid + i * 256
                r, c = idx // BK, idx % BK
                sA.store(A[r, k0 + c], [fx.Index(stage * 32 * BK + idx)])
                sB.store(B[r, k0 + c], [fx.Index(stage * 32 * BK + idx)])

        acc = Vec.filled(4, 0.0, fx.Float32)
        wm, wn = wave // 2, wave % 2
        load(0, 0)
        gpu.barrier()
        for kt in range_constexpr(K // BK):
            cur = kt % 2
            if const_expr(kt + 1 < K // BK):
                load(1 - cur, (kt + 1) * BK)
            r = lane % 16
            kk = (lane // 16) * 4
            av = [sA.load([fx.Index(cur * 32 * BK + (wm * 16 + r) * BK + kk + j)]) for j in range(4)]
            bv = [sB.load([fx.Index(cur * 32 * BK + (wn * 16 + r) * BK + kk + j)]) for j in range(4)]
            a = Vec.from_elements(av, fx.Float16)
            b = Vec.from_elements(bv, fx.Float16)
            acc = Vec(rocdl.mfma_f32_16x16x16f16(T.f32x4, [a, b, acc, 0, 0, 0]))
            gpu.barrier()
        for j in range_constexpr(4):
            C[wm * 16 + (lane // 16) * 4 + j, wn * 16 + lane % 16] = acc[j]

    @flyc.jit
    def launch(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor):
        allocator.finalized = False
        ctx = CompilationContext.get_current()
        with ir.InsertionPoint(ctx.gpu_module_body):
            allocator.finalize()
        gemm(A, B, C).launch(grid=(1, 1, 1), block=(256, 1, 1))

    a = torch.randn(M, K).half()
    b = torch.randn(N, K).half()
    c = torch.zeros(M, N)
    launch(a, b, c)
    assert torch.allclose(c, a.float() @ b.float().t(), atol=1e-2)


def test_layernorm_block():
    """Layer norm by block reductions of vectors."""
    N = 1024
    BT = 256
    VEC = 4

    @flyc.kernel
    def k(x: fx.Tensor, w: fx.Tensor, b: fx.Tensor, y: fx.Tensor, eps: fx.Float32):
        row = fx.block_idx.x
        tid = fx.thread_idx.x
        BR = fx.coop.BlockReduce[fx.Float32, BT]
        alloc = fx.SharedAllocator()
        st1 = alloc.allocate(BR.SharedStorage)
        st2 = alloc.allocate(BR.SharedStorage)
        xr = fx.logical_divide(x[row, None], fx.make_layout(VEC, 1))
        yr = fx.logical_divide(y[row, None], fx.make_layout(VEC, 1))
        v = xr[None, tid].load()
        s = BR(v.reduce(ReductionOp.ADD), ReductionOp.ADD, storage=st1)
        mean = s / float(N)
        d = v - mean
        var = BR((d * d).reduce("add"), fx.ReductionOp.ADD, storage=st2) / float(N)
        rstd = fx.rsqrt(var + eps)
        wv = fx.logical_divide(w, fx.make_layout(VEC, 1))[None, tid].load()
        bv = fx.logical_divide(b, fx.make_layout(VEC, 1))[None, tid].load()
        out = d * rstd * wv + bv
        yr[None, tid].store(out.to(fx.BFloat16))

    @flyc.jit
    def launch(x: fx.Tensor, w: fx.Tensor, b: fx.Tensor, y: fx.Tensor, M: fx.Int32, eps: fx.Float32):
        k(x, w, b, y, eps).launch(grid=(M,), block=(BT,))

    x = torch.randn(3, N)
    w = torch.randn(N)
    b = torch.randn(N)
    y = torch.zeros(3, N, dtype=torch.bfloat16)
    launch(x, w, b, y, 3, 1e-5)
    assert torch.allclose(y.float(), torch.nn.functional.layer_norm(x, (N,), w, b), atol=3e-2)


def test_conv1d():
    """A convolution with conditional loads."""
    KS = 5

    @flyc.kernel
    def k(x: fx.Tensor, w: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        i = fx.block_idx.x * fx.block_dim.x + fx.thread_idx.x
        if i < n:
            acc = fx.Float32(0.0)
            for j in range_constexpr(KS):
                p = i + j - KS // 2
                ok = (p >= 0) and (p < n)
                q = ok.select(p, fx.Int32(0))
                xv = x[q] if ok else fx.Float32(0.0)
                acc = acc + xv * w[j]
            y[i] = acc

    @flyc.jit
    def launch(x: fx.Tensor, w: fx.Tensor, y: fx.Tensor, n: fx.Int32):
        k(x, w, y, n).launch(grid=((n + 127) // 128, 1, 1), block=(128, 1, 1))

    x = torch.randn(300)
    w = torch.randn(KS)
    y = torch.zeros(300)
    launch(x, w, y, 300)
    assert torch.allclose(y, torch.nn.functional.conv1d(x[None, None], w[None, None], padding=KS // 2)[0, 0], atol=1e-5)


def test_int4_unpack():
    """Packed 4-bit weights."""

    @flyc.kernel
    def k(p: fx.Tensor, s: fx.Tensor, y: fx.Tensor):
        i = fx.thread_idx.x
        w = p[i]
        sc = s[0]
        for j in range_constexpr(8):
            nib = (w >> (4 * j)) & 0xF
            val = (nib ^ 8) - 8
            y[i * 8 + j] = val.to(fx.Float32) * sc

    @flyc.jit
    def launch(p: fx.Tensor, s: fx.Tensor, y: fx.Tensor):
        k(p, s, y).launch(block=(64,))

    v = torch.randint(-8, 8, (64, 8))
    u = (v & 15).long()
    packed = sum(u[:, j] << (4 * j) for j in range(8))
    packed = torch.where(packed >= 2**31, packed - 2**32, packed).int()
    s = torch.tensor([0.5])
    y = torch.zeros(512)
    launch(packed, s, y)
    assert torch.equal(y, v.reshape(-1).float() * 0.5)


def test_topk_bitonic():
    """The largest elements with their indices, by a bitonic network of shuffles."""

    @flyc.kernel
    def k(x: fx.Tensor, v: fx.Tensor, ix: fx.Tensor):
        lane = fx.thread_idx.x
        key = x[fx.block_idx.x, lane]
        idx = fx.Int32(lane)
        for s in range_constexpr(6):
            size = 2 << s
            for q in range_constexpr(s + 1):
                stride = size >> (q + 1)
                ok = gpu.shuffle_xor(key, stride, 64)
                oi = gpu.shuffle_xor(idx, stride, 64)
                up = (lane & size) == 0
                lower = (lane & stride) == 0
                take_max = up == lower
                bigger = (ok > key) | ((ok == key) & (oi < idx))
                swap = take_max.select(bigger, not bigger)
                key = swap.select(ok, key)
                idx = swap.select(oi, idx)
        if lane < 8:
            v[fx.block_idx.x, lane] = key
            ix[fx.block_idx.x, lane] = idx

    @flyc.jit
    def launch(x: fx.Tensor, v: fx.Tensor, ix: fx.Tensor, M: fx.Int32):
        k(x, v, ix).launch(grid=(M,), block=(64,))

    x = torch.randn(3, 64)
    v = torch.zeros(3, 8)
    ix = torch.zeros(3, 8, dtype=torch.int32)
    launch(x, v, ix, 3)
    assert torch.equal(v, x.topk(8).values)
    assert torch.equal(ix.long(), x.topk(8).indices)


def test_buffer_copy_gemv():
    """A matrix times a vector through buffer copies."""

    @flyc.kernel
    def k(A: fx.Tensor, x: fx.Tensor, y: fx.Tensor, K: fx.Constexpr[int]):
        row = fx.block_idx.x
        lane = fx.thread_idx.x
        bA = fx.rocdl.make_buffer_tensor(A)
        bx = fx.rocdl.make_buffer_tensor(x, max_size=False)
        atom = fx.make_copy_atom(fx.rocdl.BufferCopy128b(), fx.Float32)
        ra = fx.make_rmem_tensor(4, fx.Float32)
        rx = fx.make_rmem_tensor(4, fx.Float32)
        acc = fx.Float32(0)
        gA = fx.logical_divide(bA[row, None], fx.make_layout(4, 1))
        gx = fx.logical_divide(bx, fx.make_layout(4, 1))
        for i in range_constexpr(K // 256):
            fx.copy_atom_call(atom, gA[None, lane + i * 64], ra)
            fx.copy_atom_call(atom, gx[None, lane + i * 64], rx)
            acc = acc + (Vec(fx.memref_load_vec(ra)) * Vec(fx.memref_load_vec(rx))).reduce("add")
        acc = fx.coop.warp_reduce(acc, fx.ReductionOp.ADD)
        if lane == 0:
            y[row] = acc

    @flyc.jit
    def launch(A: fx.Tensor, x: fx.Tensor, y: fx.Tensor, M: fx.Int32, K: fx.Constexpr[int]):
        k(A, x, y, K).launch(grid=(M, 1, 1), block=(64, 1, 1))

    A = torch.randn(6, 512)
    x = torch.randn(512)
    y = torch.zeros(6)
    launch(A, x, y, 6, 512)
    assert torch.allclose(y, A @ x, atol=1e-3)


def test_while_gcd():
    """Euclid's algorithm, as long as each lane needs."""

    @flyc.kernel
    def k(a: fx.Tensor, b: fx.Tensor, g: fx.Tensor):
        i = fx.thread_idx.x
        x = a[i]
        y = b[i]
        while y != 0:
            t = x % y
            x = y
            y = t
        g[i] = x

    @flyc.jit
    def launch(a: fx.Tensor, b: fx.Tensor, g: fx.Tensor):
        k(a, b, g).launch(block=(64,))

    a = torch.randint(1, 1000, (64,), dtype=torch.int32)
    b = torch.randint(1, 1000, (64,), dtype=torch.int32)
    g = torch.zeros(64, dtype=torch.int32)
    launch(a, b, g)
    assert torch.equal(g, torch.gcd(a, b))


def test_many_kernels_host_loop():
    """Several kernels in loops and branches of a host function."""

    @flyc.kernel
    def inc(x: fx.Tensor, v: fx.Float32):
        x[fx.thread_idx.x] = x[fx.thread_idx.x] + v

    @flyc.kernel(name="dbl")
    def dbl(x: fx.Tensor):
        x[fx.thread_idx.x] = x[fx.thread_idx.x] * 2.0

    @flyc.jit
    def launch(x: fx.Tensor, n: fx.Int32, a: fx.Float32):
        for i in range(n):
            inc(x, a + i.to(fx.Float32)).launch(block=(16,))
        if n > 2:
            dbl(x).launch(block=(16,))
        else:
            inc(x, fx.Float32(100.0)).launch(block=(16,))

    x = torch.zeros(16)
    launch(x, 3, 1.0)
    assert torch.equal(x, torch.full((16,), 12.0))


def test_params_containers():
    """Dicts, tuples and namespaces of values as kernel parameters."""

    @flyc.kernel
    def k(cfg, pair, x: fx.Tensor):
        t = fx.thread_idx.x
        x[t] = x[t] * cfg["scale"] + cfg["bias"] + pair[0] + pair[1].v

    @flyc.jit
    def launch(x: fx.Tensor, s: fx.Float32):
        k({"scale": s, "bias": fx.Float32(1.0)}, (fx.Float32(2.0), SimpleNamespace(v=s)), x).launch(block=(8,))

    x = torch.ones(8)
    launch(x, 3.0)
    assert torch.equal(x, torch.full((8,), 9.0))


def test_dyn_smem_union():
    """Memory of a union in dynamic LDS."""

    @flyc.kernel
    def k(x: fx.Tensor, y: fx.Tensor):
        t = fx.thread_idx.x
        al = fx.SharedAllocator(static=False)
        U = fx.Union["f" : fx.Array[fx.Float32, 64], "i" : fx.Array[fx.Int32, 64]]
        st = al.allocate(U)
        st.f.peek()[t] = x[t]
        fx.barrier()
        y[t] = st.i.peek()[63 - t]

    @flyc.jit
    def launch(x: fx.Tensor, y: fx.Tensor):
        k(x, y).launch(block=(64,))

    x = torch.rand(64)
    y = torch.zeros(64, dtype=torch.int32)
    launch(x, y)
    assert torch.equal(y, x.view(torch.int32).flip(0))


def test_vec_accumulators_loop():
    """Vectors in a list as accumulators of a run-time loop."""

    @flyc.kernel
    def k(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, K: fx.Int32):
        lane = fx.thread_idx.x
        accs = [fx.full(4, 0.0, fx.Float32) for _ in range_constexpr(2)]
        for kk in range(0, K, 16):
            r, q = lane % 16, lane // 16
            a = fx.Vector.from_elements([A[r, kk + q * 4 + j] for j in range_constexpr(4)])
            for n in range_constexpr(2):
                b = fx.Vector.from_elements([B[n * 16 + r, kk + q * 4 + j] for j in range_constexpr(4)])
                accs[n] = fx.Vector(rocdl.mfma_f32_16x16x16f16(T.f32x4, [a, b, accs[n], 0, 0, 0]), dtype=fx.Float32)
        for n in range_constexpr(2):
            for j in range_constexpr(4):
                C[(lane // 16) * 4 + j, n * 16 + lane % 16] = accs[n][j]

    @flyc.jit
    def launch(A: fx.Tensor, B: fx.Tensor, C: fx.Tensor, K: fx.Int32):
        k(A, B, C, K).launch(block=(64,))

    a = torch.randn(16, 64).half()
    b = torch.randn(32, 64).half()
    c = torch.zeros(16, 32)
    launch(a, b, c, 64)
    assert torch.allclose(c, a.float() @ b.float().t(), atol=1e-2)
