# SPDX-License-Identifier: Apache-2.0
"""What types say as plain values, which outlive the context."""

import gc
import itertools

import pytest

from flydsl._mlir import facts, ir
from flydsl._mlir._mlir_libs import _flyROCDLDialect as rocdl
from flydsl._mlir.dialects import fly

ONE = facts.LayoutFacts(1, 1)
BITS = facts.LayoutFacts((1, 32), (1, 1))
FACTS = [
    ("!fly.int_tuple<(4,(2,*))>", facts.IntTupleFacts((4, (2, None)))),
    ("!fly.int_tuple<(4)>", facts.IntTupleFacts((4,))),
    ("!fly.int_tuple<?{i64 div=8}>", facts.IntTupleFacts(fly.Dynamic(64, 8))),
    ("!fly.basis<2E1E3>", facts.BasisFacts(fly.Basis(2, [1, 3]))),
    ("!fly.layout<(4,?):(1,?{div=2})>", facts.LayoutFacts((4, fly.Dynamic()), (1, fly.Dynamic(32, 2)))),
    ("!fly.swizzle<S<3,4,3>>", facts.SwizzleFacts(3, 4, 3)),
    ("!fly.coord_swizzle<CS<3,0,[0],1,[1,0]>>", facts.CoordSwizzleFacts(3, 0, (0,), 1, (1, 0))),
    (
        "!fly.composed_layout<S<1,0,2> o ?{div=4} o [8:1 o 1 o 4:2]>",
        facts.ComposedLayoutFacts(
            facts.SwizzleFacts(1, 0, 2),
            fly.Dynamic(32, 4),
            facts.ComposedLayoutFacts(facts.LayoutFacts(8, 1), 1, facts.LayoutFacts(4, 2)),
        ),
    ),
    ("!fly.tile<[4|*|[2|(2,2):(1,4)]]>", facts.TileFacts((4, None, (2, facts.LayoutFacts((2, 2), (1, 4)))))),
    ("!fly.tile<4>", facts.TileFacts(4)),
    ("!fly.coord_tensor<(0,1), 4:1E0>", facts.CoordTensorFacts((0, 1), facts.LayoutFacts(4, fly.Basis(1, [0])))),
    (
        "!fly.ptr<f4E2M1FN, #fly_rocdl.buffer_desc>",
        facts.PointerFacts("f4E2M1FN", 4, "#fly_rocdl.buffer_desc", 1, None),
    ),
    (
        "!fly.memref<bf16, shared, 8:1, align<16>, S<3,4,3>>",
        facts.MemRefFacts("bf16", 16, "shared", facts.LayoutFacts(8, 1), 16, facts.SwizzleFacts(3, 4, 3)),
    ),
    (
        "!fly.copy_atom<!fly.universal_copy<32>, 16>",
        facts.CopyAtomFacts("fly.universal_copy", "universal_copy<32>", 16, ONE, BITS, BITS, BITS, 32, None),
    ),
    (
        "!fly.copy_atom<!fly_rocdl.cdna3.buffer_copy_lds<32>, 32>",
        facts.CopyAtomFacts(
            "fly_rocdl.cdna3.buffer_copy_lds", "cdna3.buffer_copy_lds<32>", 32, ONE, BITS, BITS, BITS, None,
            "destination",
        ),
    ),
    ("i32", None),
    ("!fly_ktrace.token", None),
]  # fmt: skip
TDM = "!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>"


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize(("text", "expected"), FACTS)
def test_types_say_what_they_are(text: str, expected: object) -> None:
    found = fly.facts_of(ir.Type.parse(text))
    assert found == expected
    assert type(found) is type(expected)
    assert fly.facts_of(ir.Type.parse(text)) is found
    assert expected is None or hash(found) == hash(expected)


def test_facts_of_different_types_differ() -> None:
    """As keys: trees that Python calls equal, as 1 and True are, do not occur."""
    with ir.Context():
        one, two = (fly.facts_of(ir.Type.parse(f"!fly.int_tuple<{text}>")) for text in ("?", "?{div=2}"))
    assert one != two
    assert len({one, two, facts.IntTupleFacts(fly.Dynamic(32, 2))}) == 2


def test_facts_belong_to_no_context() -> None:
    with ir.Context() as context:
        layout = fly.facts_of(ir.Type.parse("!fly.layout<(4,?):(1,4)>"))
        assert fly.facts_of(fly.LayoutType.get((4, fly.Dynamic()), (1, 4))) is layout
    del context
    gc.collect()
    for extent in (5, 6, 7):  # whose types may lie where that of the first context lay
        with ir.Context():
            other = fly.facts_of(ir.Type.parse(f"!fly.layout<({extent},?):(1,4)>"))
            assert other.shape[0] == extent
    assert layout == facts.LayoutFacts((4, fly.Dynamic()), (1, 4))


@pytest.mark.usefixtures("context")
def test_values_answer_for_their_types() -> None:
    module = ir.Module.create(ir.Location.unknown())
    with ir.InsertionPoint(module.body), ir.Location.unknown():
        # By the class: where the language is loaded, too, the function gives an object of it.
        value = fly.StaticOp(fly.LayoutType.get((4, 8), (8, 1))).result
        assert fly.facts_of(value) is fly.facts_of(value.type)
        assert fly.spelling(value) == "(4,8):(8,1)"


def test_copies_of_whole_tiles_have_no_layouts(context: ir.Context) -> None:
    atom = fly.facts_of(ir.Type.parse(f"!fly.copy_atom<{TDM}, 32>"))
    assert (atom.mnemonic, atom.thr_layout, atom.src_bits) == ("fly_rocdl.gfx1250.tdm", None, None)
    transposed = fly.facts_of(ir.Type.parse("!fly.copy_atom<!fly_rocdl.cdna4.lds_read_trans<trans = 16b, 64>, 16>"))
    assert transposed.unswizzled == "source"
    assert transposed.src_bits != transposed.dst_bits


@pytest.mark.usefixtures("context")
def test_tilings_have_the_facts_of_their_parts() -> None:
    operation = ir.Type.parse("!fly_rocdl.cdna3.mfma<16x16x16, (f16, bf16) -> f32>")
    atom = fly.MmaAtomType.get(operation)
    found = fly.facts_of(atom)
    assert (found.shape_mnk, found.element_types) == ((16, 16, 16), ("f16", "bf16", "f32"))
    for operand in "ABC":
        assert getattr(found, f"layout_{operand}_tv") == fly.facts_of(getattr(atom, f"layout_{operand}_tv"))
    tiled = fly.facts_of(fly.TiledMmaType.get(atom, fly.LayoutType.get((2, 2, 1), (1, 2, 0))))
    assert tiled.atom is found
    assert tiled.permutation == facts.TileFacts((None, None, None))


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize(
    ("operation", "fields"),
    [
        ("!fly.universal_copy<32>", []),
        ("!fly_rocdl.cdna3.buffer_copy<32>", ["soffset"]),
        ("!fly_rocdl.cdna3.buffer_copy_lds<32>", ["soffset", "imm_offset"]),
        (
            "!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f8E4M3FN) -> f32, opselA = 0, opselB = 0>",
            ["scale_a", "scale_b"],
        ),
        (TDM, ["workgroup_mask", *(f"extent_{i}" for i in range(5)), *(f"stride_{i}" for i in range(4)), "imm_offset"]),
    ],
)  # fmt: skip
def test_state_fields(operation: str, fields: list[str]) -> None:
    assert fly.state_fields(ir.Type.parse(operation)) == fields


MFMA = "!fly_rocdl.cdna3.mfma<{}>"
AVAILABILITY = [
    (MFMA.format("16x16x16, (f16, f16) -> f32"), "gfx942", None),
    (MFMA.format("16x16x16, (f16, f16) -> f32"), "gfx1250-strict", "needs cdna, .* for gfx1250-strict"),
    (MFMA.format("16x16x32, (f16, f16) -> f32"), "gfx950", None),
    (MFMA.format("16x16x32, (f16, f16) -> f32"), "gfx942:xnack-", "needs gfx950, .* use MFMA 16x16x16"),
    (MFMA.format("32x32x32, (i8, i8) -> i32"), "gfx942", "needs gfx950, .* use MFMA 32x32x16"),
    (MFMA.format("16x16x32, (i8, i8) -> i32"), "gfx942", None),
    (MFMA.format("16x16x8, (tf32, tf32) -> f32"), "gfx950", "needs gfx940 or gfx941 or gfx942, "),
    (MFMA.format("16x16x32, (f8E4M3FNUZ, f8E4M3FNUZ) -> f32"), "gfx950", "OCP formats"),
    (MFMA.format("16x16x32, (f8E4M3FN, f8E5M2) -> f32"), "gfx942", None),
    (MFMA.format("4x4x4, (f16, f16) -> f32"), "gfx942", "works on several blocks; say blocks=16"),
    (MFMA.format("4x4x4, (f16, f16) -> f32, blocks = 16"), "gfx942", None),
    (MFMA.format("16x16x2, (bf16, bf16) -> f32"), "gfx942", "works on several blocks; "),
    (MFMA.format("16x16x8, (bf16, bf16) -> f32"), "gfx942", "needs gfx908 or gfx90a, .* use MFMA 16x16x16"),
    (MFMA.format("16x16x8, (bf16, bf16) -> f32"), "gfx950", "needs gfx908 or gfx90a, "),
    (MFMA.format("16x16x8, (bf16, bf16) -> f32"), "gfx90a", None),
    ("!fly_rocdl.cdna3.smfmac<16x16x64, (f16, f16) -> f32>", "gfx942", "needs gfx950, .* use SMFMAC 16x16x32"),
    ("!fly_rocdl.cdna3.smfmac<16x16x32, (f16, f16) -> f32>", "gfx942", None),
    ("!fly_rocdl.cdna3.buffer_copy_lds<128>", "gfx942", "needs gfx950"),
    ("!fly_rocdl.cdna3.buffer_copy_lds<32>", "gfx1201", "needs cdna"),
    ("!fly_rocdl.cdna3.buffer_copy<32>", "gfx1201", None),
    ("!fly_rocdl.cdna4.lds_read_trans<trans = 16b, 64>", "gfx942", "needs gfx950"),
    (TDM, "gfx1201", "needs gfx1250"),
    (TDM, "gfx1250", None),
    ("!fly.universal_copy<32>", "gfx1100", None),
]  # fmt: skip


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize(("operation", "target", "expected"), AVAILABILITY)
def test_availability(operation: str, target: str, expected: str | None) -> None:
    kind = ir.Type.parse(operation)
    why = fly.why_unavailable(kind, target)
    if expected is None:
        assert why is None
        return
    with pytest.raises(ValueError, match=expected):
        raise ValueError(why)
    assert str(why).startswith(operation.removeprefix("!"))
    is_mma = ".mfma" in operation or ".smfmac" in operation
    atom = fly.MmaAtomType.get(kind) if is_mma else fly.CopyAtomType.get(kind, 32)
    assert fly.why_unavailable(atom, target) == why


def test_atomic_operations_by_name() -> None:
    assert fly.atomic_op("max") == fly.AtomicOp.Max
    with pytest.raises(ValueError, match="no atomic operation 'swap'"):
        fly.atomic_op("swap")


SHAPED = ("cdna3.mfma", "cdna3.smfmac", "cdna4.mfma_scale", "gfx11.wmma", "gfx120x.wmma", "gfx1250.wmma")


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize("operation", [*SHAPED, "gfx1250.wmma_scale"])
def test_shapes_are_those_that_the_verifier_takes(operation: str) -> None:
    """Each row, with each pair of its types, makes a type; where the verifier knows all shapes, nothing else does."""
    cls = getattr(rocdl, {
        "cdna3.mfma": "CDNA3MFMAType",
        "cdna3.smfmac": "CDNA3SMFMACType",
        "cdna4.mfma_scale": "CDNA4MFMAScaleType",
        "gfx11.wmma": "GFX11WMMAType",
        "gfx120x.wmma": "GFX120XWMMAType",
        "gfx1250.wmma": "GFX1250WMMAType",
        "gfx1250.wmma_scale": "GFX1250WMMAScaleType",
    }[operation])  # fmt: skip
    rows = rocdl.matrix_shapes(operation)
    for m, n, k, elements, acc, blocks, index_sets in rows:
        for a, b in itertools.product(elements, repeat=2):
            types = [ir.Type.parse(one) for one in (a, b, acc)]
            more = [blocks] if operation == "cdna3.mfma" and blocks > 1 and a == b else []
            more = [index_sets - 1] if operation == "cdna3.smfmac" else more
            made = cls.get(m, n, k, *types, *more)
            assert (made.m, made.n, made.k) == (m, n, k)
        if operation == "cdna3.smfmac":
            with pytest.raises(ValueError, match="indexSet must be in"):
                cls.get(m, n, k, *types, index_sets)
    if operation == "cdna3.mfma":  # existing programs have types of shapes that no instruction has
        return
    known = {(m, n, k, a, b, acc) for m, n, k, es, acc, *_ in rows for a in es for b in es}
    extents = {row[:3] for row in rows} | {(16, 16, 8), (32, 32, 8), (16, 16, 256)}
    names = {one for row in rows for one in row[3]} | {"f32", "i16"}
    for extent, a, b, acc in itertools.product(extents, names, names, ("f32", "f16", "bf16", "i32")):
        if (*extent, a, b, acc) not in known:
            with pytest.raises(ValueError, match=r"."):
                cls.get(*extent, *(ir.Type.parse(one) for one in (a, b, acc)))


@pytest.mark.usefixtures("context")
@pytest.mark.parametrize(
    ("operation", "name"),
    [
        ("cdna3.buffer_copy_lds", "CDNA3BufferCopyLDSType"),
        ("cdna4.buffer_load_async_lds", "CDNA4BufferLoadAsyncLDSType"),
        ("cdna4.global_load_async_lds", "CDNA4GlobalLoadAsyncLDSType"),
        ("cdna4.lds_read_trans", "CDNA4LdsReadTransType"),
    ],
)
def test_copy_widths(operation: str, name: str) -> None:
    """Each row makes a type, and nothing else does."""
    cls, rows = getattr(rocdl, name), rocdl.copy_widths(operation)
    transposes = operation == "cdna4.lds_read_trans"
    for bits, granularity in itertools.product(
        (0, 8, 16, 32, 64, 96, 128, 256), (4, 6, 8, 16, 32) if transposes else (0,)
    ):
        arguments = (granularity, bits) if transposes else (bits,)
        if (bits, granularity) in rows:
            assert cls.get(*arguments).bits == bits
        else:
            with pytest.raises(ValueError, match=r"unsupported (bitSize = |\(bitSize, transGranularity\))"):
                cls.get(*arguments)


def test_widths_of_what_has_no_list_of_them() -> None:
    with pytest.raises(ValueError, match=r"has the mnemonic 'cdna3\.buffer_copy'"):
        rocdl.copy_widths("cdna3.buffer_copy")


def test_shapes_of_what_is_no_matrix_operation() -> None:
    with pytest.raises(ValueError, match=r"no matrix operation of fly_rocdl has the mnemonic 'cdna3\.buffer_copy'"):
        rocdl.matrix_shapes("cdna3.buffer_copy")
