# SPDX-License-Identifier: Apache-2.0
"""Every construct of the language compiles for every target, also for those that the emulator is not run as here."""

import numpy
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr import buffer_ops, range_constexpr, rocdl
from flydsl.runtime.device import get_rocm_arch

TARGETS = ("gfx942", "gfx950", "gfx1201", "gfx1250")
POINT = fx.Struct["tag" : fx.Int8, "value" : fx.Float32]


def scalars(x, h, i, n):
    t = fx.thread_idx.x
    a, k = x[t], i[t]
    a = a * 2.0 - 1.0 / (a + 3.0) + fx.Float32(fx.Float16(h[t]) + 1.0) + fx.Float32(k // 3 + k % 5 + (k << 2))
    a = (k > 3).select(a, -a) + abs(a) + fx.max(a, 0.5) + fx.Float32(fx.ceildiv(k, 4))
    wide = fx.Int64(k) * 3 + fx.Int64(fx.Uint32(k) >> 3)
    x[t] = a + fx.Float32(wide) + fx.BFloat16(a).to(fx.Float32) + fx.Float32(fx.Float64(a) * 2.0)
    i[t] = a.bitcast(fx.Int32) ^ (k & 0xFF) | fx.ctpop(k) + fx.ctlz(k)


def functions(x, h, i, n):
    t = fx.thread_idx.x
    a = x[t]
    total = a
    for f in (fx.exp, fx.exp2, fx.log, fx.log2, fx.sqrt, fx.rsqrt, fx.sin, fx.cos, fx.tanh, fx.erf, fx.floor, fx.ceil):
        total = total + f(a)
    with fx.fastmath("fast"):
        total = total + fx.fma(a, a, a) + fx.powf(a, a) + fx.atan2(a, a) + fx.clampf(a, 0.0, 1.0)
    x[t] = total + fx.isnan(a).select(1.0, 0.0)


def control_flow(x, h, i, n):
    t = fx.thread_idx.x
    total, pair = fx.Float32(0.0), (fx.Int32(0), fx.full(4, 0.0, fx.Float32))
    for j in range(n):
        if x[j] < 0.0:
            continue
        total = total + x[j]
        pair = (pair[0] + 1, pair[1] + x[j])
        if total > 100.0:
            break
    while total > 1.0:
        total = total * 0.5
    x[t] = total + fx.Float32(pair[0]) + pair[1][0]
    if t > 3:
        return
    x[t] = 0.0


def vectors(x, h, i, n):
    t = fx.thread_idx.x
    v = fx.Vector.from_elements([x[t + j] for j in range_constexpr(4)])
    w = (v > 0.0).select(v * 2.0, fx.zeros_like(v)).to(fx.BFloat16).to(fx.Float32)
    x[t] = w.reduce("add") + w.reduce("max", fastmath="fast") + v.bitcast(fx.Int32)[1].to(fx.Float32)
    h[t] = v.to(fx.Float16).shuffle(v.to(fx.Float16), [0, 5])[1]


def shared_memory(x, h, i, n):
    t = fx.thread_idx.x
    allocator = fx.SharedAllocator()
    points = allocator.allocate(fx.Array[POINT, 64]).peek()
    raw = allocator.allocate(fx.Array[fx.Float32, 64]).peek()
    points[t] = POINT(fx.Int8(1), x[t])
    swizzled = fx.apply_swizzle(raw.ptr, fx.make_swizzle(2, 4, 3)).view(fx.make_layout(64, 1))
    swizzled[t] = x[t]
    fx.barrier()
    x[t] = points[63 - t].value + swizzled[63 - t]


def cooperation(x, h, i, n):
    t = fx.thread_idx.x
    Reduce, Scan = fx.coop.BlockReduce[fx.Float32, 64], fx.coop.BlockScan[fx.Int32, 64]
    allocator = fx.SharedAllocator()
    total = Reduce(x[t], fx.ReductionOp.ADD, storage=allocator.allocate(Reduce.SharedStorage))
    rank = Scan.exclusive(i[t], fx.ReductionOp.ADD, storage=allocator.allocate(Scan.SharedStorage))
    votes = rocdl.ballot(fx.T.i64 if fx.num_warp_threads() == 64 else fx.T.i32, x[t] > 0.0)
    first = rocdl.readfirstlane(i[t])
    i[t] = rank + first + fx.gpu.shuffle_xor(rank, 1) + fx.coop.warp_reduce(rank, fx.max) + fx.Int32(fx.Int64(votes))
    x[t] = total + fx.random.rand(n, t) + fx.random.randn(n, t)


def atomics(x, h, i, n):
    t = fx.thread_idx.x
    fx.atomic_add(x.iter, x[t])
    old = fx.atomic_max(i.iter + 1, i[t], syncscope=rocdl.SyncScope.Agent, ordering=fx.AtomicOrdering.AcqRel)
    previous, swapped = fx.atomic_cas(i.iter + 2, 0, 1)
    fx.memory_fence(syncscope=rocdl.SyncScope.Workgroup)
    i[t] = old + previous + swapped.select(1, 0) + fx.Int32(fx.generic_load(i.iter, nontemporal=True))


def copies(x, h, i, n):
    t = fx.thread_idx.x
    for make, atom in (
        (lambda tensor: tensor, fx.UniversalCopy128b()),
        (lambda tensor: rocdl.make_buffer_tensor(tensor, max_size=False), rocdl.BufferCopy128b()),
    ):
        tiles = fx.logical_divide(make(x), fx.make_layout(4, 1))
        atom = fx.make_copy_atom(atom, fx.Float32)
        registers, inside = fx.make_rmem_tensor(4, fx.Float32), fx.make_rmem_tensor(1, fx.Boolean)
        inside[0] = t < n
        registers.fill(0.0)
        fx.copy(atom, tiles[None, t], registers, pred=inside)
        registers.store(registers.load() + 1.0)
        fx.copy_atom_call(atom, registers, tiles[None, t])
    resource = buffer_ops.create_buffer_resource(h)
    buffer_ops.buffer_store(buffer_ops.buffer_load(resource, t * 2, vec_width=2), resource, t * 2)


def matrices(x, h, i, n):
    """One tile of the target's 16-bit matrix instruction, through tiled copies and fx.gemm."""
    op = {
        "gfx942": (rocdl.MFMA, 16),
        "gfx950": (rocdl.MFMA, 32),
        "gfx1201": (rocdl.WMMA, 16),
        "gfx1250": (rocdl.WMMA, 32),
    }[get_rocm_arch()]
    mma = fx.make_tiled_mma(fx.make_mma_atom(op[0](16, 16, op[1], fx.Float16)), fx.make_layout((1, 1, 1), (0, 0, 0)))
    a = fx.make_view(h.iter, fx.make_layout((16, 32), (32, 1)))
    c = fx.make_view(x.iter, fx.make_layout((16, 16), (16, 1)))
    mine = mma.get_slice(fx.thread_idx.x)
    load, store = (
        fx.make_copy_atom(fx.UniversalCopy16b(), fx.Float16),
        fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32),
    )
    fa, fb, fc = mine.make_fragment_A(a), mine.make_fragment_B(a), mine.make_fragment_C(c)
    for make, fragment in ((fx.make_tiled_copy_A, fa), (fx.make_tiled_copy_B, fb)):
        copy = make(load, mma).get_slice(fx.thread_idx.x)
        fx.copy(load, copy.partition_S(a), copy.retile(fragment))
    fc.fill(0.0)
    fx.gemm(mma, fc, fa, fb, fc)
    out = fx.make_tiled_copy_C(store, mma).get_slice(fx.thread_idx.x)
    fx.copy(store, out.retile(fc), out.partition_D(c))


def printing(x, h, i, n):
    t = fx.thread_idx.x
    fx.printf("{} {} {}", t, x[t], h[t])
    fx.device_assert(t < 64, "thread {}", t)


CONSTRUCTS = (
    scalars,
    functions,
    control_flow,
    vectors,
    shared_memory,
    cooperation,
    atomics,
    copies,
    matrices,
    printing,
)
EXAMPLES = [numpy.zeros(512, kind) for kind in (numpy.float32, numpy.float16, numpy.int32)]


def compile_for(monkeypatch, tmp_path, target, body):
    """Compile `body` as a kernel of one block for `target`; return the compiled function."""
    for name, value in (("ARCH", target), ("FLYDSL_GPU_ARCH", target), ("COMPILE_ONLY", "1")):
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(tmp_path))
    kernel = flyc.kernel(body)

    @flyc.jit
    def launch(x: fx.Tensor, h: fx.Tensor, i: fx.Tensor, n: fx.Int32):
        kernel(x, h, i, n).launch(grid=(1,), block=(64,))

    launch(*(flyc.from_dlpack(one, assumed_align=16) for one in EXAMPLES), 7)
    assert list(tmp_path.rglob("*")), "nothing was compiled"


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("construct", CONSTRUCTS, ids=lambda one: one.__name__)
def test_constructs(monkeypatch, tmp_path, construct, target):
    compile_for(monkeypatch, tmp_path, target, construct)


def rdna4(x, h, i, n):
    rocdl.s_waitcnt(vmcnt=0, lgkmcnt=0)
    rocdl.sched_barrier(0)
    a = fx.full(2, i[fx.thread_idx.x], fx.Int32).ir_value()
    c = fx.full(8, 0, fx.Int32).ir_value()
    sums = fx.Vector(rocdl.wmma_i32_16x16x16_iu8(fx.T.vec(8, fx.T.i32), a, a, c))
    i[fx.thread_idx.x] = sums[0]


def cdna5(x, h, i, n):
    rocdl.s_wait_asynccnt(0)
    rocdl.cluster.cluster_barrier()
    rocdl.disable_xdl_arb_stall()
    tile = fx.make_layout((16, 16), (16, 1))
    lds = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 256]).peek().view(tile)
    source = fx.make_view(x.iter, tile)
    fx.copy(rocdl.make_tdm_atom(source, (None, None), num_warps=1), source, lds)
    atom, coordinates = rocdl.make_tiled_tdm_atom(rocdl.TensorLoad(), source, tile, (16, 16))
    tiles = (fx.zipped_divide(one, (16, 16)) for one in (lds, coordinates))
    ours, theirs = rocdl.tdm_partition(atom, 0, fx.make_layout(1, 1), *tiles)
    fx.copy(atom, theirs[None, 0], ours[None, 0])
    rows = rocdl.tdm_ops.make_tensor_gather_descriptor(x, lds, [n, 3], 16, 16, 32, 16, elem_bytes=4)
    rocdl.tdm_ops.tensor_load_gather(rows)
    rocdl.tdm_ops.l2_prefetch_tile(x, (0, 0), (16, 16), (16, 1), elem_bytes=4, block_threads=64)
    rocdl.tdm_ops.tensor_wait(0)
    fx.barrier()
    x[fx.thread_idx.x] = lds[0, 1]


def cdna4(x, h, i, n):
    t = fx.thread_idx.x
    lds = fx.SharedAllocator().allocate(fx.Array[fx.Float32, 256]).peek()
    fours = fx.logical_divide(lds.view(fx.make_layout(256, 1)), fx.make_layout(4, 1))
    source = fx.logical_divide(rocdl.make_buffer_tensor(x), fx.make_layout(4, 1))
    fx.copy(fx.make_copy_atom(rocdl.BufferCopyLDS128b(), fx.Float32), source[None, t], fours[None, 0])
    rocdl.s_waitcnt(vmcnt=0)
    fx.barrier()
    mma = fx.make_mma_atom(rocdl.cdna4.MFMA_Scale(16, 16, 128, fx.Float8E4M3FN))
    a, c = fx.make_rmem_tensor(32, fx.Float8E4M3FN), fx.make_rmem_tensor(4, fx.Float32)
    fx.recast_iter(fx.Int32, a.iter).view(fx.make_layout(8, 1)).fill(0)
    c.fill(0.0)
    fx.gemm(mma.set_value({"scale_a": 127, "scale_b": 127}), c, a, a, c)
    x[t] = lds[t] + c[0]


@pytest.mark.parametrize(("target", "construct"), [("gfx950", cdna4), ("gfx1201", rdna4), ("gfx1250", cdna5)])
def test_what_one_target_has(monkeypatch, tmp_path, target, construct):
    compile_for(monkeypatch, tmp_path, target, construct)
