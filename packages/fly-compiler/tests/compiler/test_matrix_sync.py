# SPDX-License-Identifier: Apache-2.0
"""Products of a warp and the copies of their fragments in programs: what their PTX holds, and what is refused."""

from __future__ import annotations

import re

import numpy as np
import pytest
from compiled_ptx import ptx_of_the_last

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.trace.diagnostics import DSLCompileError

pytestmark = pytest.mark.usefixtures("hopper")

X = np.zeros(4096, np.float32)
SWIZZLE = (3, 4, 3)


def ptx_of(body, threads=32):
    """The PTX of a kernel of `body(x)`."""

    @flyc.kernel(known_block_size=(threads, 1, 1))
    def kernel(x: fx.Tensor):
        body(x)

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(grid=(1,), block=(threads,))

    launch(X)
    return ptx_of_the_last()


def shared_tile(rows, columns, dtype, *, turned=False, swizzle=SWIZZLE):
    """A (rows, columns) tile in shared memory, contiguous along columns, or `turned`, along rows."""
    room = fx.SharedAllocator(1024, static=False).allocate(fx.Array[dtype, rows * columns], 1024).peek()
    pointer = room.ptr if swizzle is None else fx.apply_swizzle(room.ptr, fx.static(fx.SwizzleType.get(*swizzle)))
    return fx.make_view(pointer, fx.make_layout((rows, columns), (1, rows) if turned else (columns, 1)))


def of_shape(x, rows, columns):
    """A matrix that says the shape of a fragment."""
    return fx.make_view(fx.get_iter(x), fx.make_layout((rows, columns), (columns, 1)))


# {operation: what the instruction is called}
PRODUCTS = {
    (16, 8, 16, "Float16", "Float32"): "m16n8k16.row.col.f32.f16.f16.f32",
    (16, 8, 8, "Float16", "Float32"): "m16n8k8.row.col.f32.f16.f16.f32",
    (16, 8, 16, "Float16", "Float16"): "m16n8k16.row.col.f16.f16.f16.f16",
    (16, 8, 8, "Float16", "Float16"): "m16n8k8.row.col.f16.f16.f16.f16",
    (16, 8, 16, "BFloat16", "Float32"): "m16n8k16.row.col.f32.bf16.bf16.f32",
    (16, 8, 8, "BFloat16", "Float32"): "m16n8k8.row.col.f32.bf16.bf16.f32",
    (16, 8, 8, "Float32", "Float32"): "m16n8k8.row.col.f32.tf32.tf32.f32",
    (16, 8, 4, "Float32", "Float32"): "m16n8k4.row.col.f32.tf32.tf32.f32",
    (16, 8, 32, "Int8", "Int32"): "m16n8k32.row.col.s32.s8.s8.s32",
    (16, 8, 16, "Int8", "Int32"): "m16n8k16.row.col.s32.s8.s8.s32",
    (16, 8, 32, "Float8E4M3FN", "Float32"): "m16n8k32.row.col.f32.e4m3.e4m3.f32",
    (16, 8, 32, "Float8E5M2", "Float32"): "m16n8k32.row.col.f32.e5m2.e5m2.f32",
    (8, 8, 4, "Float64", "Float64"): "m8n8k4.row.col.f64.f64.f64.f64",
}


@pytest.mark.parametrize("product", PRODUCTS, ids=lambda one: "-".join(map(str, one)))
def test_products(product):
    m, n, k, element, acc = product
    of_inputs, of_sums = getattr(fx, element), getattr(fx, acc)

    def body(x):
        operation = fx.nvgpu.MmaSync(m, n, k, of_inputs, of_sums, tf32=of_inputs is fx.Float32)
        tiled = fx.make_tiled_mma(operation)
        mine = tiled.get_slice(fx.thread_idx.x)
        a = mine.make_fragment_A(of_shape(x, m, k))
        b = mine.make_fragment_B(of_shape(x, n, k))
        sums = mine.make_fragment_C(of_shape(x, m, n))
        for fragment in (a, b, sums):
            fragment.fill(1)
        fx.gemm(tiled, sums, a, b, sums)
        x[fx.thread_idx.x] = sums.load()[0].to(fx.Float32)

    ptx = ptx_of(body)
    assert re.findall(r"mma\.sync\.aligned\.(\S+)", ptx) == [PRODUCTS[product]]
    # Of 8-bit floats they are newer than the PTX that the oldest drivers take.
    assert f"\n.version {'8.4' if 'Float8' in element else '8.0'}\n" in ptx


def test_8_bit_floats_of_two_kinds():
    atom = fx.nvgpu.MmaSync(16, 8, 32, fx.Float8E4M3FN, elem_ty_b=fx.Float8E5M2)
    assert str(atom) == "!fly_nvvm.sm80.mma_sync<16x8x32, (f8E4M3FN, f8E5M2) -> f32>"


def test_a_product_stays_where_all_threads_are(monkeypatch, tmp_path):
    """LLVM is told that no product may be moved into a branch or copied into two."""
    monkeypatch.setenv("FLYDSL_DUMP_IR", "1")
    monkeypatch.setenv("FLYDSL_DUMP_DIR", str(tmp_path))

    @flyc.kernel(known_block_size=(32, 1, 1))
    def kernel(x: fx.Tensor):
        tiled = fx.make_tiled_mma(fx.nvgpu.MmaSync(16, 8, 16, fx.Float16))
        mine = tiled.get_slice(fx.thread_idx.x)
        a, b = mine.make_fragment_A(of_shape(x, 16, 16)), mine.make_fragment_B(of_shape(x, 8, 16))
        sums = mine.make_fragment_C(of_shape(x, 16, 8))
        for fragment in (a, b, sums):
            fragment.fill(x[fx.thread_idx.x].to(fragment.dtype))
        fx.gemm(tiled, sums, a, b, sums)
        if fx.thread_idx.x < 3:
            x[fx.thread_idx.x] = sums.load()[1]

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(grid=(1,), block=(32,))

    launch(X)
    (llvm_ir,), (ptx,) = (
        [path.read_text() for path in tmp_path.rglob(name)] for name in ("*_llvm_ir.ll", "*_final_isa.s")
    )
    attributes = re.search(r"call .*@llvm\.nvvm\.mma\.\S+\(.*\) (#\d+)", llvm_ir)[1]
    assert f"attributes {attributes} = {{ convergent" in llvm_ir
    assert ptx.index("mma.sync") < ptx.index("bra")


COPIES = [(dtype, matrices, turned) for dtype in ("Float16", "BFloat16") for matrices in (1, 2, 4) for turned in (0, 1)]
COPIES += [(dtype, matrices, 0) for dtype in ("Float8E4M3FN", "Int8", "Float32") for matrices in (1, 2, 4)]


@pytest.mark.parametrize(("name", "matrices", "turned"), COPIES)
def test_loads_of_fragments(name, matrices, turned):
    """A of one atom in so many matrices at once: 4, or of half of K 2, or 1, each called as often as A needs."""
    dtype = getattr(fx, name)
    k, sums = 256 // dtype.width, fx.Int32 if name == "Int8" else fx.Float32

    def body(x):
        tiled = fx.make_tiled_mma(fx.nvgpu.MmaSync(16, 8, k, dtype, sums, tf32=dtype is fx.Float32))
        thread = fx.thread_idx.x
        tile = shared_tile(16, k, dtype, turned=turned, swizzle=None)
        fragment = tiled.get_slice(thread).make_fragment_A(tile)
        atom = fx.make_copy_atom(fx.nvgpu.LdMatrix(matrices, transposed=bool(turned)), dtype)
        bring = fx.make_tiled_copy_A(atom, tiled).get_slice(thread)
        fx.copy(bring.tiled_copy, bring.partition_S(tile), bring.retile(fragment))
        words = fragment.load().bitcast(fx.Uint32)
        x[thread] = (words[0] + words[1] + words[2] + words[3]).to(fx.Float32)

    found = re.findall(r"ldmatrix\.sync\.aligned\.m8n8\.(\S+)", ptx_of(body))
    assert found == [f"x{matrices}{'.trans' * turned}.shared.b16"] * (4 // matrices)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("matrices", [1, 2, 4])
def test_stores_of_sums(matrices, turned):
    def body(x):
        tiled = fx.make_tiled_mma(fx.nvgpu.MmaSync(16, 8, 16, fx.Float16), None, (16, 16, None))
        thread = fx.thread_idx.x
        tile = shared_tile(16, 16, fx.BFloat16, turned=turned)
        fragment = tiled.get_slice(thread).make_fragment_C(tile)
        fragment.fill(x[thread])
        rounded = fx.make_fragment_like(fragment, fx.BFloat16)
        rounded.store(fragment.load().to(fx.BFloat16))
        atom = fx.make_copy_atom(fx.nvgpu.StMatrix(matrices, transposed=turned), fx.BFloat16)
        put = fx.make_tiled_copy_C(atom, tiled).get_slice(thread)
        fx.copy(put.tiled_copy, put.retile(rounded), put.partition_D(tile))
        fx.barrier()
        x[thread] = tile[thread % 16, thread // 16].to(fx.Float32)

    found = re.findall(r"stmatrix\.sync\.aligned\.m8n8\.(\S+)", ptx_of(body))
    assert found == [f"x{matrices}{'.trans' * turned}.shared.b16"] * (4 // matrices)


def loads(tile, *, dtype=fx.Float16, transposed=False):
    """A program that loads A of a tile that `tile()` makes."""

    def body(x):
        tiled = fx.make_tiled_mma(fx.nvgpu.MmaSync(16, 8, 256 // dtype.width, dtype))
        of_a, thread = tile(), fx.thread_idx.x
        fragment = tiled.get_slice(thread).make_fragment_A(of_a)
        atom = fx.make_copy_atom(fx.nvgpu.LdMatrix(4, transposed=transposed), dtype)
        bring = fx.make_tiled_copy_A(atom, tiled).get_slice(thread)
        fx.copy(bring.tiled_copy, bring.partition_S(of_a), bring.retile(fragment))
        x[thread] = fragment.load()[0].to(fx.Float32)

    return body


@pytest.mark.parametrize(
    ("tile", "transposed", "message"),
    [
        (
            lambda: shared_tile(16, 16, fx.Float16, turned=True), False,
            r"source layout 8:16 is not contiguous within one atom call",
        ),
        (
            lambda: shared_tile(16, 16, fx.Float16), True,
            r"source layout 8:16 is not contiguous within one atom call",
        ),
        (
            lambda: shared_tile(16, 16, fx.Float16, swizzle=(3, 3, 3)), False,
            r"moves 128 bits that lie side by side, but the swizzle S<3,3,3>",
        ),
    ],
    ids=["along M", "along K", "swizzle"],
)  # fmt: skip
def test_tiles_that_cannot_be_loaded(tile, transposed, message):
    with pytest.raises(DSLCompileError, match=message) as raised:
        ptx_of(loads(tile, transposed=transposed))
    assert "fx.copy(bring.tiled_copy" in str(raised.value)


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: fx.nvgpu.MmaSync(16, 8, 32, fx.Float16), ValueError, "is 16x8x16 or 16x8x8, got 16x8x32"),
        (lambda: fx.nvgpu.MmaSync(16, 8, 16, fx.Float16, fx.Int32), ValueError, "mma_sync has no"),
        (lambda: fx.nvgpu.MmaSync(16, 8, 16.0, fx.Float16), TypeError, "positive Python ints for m, n and k, got 16.0"),
        (lambda: fx.nvgpu.MmaSync(16, 8, 8, fx.Float32), ValueError, "no product of all bits of Float32: tf32=True"),
        (lambda: fx.nvgpu.MmaSync(16, 8, 8, fx.Float16, tf32=True), ValueError, "tf32 is for Float32, not Float16"),
        (lambda: fx.nvgpu.LdMatrix(3), ValueError, "LdMatrix moves 1, 2 or 4 matrices of 8 x 8, got 3"),
        (lambda: fx.nvgpu.StMatrix(True), ValueError, "StMatrix moves 1, 2 or 4 matrices of 8 x 8, got True"),
    ],
)
def test_what_there_is_not(make, error, message):
    def body(x):
        operation = make()
        (fx.make_mma_atom if isinstance(operation, fx.nvgpu.MmaSync) else fx.make_copy_atom)(operation)

    with pytest.raises(error, match=message):
        ptx_of(body)


@pytest.mark.parametrize(
    ("atom", "instead"),
    [
        (lambda: fx.make_mma_atom(fx.nvgpu.MmaSync(16, 8, 16, fx.Float16)), "fx.rocdl.MFMA or fx.rocdl.WMMA"),
        (
            lambda: fx.make_copy_atom(fx.nvgpu.LdMatrix(4), fx.Float16),
            "fx.UniversalCopy by the threads, or fx.rocdl",
        ),
        (lambda: fx.make_copy_atom(fx.nvgpu.StMatrix(4), fx.Float16), "fx.UniversalCopy by the threads"),
    ],
    ids=["MmaSync", "LdMatrix", "StMatrix"],
)
def test_amd_has_others(atom, instead, monkeypatch):
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "gfx942")

    def body(x):
        made = atom()
        fragment = fx.make_rmem_tensor(8, fx.Float16)
        if fx.const_expr(isinstance(made, fx.MmaAtom)):
            sums = fx.make_rmem_tensor(4, fx.Float32)
            fx.gemm(made, sums, fragment, fragment, sums)
        else:
            fx.copy(made, fx.make_view(fx.get_iter(x), fx.make_layout(8, 1)), fragment)

    with pytest.raises(ValueError, match=rf"needs sm_90a, but the kernel is compiled for gfx942; use {instead}"):
        ptx_of(body)
