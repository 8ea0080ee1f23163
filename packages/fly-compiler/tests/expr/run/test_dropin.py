# SPDX-License-Identifier: Apache-2.0
"""Idioms of existing kernels and of their tests, which run here as they are written there."""

from typing import Optional, Tuple  # noqa: UP035 - the spellings under test

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl._mlir.dialects import arith as raw_arith
from flydsl._mlir.dialects import fly
from flydsl._mlir.dialects import rocdl as raw_rocdl
from flydsl._mlir.dialects import scf as raw_scf
from flydsl._mlir.dialects import vector as raw_vector
from flydsl.expr.arith import ArithValue
from flydsl.expr.typing import Float32x4, T


def run(body, *tensors, threads=64):
    """Run `body(*tensors)` in one block of `threads` threads."""

    @flyc.kernel(known_block_size=(threads, 1, 1))
    def k(a: fx.Tensor, b: fx.Tensor):
        body(a, b)

    @flyc.jit
    def launch(a: fx.Tensor, b: fx.Tensor, stream: fx.Stream = fx.Stream(None)):
        k(a, b).launch(grid=(1,), block=(threads,), stream=stream.value)

    first, second = (*tensors, torch.zeros(threads))[:2]
    launch(first, second)
    return second


SOURCE = torch.arange(64, dtype=torch.float32)


# -- Launches ---------------------------------------------------------------------------------------------------------


@flyc.kernel
def fill(out: fx.Tensor):
    out[fx.thread_idx.x] = fx.Float32(7.0)


def test_stream_value_is_a_stream():
    @flyc.jit
    def launch(out: fx.Tensor, stream: fx.Stream = fx.Stream(None)):
        fill(out).launch(grid=(1,), block=(64,), stream=stream.value)

    out = torch.zeros(64)
    launch(out)
    assert bool((out == 7).all())


def test_launchers_compile():
    @flyc.jit
    def launch(out: fx.Tensor, stream: fx.Stream = fx.Stream(None)):
        fill(out).launch(grid=(1,), block=(64,), stream=stream)

    out = torch.zeros(64)
    compiled = launch.compile(out)
    compiled(out)
    assert isinstance(compiled, flyc.CompiledFunction)
    assert bool((out == 7).all())


def test_a_value_that_is_no_stream_is_refused():
    @flyc.jit
    def launch(out: fx.Tensor, n: fx.Int32):
        fill(out).launch(grid=(1,), block=(64,), stream=n.ir_value())

    with pytest.raises(TypeError, match="not a value of type i32"):
        launch(torch.zeros(64), 3)


def test_constexpr_of_a_subscripted_tuple():
    @flyc.kernel
    def k(out: fx.Tensor, shape: fx.Constexpr[tuple[int, int]]):
        out[fx.thread_idx.x] = fx.Float32(shape[0] * shape[1])

    @flyc.jit
    def launch(out: fx.Tensor, shape: fx.Constexpr[Tuple[int, int]]):  # noqa: UP006
        k(out, shape).launch(grid=(1,), block=(64,))

    out = torch.zeros(64)
    launch(out, (3, 5))
    assert bool((out == 15).all())


def test_kernel_names_made_at_run_time():
    @flyc.kernel
    def k(out: fx.Tensor):
        out[fx.thread_idx.x] = fx.Float32(1.0)

    @flyc.jit
    def launch(out: fx.Tensor):
        k(out).launch(grid=(1,), block=(64,))

    k._func.__name__ = "scale_m16_n32"
    launch(torch.zeros(64))
    assert "scale_m16_n32" in launch.ir("origin")


# -- Storage of collectives -------------------------------------------------------------------------------------------


def reduce(value, storage):
    return fx.coop.BlockReduce[fx.Float32, 64](value, fx.ReductionOp.ADD, storage=storage)


@pytest.mark.parametrize("static", [True, False])
def test_storage_that_was_peeked(static):
    def body(a, b):
        storage = fx.SharedAllocator(static=static).allocate(fx.coop.BlockReduce[fx.Float32, 64].SharedStorage)
        b[fx.thread_idx.x] = reduce(a[fx.thread_idx.x], storage.peek())

    assert bool((run(body, SOURCE) == SOURCE.sum()).all())


def test_peeked_storage_of_a_class_with_parts():
    sort = fx.coop.BlockRadixSort[fx.Uint32, 64, 1]

    def body(a, b):
        storage = fx.SharedAllocator().allocate(sort.SharedStorage).peek()
        key = (fx.Float32(63.0) - a[fx.thread_idx.x]).to(fx.Uint32)
        b[fx.thread_idx.x] = sort(key, storage=storage).to(fx.Float32)

    assert bool((run(body, SOURCE) == SOURCE).all())


def test_peeked_storage_in_a_struct():
    @fx.struct
    class Shared:
        sums: fx.coop.BlockReduce[fx.Float32, 64].SharedStorage
        flag: fx.Array[fx.Int32, 1]

    def body(a, b):
        shared = fx.SharedAllocator().allocate(Shared).peek()
        b[fx.thread_idx.x] = reduce(a[fx.thread_idx.x], shared.sums)

    assert bool((run(body, SOURCE) == SOURCE.sum()).all())


def test_storage_of_nothing():
    """Collectives that need no LDS have storage too, of no bytes."""
    load = fx.coop.BlockLoad[fx.Float32, 64, 1]

    def body(a, b):
        storage = fx.SharedAllocator().allocate(load.SharedStorage).peek()
        b[fx.thread_idx.x] = load(a, storage=storage)[0]

    assert bool((run(body, SOURCE) == SOURCE).all())


def test_other_storage_is_refused():
    def body(a, b):
        other = fx.SharedAllocator().allocate(fx.coop.BlockReduce[fx.Float64, 64].SharedStorage).peek()
        b[fx.thread_idx.x] = reduce(a[fx.thread_idx.x], other)

    with pytest.raises(TypeError, match="storage is what an allocator gave for BlockReduce"):
        run(body, SOURCE)


# -- Raw builders -----------------------------------------------------------------------------------------------------


def test_raw_builders_take_values_of_the_language():
    def body(a, b):
        x = a[fx.thread_idx.x]
        doubled = raw_arith.addf(x, x)
        four = raw_vector.from_elements(T.f32x4, [x, doubled, x, x])
        b[fx.thread_idx.x] = fx.Float32(raw_vector.reduction(fx.Float32, raw_vector.CombiningKind.ADD, four))

    assert bool((run(body, SOURCE) == 5 * SOURCE).all())


def test_lists_stand_for_single_types_and_single_values_for_lists():
    def body(a, b):
        atom = fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16))
        ones, zeros = fx.Vector.filled(4, 1.0, fx.Float16), fx.Vector.filled(4, 0.0, fx.Float32)
        result = fly.mma_atom_call_ssa([fx.Vector.make_type(4, fx.Float32)], atom, ones, ones, zeros)
        b[fx.thread_idx.x] = fx.Float32(result[3])

    assert bool((run(body, SOURCE) == 16).all())


@pytest.mark.parametrize("aux", ["absent", None, 0, "attribute"])
def test_cache_policies_of_raw_buffer_accesses_are_optional(aux):
    def body(a, b):
        policy = {} if aux == "absent" else {"aux": aux}
        if aux == "attribute":
            policy = {"aux": ir.IntegerAttr.get(T.i32, 0)}
        source = fly.extract_aligned_pointer_as_index(ir.Type.parse("!llvm.ptr<1>"), a)
        target = fly.extract_aligned_pointer_as_index(ir.Type.parse("!llvm.ptr<1>"), b)
        flags = fx.Int32((7 << 12) | (4 << 15))
        kind = ir.Type.parse("!llvm.ptr<8>")
        read, write = (
            raw_rocdl.MakeBufferRsrcOp(kind, at, fx.Int16(0), fx.Int64(256), flags).result for at in (source, target)
        )
        offset, zero = fx.thread_idx.x * 4, fx.Int32(0)
        loaded = raw_rocdl.RawPtrBufferLoadOp(fx.Float32.ir_type, read, offset, zero, **policy).result
        raw_rocdl.raw_ptr_buffer_store(loaded, write, offset, zero, **policy)

    assert bool((run(body, SOURCE) == SOURCE).all())


@pytest.mark.parametrize("form", ["list", "one by one"])
def test_raw_matrix_instructions_in_both_forms(form):
    def body(a, b):
        ones, zeros = fx.Vector.filled(4, 1.0, fx.Float16), fx.Vector.filled(4, 0.0, fx.Float32)
        flags = [fx.Int32(0)] * 3
        if form == "list":
            acc = raw_rocdl.mfma_f32_16x16x16f16_(T.f32x4, [ones, ones, zeros, *flags])
        else:
            acc = raw_rocdl.mfma_f32_16x16x16f16_(T.f32x4, ones, ones, zeros, 0, 0, 0)
        b[fx.thread_idx.x] = acc[0]

    assert bool((run(body, SOURCE) == 16).all())


def test_raw_builders_still_refuse_what_is_no_value():
    def body(a, b):
        raw_arith.AddFOp(a[fx.thread_idx.x], "1.0")

    with pytest.raises(ValueError, match="must be a Value"):
        run(body, SOURCE)


# -- Raw values and vectors -------------------------------------------------------------------------------------------


def test_arith_value_of_a_scalar():
    def body(a, b):
        n = ArithValue(fx.thread_idx.x)
        assert isinstance(n, ArithValue)
        assert isinstance(n, ir.Value)
        halved = ArithValue(n - 64, signed=False) >> 31  # as unsigned, the sign is a bit like others
        b[fx.thread_idx.x] = fx.Float32(fx.Int32(n.result)) + fx.Float32(fx.Int32(halved))

    assert bool((run(body, SOURCE) == SOURCE + 1).all())


def test_arith_value_of_a_number_is_refused():
    def body(a, b):
        ArithValue(3)

    with pytest.raises(TypeError, match="constant"):
        run(body, SOURCE)


def test_raw_vectors_have_elements():
    def body(a, b):
        raw = fx.Vector.from_elements([a[fx.thread_idx.x], 1.0, 2.0, 3.0], fx.Float32).ir_value()
        assert len(raw) == 4
        assert raw.dtype is fx.Float32
        total = raw[0] + raw[3]
        for lane in raw:
            total = total + lane
        b[fx.thread_idx.x] = total + raw.reduce("max")

    assert bool((run(body, SOURCE) == 2 * SOURCE + 9 + SOURCE.clamp(min=3)).all())


def test_scalars_have_no_elements():
    def body(a, b):
        _ = a[fx.thread_idx.x].ir_value()[0]

    with pytest.raises(TypeError, match="f32 is no vector"):
        run(body, SOURCE)


def test_conversions_by_vector_types():
    def body(a, b):
        v = fx.Vector.from_elements([a[fx.thread_idx.x], 0.5], fx.Float32)
        half = fx.arith.trunc_f(ir.VectorType.get([2], ir.BF16Type.get()), v)
        whole = fx.arith.sitofp(ir.VectorType.get([2], T.f32), fx.Vector.filled(2, 3, fx.Int32))
        index = fx.arith.index_cast(T.i32, fx.thread_idx.x)
        b[fx.thread_idx.x] = half[0].to(fx.Float32) + whole[1] + fx.Int32(index).to(fx.Float32)

    assert bool((run(body, SOURCE) == 2 * SOURCE + 3).all())


def test_members_of_vectors():
    def body(a, b):
        v = fx.Vector.filled(4, 2, fx.Int32)
        u = fx.Vector.filled(4, 2, fx.Uint32)
        assert v.signed
        assert not u.signed
        assert v.to(fx.Int32) is v
        f = Float32x4(fx.Vector.filled(4, 1.5, fx.Float32), dtype=fx.Float32)
        zeros = fx.Vector.zeros_like(v, fx.Float32)
        total = (f + zeros).reduce(raw_vector.CombiningKind.ADD)
        b[fx.thread_idx.x] = total + v.reduce(raw_vector.CombiningKind.MAXSI).to(fx.Float32)
        with pytest.raises(ValueError, match="has elements of Float32"):
            Float32x4(v, dtype=fx.Int32)

    assert bool((run(body, SOURCE) == 8).all())


def test_names_of_the_arithmetic_utilities():
    from flydsl.expr.utils.arith import arith_const, current_fastmath, fp_to_fp, int_to_fp, recast_type
    from flydsl.utils.smem_allocator import get_op_result_or_value

    def body(a, b):
        assert current_fastmath() is None
        with fx.fastmath("nnan"):
            assert current_fastmath() == fx.arith.FastMathFlags.nnan
        three = int_to_fp(arith_const(3), True, T.f32)
        narrow = fp_to_fp(a[fx.thread_idx.x], T.f16)
        assert str(recast_type(T.f32x4, T.i32)) == "vector<4xi32>"
        op = raw_arith.AddFOp(three, fp_to_fp(narrow, T.f32))
        b[fx.thread_idx.x] = fx.Float32(get_op_result_or_value(op))

    assert bool((run(body, SOURCE) == SOURCE + 3).all())


# -- Types, atoms and orders ------------------------------------------------------------------------------------------


def test_types_by_calling_their_makers():
    def body(a, b):
        kind = fx.PointerType(fx.get_iter(a).type)
        assert kind.alignment == 4
        assert fx.MemRefType(a.type).alignment == 4
        with pytest.raises(ValueError, match="Cannot cast"):
            fx.PointerType(a.type)
        b[fx.thread_idx.x] = a[fx.thread_idx.x]

    run(body, SOURCE)


def test_atoms_of_other_chips_may_be_made():
    def body(a, b):
        fx.make_mma_atom(fx.rocdl.MFMA(32, 32, 16, fx.BFloat16))
        fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 32, fx.Float8E4M3FNUZ))
        fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 32, fx.Float8E4M3FN))
        b[fx.thread_idx.x] = a[fx.thread_idx.x]

    assert bool((run(body, SOURCE) == SOURCE).all())


def test_traversal_orders_by_name():
    def body(a, b):
        atom = fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16))
        left, right = (fx.make_rmem_tensor(fx.make_layout((4, 1, 2), (1, 4, 4)), fx.Float16) for _ in range(2))
        acc = fx.make_rmem_tensor(fx.make_layout((4, 1, 1), (1, 4, 4)), fx.Float32)
        for tensor in (left, right):
            tensor.fill(1.0)
        acc.fill(0.0)
        fx.gemm(atom, acc, left, right, acc, traversal_order="kmn_serpentine")
        with pytest.raises(ValueError, match="unknown traversal order 'xyz'"):
            fx.gemm(atom, acc, left, right, acc, traversal_order="xyz")
        b[fx.thread_idx.x] = acc[0, 0, 0]

    assert bool((run(body, SOURCE) == 32).all())


def test_random_universal():
    assert fx.random.universal.rand is fx.random.rand
    from flydsl.extension.random.universal import randint4x

    assert randint4x is fx.random.randint4x
    words = fx.random.universal.philox(fx.Int32(7), fx.Int32(11), 0, 0, 0)
    key = fx.Uint32(7), fx.Uint32(0)
    assert [int(w) for w in words] == [int(w) for w in fx.random.universal.philox_impl(11, 0, 0, 0, *key)]
    assert [int(w) for w in words] == [int(w) for w in fx.random.randint4x(fx.Int32(7), fx.Int32(11))]


# -- Addresses as integers --------------------------------------------------------------------------------------------


def floats_at(address):
    return fx.inttoptr(fx.PointerType.get(fx.Float32.ir_type, fx.AddressSpace.Global, 4), address)


def test_addresses_of_tensors_as_integers():
    @flyc.kernel
    def k(source: fx.Int64, target: fx.Int64):
        floats_at(target)[fx.thread_idx.x] = floats_at(source)[fx.thread_idx.x] * 2.0

    @flyc.jit
    def launch(source: fx.Int64, target: fx.Int64, stream: fx.Stream = fx.Stream(None)):
        k(source, target).launch(grid=(1,), block=(64,), stream=stream)

    out = torch.zeros(64)
    launch(fx.Int64(SOURCE.data_ptr()), fx.Int64(out.data_ptr()))
    assert bool((out == 2 * SOURCE).all())


def test_tables_of_addresses():
    @flyc.kernel
    def k(table: fx.Tensor):
        i = fx.block_idx.x
        row = floats_at(table[i])
        row[fx.thread_idx.x] = row[fx.thread_idx.x] + i.to(fx.Float32)

    @flyc.jit
    def launch(table: fx.Tensor):
        k(table).launch(grid=(3,), block=(64,))

    rows = [torch.zeros(64), torch.ones(1 << 20), torch.full((64,), 2.0)]
    launch(torch.tensor([row.data_ptr() for row in rows], dtype=torch.int64))
    assert [float(row[63]) for row in rows] == [0.0, 2.0, 4.0]


# -- Smaller spellings ------------------------------------------------------------------------------------------------


def test_builders_of_fly_return_values_of_the_language():
    def body(a, b):
        view = fly.make_view(fly.get_iter(a), fx.make_layout(64, 1))
        assert isinstance(view, fx.Tensor)
        layout = fly.make_layout(fx.make_shape(4, 8), fx.make_stride(8, 1))
        assert (fly.rank(layout), fly.depth(layout)) == (2, 1)
        assert layout.owner.name == "fly.make_layout"
        b[(fx.thread_idx.x,)] = view[fx.thread_idx.x]

    assert bool((run(body, SOURCE) == SOURCE).all())


def test_raw_pointers_in_atomics():
    def body(a, b):
        at = fx.to_llvm_ptr(b.iter + fx.thread_idx.x)
        fx.atomic_add(at, a[fx.thread_idx.x])
        fx.atomic_fmax(at, fx.Float32(7.0))
        bits = fx.to_llvm_ptr(fx.recast_iter(fx.Int32, b.iter))
        fx.atomic_cas(bits, fx.Int32(0), fx.Int32(0))
        with pytest.raises(TypeError, match="atomic_cas compares Int32 and stores Float32"):
            fx.atomic_cas(bits, fx.Int32(0), fx.Float32(0))

    assert bool((run(body, SOURCE) == SOURCE.clamp(min=7)).all())


def test_fast_math_flags_in_raw_builders():
    def body(a, b):
        x = a[fx.thread_idx.x]
        flags = fx.arith.FastMathFlags
        x = raw_arith.MulFOp(x, x, fastmath=flags.fast).result
        b[fx.thread_idx.x] = fx.Float32(raw_arith.addf(x, x, fastmath=flags.nnan | flags.nsz))

    assert bool((run(body, SOURCE) == 2 * SOURCE * SOURCE).all())


def test_shape_of_an_mma_atom_unpacks():
    def body(a, b):
        atom = fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16))
        assert atom.shape_mnk == atom.shape_mnk.unpack() == (16, 16, 16)

    run(body, SOURCE)


def test_operations_are_types_where_nothing_is_traced():
    with ir.Context(), ir.Location.unknown():
        for op in (
            fx.rocdl.cdna5.TDM(2, 1),
            fx.rocdl.cdna5.WMMAScale(16, 16, 128, fx.Float8E4M3FN),
            fx.rocdl.MFMA(16, 16, 16, fx.Float16),
            fx.UniversalCopy128b(),
        ):
            assert str(op).startswith("!")
            assert ir.Type.parse(str(op)) == op


def test_atoms_of_types():
    def body(a, b):
        copy = ir.Type.parse(str(fx.UniversalCopy32b()))
        mma = ir.Type.parse(str(fx.rocdl.MFMA(16, 16, 16, fx.Float16)))
        assert fx.UniversalCopy32b() == copy
        atom = fx.make_copy_atom(copy, fx.Float32)
        assert fx.make_mma_atom(mma).shape_mnk == (16, 16, 16)
        r = fx.make_rmem_tensor(1, fx.Float32)
        fx.copy_atom_call(atom, fx.make_view(a.iter + fx.thread_idx.x, fx.make_layout(1, 1)), r)
        b[fx.thread_idx.x] = r[0]

    assert bool((run(body, SOURCE) == SOURCE).all())


@pytest.mark.parametrize("form", ["per atom", "nested", "without mode 0"])
def test_predicates_over_a_nested_value_mode(form):
    """Each thread copies four times four values, of which it wants every other four."""

    def body(a, b):
        shape = ((4, 4), 1)
        mine = fx.make_view(a.iter + fx.thread_idx.x * 16, fx.make_layout(shape, ((1, 4), 0)))
        target = fx.make_view(b.iter + fx.thread_idx.x * 16, fx.make_layout(shape, ((1, 4), 0)))
        layouts = {
            "per atom": fx.make_layout((4, 1), (1, 0)),
            "nested": fx.make_layout(((1, 4), 1), ((0, 1), 0)),
            "without mode 0": fx.make_layout(1, 0),
        }
        r = fx.make_rmem_tensor(fx.make_layout(shape, ((1, 4), 0)), fx.Float32)
        r.fill(-1.0)
        pred = fx.make_rmem_tensor(layouts[form], fx.Boolean)
        for i in fx.range_constexpr(1 if form == "without mode 0" else 4):
            pred[i] = fx.Boolean(i % 2 == 0)
        atom = fx.make_copy_atom(fx.UniversalCopy128b(), fx.Float32)
        fx.copy(atom, mine, r, pred=pred)
        fx.copy(atom, r, target)

    source, out = torch.arange(64.0), torch.zeros(64)
    run(body, source, out, threads=4)
    kept = source.view(4, 4, 4).clone()
    if form != "without mode 0":
        kept[:, 1::2] = -1
    assert bool((out.view(4, 4, 4) == kept).all())


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int8, torch.int16])
@pytest.mark.parametrize("width", [1, 2, 4, 8, 16])
def test_buffer_accesses_of_vectors_of_bytes(dtype, width):
    element = fx.Int16 if dtype is torch.int16 else fx.Int8
    if width * element.width > 128:
        pytest.skip("more than 16 bytes")

    def body(a, b):
        source, target = (fx.buffer_ops.create_buffer_resource(one) for one in (a, b))
        at = fx.thread_idx.x * width
        value = fx.buffer_ops.buffer_load(source, at, vec_width=width, dtype=element.ir_type)
        fx.buffer_ops.buffer_store(value, target, at)

    given, out = torch.randint(0, 127, (64 * width,)).to(dtype), torch.zeros(64 * width, dtype=dtype)
    run(body, given, out)
    assert bool((out == given).all())


def test_classes_of_calls():
    def body(a, b):
        atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
        one = fx.logical_divide(a, fx.make_layout(1, 1))[None, fx.thread_idx.x]
        out = fx.logical_divide(b, fx.make_layout(1, 1))[None, fx.thread_idx.x]
        value = fly.CopyAtomCallSSA([T.vec(1, T.f32)], atom, one).results[0]
        fly.CopyAtomCallSSA([], atom, value, dst=out)
        assert fly.MmaAtomCallSSA is fly.MmaAtomCallSSAOp

    assert torch.equal(run(body, SOURCE), SOURCE)


# -- Raw builders and spellings ----------------------------------------------------------------------------------------


def test_single_values_stand_for_lists_of_operands():
    def body(a, b):
        branch = raw_scf.IfOp(fx.thread_idx.x < 3, [fx.Float32], has_else=True)
        with ir.InsertionPoint(branch.then_block):
            raw_scf.yield_(fx.Float32(1.0))
        with ir.InsertionPoint(branch.else_block):
            raw_scf.YieldOp(a[fx.thread_idx.x])
        b[fx.thread_idx.x] = fx.Float32(branch.result)

    found = run(body, SOURCE)
    assert torch.equal(found, torch.where(SOURCE < 3, 1.0, SOURCE))


@pytest.mark.parametrize("name", ["olt", "OLT"])
def test_predicates_of_floats_by_name(name):
    def body(a, b):
        b[fx.thread_idx.x] = fx.Float32(fx.arith.select(fx.arith.cmpf(name, a[fx.thread_idx.x], 3.0), 1.0, 2.0))

    found = run(body, SOURCE)
    assert torch.equal(found, torch.where(SOURCE < 3, 1.0, 2.0))


def test_a_predicate_that_there_is_not_is_named():
    with pytest.raises(ValueError, match=r"no predicate 'less'; they are .*slt"):
        run(lambda a, b: fx.arith.cmpi("less", fx.thread_idx.x, 3), SOURCE)


def test_offsets_of_buffer_stores_in_bytes():
    def body(a, b):
        lane = fx.thread_idx.x
        target = fx.buffer_ops.create_buffer_resource(b, max_size=False)
        fx.buffer_ops.buffer_store(a[lane], target, (63 - lane) * 4, mask=lane > 0, offset_is_bytes=True)

    expected = SOURCE.flip(0)
    expected[63] = 0
    assert torch.equal(run(body, SOURCE), expected)


@pytest.mark.parametrize("kind", [fx.Constexpr[Optional[int]], fx.Constexpr[int | None]])  # noqa: UP045
@pytest.mark.parametrize("value", [None, 3])
def test_optional_constants(kind, value):
    def build(out: fx.Tensor, size: kind):
        fill(out).launch(grid=(1,), block=(64 if size is None else size,))

    out = torch.zeros(64)
    flyc.jit(build)(out, value)
    assert int((out == 7).sum()) == (64 if value is None else value)
