# SPDX-License-Identifier: Apache-2.0
"""The Python classes of the fly types: what they are made from, what they say, and what they refuse."""

import pytest

from flydsl._mlir import ir
from flydsl._mlir.dialects import fly

pytestmark = pytest.mark.usefixtures("context")

D = fly.Dynamic


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = (value,)
    return value


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (7, "7"),
        (-3, "-3"),
        (None, "*"),
        ((4,), "(4)"),
        ([4, (2, 3)], "(4,(2,3))"),
        (D(), "?"),
        (D(64), "?{i64}"),
        ((D(32, 8), D(64, 4)), "(?{div=8},?{i64 div=4})"),
        (fly.Basis(1, [0]), "1E0"),
        (fly.Basis(D(32, 2), [1, 0]), "?{div=2}E1E0"),
        ((1, (None, D(div=3))), "(1,(*,?{div=3}))"),
    ],
)
def test_int_tuple_from_and_to_python(value: object, text: str) -> None:
    made = fly.IntTupleType.get(value)
    assert str(made) == f"!fly.int_tuple<{text}>"
    assert made == ir.Type.parse(f"!fly.int_tuple<{text}>")
    assert fly.IntTupleType.get(made.to_py()) == made


@pytest.mark.parametrize(
    ("value", "error"),
    [
        ((), ValueError),
        ((1, ()), ValueError),
        (True, TypeError),
        ("4", TypeError),
        (1.5, TypeError),
        (object(), TypeError),
        (2**31, OverflowError),
        (-(2**31) - 1, OverflowError),
        (10**40, OverflowError),
        ([1] * 5000, ValueError),
        (nested(40), ValueError),
        (nested(100_000), ValueError),
        (fly.Basis((1, 2), [0]), ValueError),
        (fly.Basis(1, [-1]), ValueError),
        (fly.Basis(1, [0] * 20), ValueError),
    ],
)
def test_int_tuple_refuses(value: object, error: type[Exception]) -> None:
    with pytest.raises(error):
        fly.IntTupleType.get(value)


def test_int_tuple_that_contains_itself_is_refused() -> None:
    value: list[object] = [1]
    value.append(value)
    with pytest.raises(ValueError, match="nest"):
        fly.IntTupleType.get(value)


def test_int_tuple_properties() -> None:
    made = fly.IntTupleType.get((4, (D(), 3)))
    assert (made.rank, made.depth, made.is_leaf, made.is_static, made.num_leaves) == (2, 2, False, False, 3)
    assert str(made[1]) == "!fly.int_tuple<(?,3)>"
    assert made[-1] == made[1]
    assert made[[1, 1]].get_static_leaf_int == 3
    assert isinstance(made[0], fly.IntTupleType)
    for index in (2, -3, [0, 0], [1, 5]):
        with pytest.raises(IndexError):
            made[index]
    with pytest.raises(ValueError, match="static leaf"):
        made[[1, 0]].get_static_leaf_int


@pytest.mark.parametrize("arguments", [(16,), (33, 1)])
def test_dynamic_has_32_or_64_bits(arguments: tuple[int, ...]) -> None:
    with pytest.raises(ValueError, match="32 or 64"):
        D(*arguments)


def test_layouts() -> None:
    layout = fly.LayoutType.get((4, (2, D())), (1, (12, 4)))
    assert str(layout) == "!fly.layout<(4,(2,?)):(1,(12,4))>"
    assert layout.shape.to_py() == (4, (2, D()))
    assert layout.stride.to_py() == (1, (12, 4))
    assert (layout.rank, layout.depth, layout.is_leaf) == (2, 2, False)
    assert (layout.is_static, layout.is_static_shape, layout.is_static_stride) == (False, False, True)
    assert str(layout[[1, 0]]) == "!fly.layout<2:12>"
    with pytest.raises(IndexError):
        layout[2]


def test_composed_layouts() -> None:
    swizzle = fly.SwizzleType.get(3, 4, 3)
    layout = fly.LayoutType.get((8, 64), (64, 1))
    composed = fly.ComposedLayoutType.get(swizzle, D(32, 4), layout)
    assert str(composed) == "!fly.composed_layout<S<3,4,3> o ?{div=4} o (8,64):(64,1)>"
    assert (composed.inner.mask, composed.inner.base, composed.inner.shift) == (3, 4, 3)
    assert composed.outer == layout
    assert isinstance(composed.outer, fly.LayoutType)
    assert composed.shape.to_py() == (8, 64)
    assert (composed.is_static_inner, composed.is_static_offset, composed.is_static_outer) == (True, False, True)
    assert isinstance(fly.ComposedLayoutType.get(swizzle, 0, composed).outer, fly.ComposedLayoutType)
    with pytest.raises(TypeError, match="outer layout"):
        fly.ComposedLayoutType.get(swizzle, 0, swizzle)
    with pytest.raises(TypeError, match="inner map"):
        fly.ComposedLayoutType.get(ir.F32Type.get(), 0, layout)


def test_composed_layouts_do_not_nest_without_end() -> None:
    swizzle = fly.SwizzleType.get(3, 4, 3)

    def nest(layout: ir.Type, times: int) -> ir.Type:
        return layout if times == 0 else nest(fly.ComposedLayoutType.get(swizzle, 0, layout), times - 1)

    with pytest.raises(ValueError, match="nest"):
        nest(fly.LayoutType.get(8, 1), 100)


def test_coordinate_swizzle_and_basis() -> None:
    swizzle = fly.CoordSwizzleType.get(2, 0, [0, 1], 1, [1])
    assert str(swizzle) == "!fly.coord_swizzle<CS<2,0,[0, 1],1,[1]>>"
    assert (swizzle.base_row, swizzle.mode_row, swizzle.base_col, swizzle.mode_col) == (0, [0, 1], 1, [1])
    assert fly.BasisType.get(2, [1, 0]).to_py() == fly.Basis(2, [1, 0])
    with pytest.raises(ValueError, match="basis"):
        fly.BasisType.get(2, [])


def test_tiles() -> None:
    layout = fly.LayoutType.get((2, 2), (1, 4))
    tile = fly.TileType.get((4, None, (2, layout)))
    assert str(tile) == "!fly.tile<[4|*|[2|(2,2):(1,4)]]>"
    assert tile.to_py() == (4, None, (2, layout))
    assert (tile.rank, tile.depth, tile.is_leaf) == (3, 2, False)
    assert str(fly.TileType.get(4)) == "!fly.tile<4>"
    for bad, error in (((), ValueError), (D(), TypeError), ("4", TypeError), (nested(40), ValueError)):
        with pytest.raises(error):
            fly.TileType.get(bad)


def test_pointers() -> None:
    f16 = ir.F16Type.get()
    swizzle = fly.SwizzleType.get(2, 3, 3)
    pointer = fly.PointerType.get(f16, fly.AddressSpace.Shared, 16, swizzle)
    assert str(pointer) == "!fly.ptr<f16, shared, align<16>, S<2,3,3>>"
    assert (pointer.element_type, pointer.alignment, pointer.swizzle) == (f16, 16, swizzle)
    assert pointer.address_space_name == "shared"
    assert fly.PointerType.get(f16, "global").alignment == 2
    buffer = fly.PointerType.get(f16, ir.Attribute.parse("#fly_rocdl.buffer_desc"))
    assert str(buffer) == "!fly.ptr<f16, #fly_rocdl.buffer_desc>"
    assert buffer.address_space_name is None
    assert fly.space_name(pointer.address_space) == "shared"
    assert fly.space_name(buffer.address_space) == "#fly_rocdl.buffer_desc"
    assert fly.PointerType.get(f16, pointer.address_space, 16, swizzle) == pointer


@pytest.mark.parametrize(
    ("space", "alignment", "message"),
    [(9, None, "address space"), ("local", None, "address space"), (1, 3, "multiple"), (1, 0, "multiple"),
     (object(), None, "address space"), (-1, None, "address space"), (1, -2, "multiple")],
)  # fmt: skip
def test_pointers_refuse(space: object, alignment: int | None, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fly.PointerType.get(ir.F16Type.get(), space, alignment)


@pytest.mark.parametrize("element", ["index", "vector<4xf32>", "!fly.tile<4>", "none"])
def test_pointers_refuse_elements(element: str) -> None:
    with pytest.raises(ValueError, match="element type must be an integer or a float"):
        fly.PointerType.get(ir.Type.parse(element), 1)


def test_tensors() -> None:
    layout = fly.LayoutType.get(8, 1)
    memref = fly.MemRefType.get(ir.F32Type.get(), layout, fly.AddressSpace.Register)
    assert str(memref) == "!fly.memref<f32, register, 8:1>"
    assert memref.layout == layout
    assert str(memref.pointer_type) == "!fly.ptr<f32, register>"
    coordinates = fly.CoordTensorType.get((0, D()), fly.LayoutType.get((4, 8), (fly.Basis(1, [0]), fly.Basis(1, [1]))))
    assert str(coordinates) == "!fly.coord_tensor<(0,?), (4,8):(1E0,1E1)>"
    assert not coordinates.is_static
    with pytest.raises(TypeError, match="layout"):
        fly.MemRefType.get(ir.F32Type.get(), fly.SwizzleType.get(1, 0, 1), 1)


def test_copy_atoms() -> None:
    atom = fly.CopyAtomType.get(fly.UniversalCopyType.get(128), 16)
    assert str(atom.layout_src_tv) == "!fly.layout<(1,8):(1,1)>"
    assert atom.layout_src_tv == atom.layout_dst_tv == atom.layout_ref_tv
    assert (atom.val_bits, atom.is_static, str(atom.thr_layout)) == (16, True, "!fly.layout<1:1>")
    assert not fly.CopyAtomType.get(ir.Type.parse("!fly_rocdl.cdna3.buffer_copy<128>"), 16).is_static
    with pytest.raises(TypeError, match="copy operation"):
        fly.CopyAtomType.get(ir.F32Type.get(), 16)
    with pytest.raises(ValueError, match="positive"):
        fly.CopyAtomType.get(fly.UniversalCopyType.get(128), 0)
    with pytest.raises(ValueError, match="copy operation"):
        ir.Type.parse("!fly.copy_atom<i32, 32>").layout_src_tv


def test_mma_atoms_and_tilings() -> None:
    mfma = ir.Type.parse("!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>")
    atom = fly.MmaAtomType.get(mfma)
    assert atom.shape_mnk == (16, 16, 16)
    assert str(atom.layout_A_tv) == "!fly.layout<((16,4),4):((1,64),16)>"
    assert str(atom.layout_C_tv) == "!fly.layout<((16,4),(4,1)):((16,4),(1,16))>"
    assert (atom.element_type_a, atom.element_type_d) == (ir.F16Type.get(), ir.F32Type.get())
    tiled = fly.TiledMmaType.get(atom, fly.LayoutType.get((2, 2, 1), (1, 2, 0)))
    assert str(tiled.permutation) == "!fly.tile<[*|*|*]>"
    assert tiled.atom == atom
    copy = fly.TiledCopyType.get(
        fly.CopyAtomType.get(fly.UniversalCopyType.get(64), 16),
        fly.LayoutType.get(((2, 4), 4), ((16, 1), 4)),
        fly.TileType.get((4, 8)),
    )
    assert str(copy.tile) == "!fly.tile<[4|8]>"
    with pytest.raises(TypeError, match="matrix operation"):
        fly.MmaAtomType.get(ir.F32Type.get())
    with pytest.raises(TypeError, match="LayoutType"):
        fly.TiledMmaType.get(atom, fly.TileType.get(4))


def test_universal_operations() -> None:
    atomic = fly.UniversalAtomicType.get(fly.AtomicOp.Max, ir.F32Type.get(), "agent")
    assert str(atomic) == '!fly.universal_atomic<max, f32, "agent">'
    assert (atomic.op, atomic.sync_scope) == (fly.AtomicOp.Max, "agent")
    assert str(fly.UniversalFMAType.get(ir.F32Type.get())) == "!fly.universal_fma<1x1x1, (f32, f32) -> f32>"
    with pytest.raises(ValueError, match="atomic operation"):
        fly.UniversalAtomicType.get(7, ir.F32Type.get())
    with pytest.raises(ValueError, match="at least one bit"):
        fly.UniversalCopyType.get(0)


def test_matrix_operations_of_cdna() -> None:
    from flydsl._mlir.dialects import fly_rocdl

    f16, f32, f64 = ir.F16Type.get(), ir.F32Type.get(), ir.F64Type.get()
    assert fly_rocdl.CDNA3MFMAType.get(16, 16, 4, f16, f16, f32).blocks == 1
    blocks = fly_rocdl.CDNA3MFMAType.get(4, 4, 4, f64, f64, f64, blocks=4)
    assert str(blocks) == "!fly_rocdl.cdna3.mfma<4x4x4, (f64, f64) -> f64, blocks = 4>"
    assert str(fly.MmaAtomType.get(blocks).layout_C_tv) == "!fly.layout<((16,4),1):((4,1),0)>"
    sparse = fly_rocdl.CDNA3SMFMACType.get(16, 16, 32, f16, f16, f32, index_set=3)
    assert (sparse.k, sparse.index_set) == (32, 3)
    atom = fly.MmaAtomType.get(sparse)
    assert (str(atom.layout_A_tv), str(atom.layout_B_tv)) == (
        "!fly.layout<((16,4),4):((1,64),16)>",
        "!fly.layout<((16,4),8):((1,128),16)>",
    )
    assert not atom.is_static
    with pytest.raises(ValueError, match=r"indexSet must be in \[0, 3\], got 4"):
        fly_rocdl.CDNA3SMFMACType.get(16, 16, 32, f16, f16, f32, index_set=4)
    with pytest.raises(ValueError, match="dense atoms of one block"):
        fly.TiledMmaType.get(fly.MmaAtomType.get(blocks), fly.LayoutType.get((1, 1, 1), (0, 0, 0)))


def test_types_need_a_context_only_when_there_is_none() -> None:
    other = ir.Context()
    assert fly.IntTupleType.get(4, context=other).context is other


@pytest.mark.parametrize(
    ("text", "expected"),
    [("!fly.layout<4:1>", True), ("!fly.layout<?:1>", False), ("!fly.tile<[4|?]>", True), ("i32", False),
     ("!fly.ptr<f16, global>", False), ("!fly.copy_atom<!fly.universal_copy<32>, 32>", True)],
)  # fmt: skip
def test_is_static_type(text: str, expected: bool) -> None:
    assert fly.is_static_type(ir.Type.parse(text)) is expected


def test_aliases_of_types() -> None:
    from flydsl._mlir.dialects import fly_rocdl

    narrow, wide = ir.Type.parse("f8E4M3FN"), ir.F32Type.get()
    made = [
        fly.CopyOpUniversalCopyType.get(bitSize=64),
        fly.MmaOpUniversalFMAType.get(wide),
        fly_rocdl.CopyOpCDNA3BufferCopyType.get(bit_size=32, cache_modifier=2),
        fly_rocdl.CopyOpGFX1250TDMType.get(2, 4, cache_modifier=1, early_timeout=True),
        fly_rocdl.MmaOpGFX1250_WMMAScaleType.get(16, 16, 128, narrow, narrow, wide, opsel_a=1, block_size=16),
    ]
    for kind in made:
        assert ir.Type.parse(str(kind)) == kind
    assert fly.CopyOpUniversalCopyType is fly.UniversalCopyType
    assert str(made[2]) == "!fly_rocdl.cdna3.buffer_copy<32, cache = 2>"
    assert str(fly_rocdl.CDNA3BufferCopyType.get(32, cache=2)) == str(made[2])
