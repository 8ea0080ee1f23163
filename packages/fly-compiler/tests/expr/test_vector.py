# SPDX-License-Identifier: Apache-2.0
"""Register vectors: construction, indexing, operators, broadcasting, conversions, reductions."""

import operator

import pytest
from tracing import kernel

import flydsl.expr as fx

V4F = "vector<4xf32>"


def test_wrapping_and_checks():
    with kernel("vector<6xf32>") as k:
        v = fx.Vector(k.args[0], (2, 3))
        assert v.shape == (2, 3)
        assert v.numel == len(v) == 6
        assert v.dtype is fx.Float32
        with pytest.raises(ValueError, match=r"shape \(2, 2\) has 4 elements, the vector has 6"):
            fx.Vector(k.args[0], (2, 2))
        with pytest.raises(ValueError, match="dtype=Int32"):
            fx.Vector(k.args[0], dtype=fx.Int32)
        with pytest.raises(TypeError, match=r"fx\.full"):
            fx.Vector([1, 2])


def test_dynamic_shapes_are_refused():
    with kernel("i32") as k, pytest.raises(ValueError, match="must be static"):
        fx.full(fx.Int32(k.args[0]), 0, fx.Float32)


def test_factories():
    with kernel("f32") as k:
        x = fx.Float32(k.args[0])
        assert fx.full((2, 2), 1, fx.Float16).dtype is fx.Float16
        assert fx.full(4, x).dtype is fx.Float32
        v = fx.Vector.filled(4, 2.5, fx.BFloat16)
        for like in (
            fx.zeros_like(v),
            fx.ones_like(v),
            fx.empty_like(v),
            fx.full_like(v, 3),
            fx.Vector.filled_like(v, 3),
        ):
            assert like.dtype is fx.BFloat16
            assert like.shape == (4,)
        e = fx.Vector.from_elements([x, 2, 3.5])
        assert e.dtype is fx.Float32
        assert e.shape == (3,)
        assert fx.Vector.from_elements([1, 2], fx.Int8).dtype is fx.Int8
        with pytest.raises(ValueError, match="at least one"):
            fx.Vector.from_elements([])
        k.ir()


def test_aliases():
    with kernel("vector<4xi8>") as k:
        assert fx.Float32x4(1).shape == (4,)
        assert fx.Int8x4([1, 2, 3, 4]).dtype is fx.Int8
        assert fx.Uint8x4(k.args[0]).dtype is fx.Uint8
        assert isinstance(fx.Float32x4(0), fx.Float32x4)
        assert not isinstance(fx.Float32x2(0), fx.Float32x4)
        assert fx.Vector[fx.Float32, 4] is fx.Float32x4 is fx.VectorAlias(fx.Float32, 4)
        assert fx.Vector[fx.Float32, (2, 2)](1).shape == (2, 2)
        assert (fx.Float32x4.width, fx.Float4E2M1FNx8.width) == (128, 32)
        with pytest.raises(ValueError, match="takes 4 elements, got 3"):
            fx.Float32x4([1, 2, 3])
        k.ir()


@pytest.mark.parametrize(
    "name",
    [
        "BFloat16x16",
        "Float16x8",
        "Float8E4M3FNx16",
        "Int16x4",
        "Uint16x1",
        "Float32x8",
        "Uint32x2",
        "Float64x4",
        "Int4x32",
    ],
)
def test_alias_names_exist(name):
    assert getattr(fx, name).__name__ == name


def test_indexing():
    with kernel("vector<6xf32>", "i32") as k:
        v = fx.Vector(k.args[0], (2, 3))
        i = fx.Int32(k.args[1])
        assert v[0].dtype is fx.Float32
        assert "vector.extract %arg0[5]" in k.ir() or v[-1] is not None
        v[1, 2]
        assert "%arg0[5]" in k.ir()
        assert v[None, 2].shape == (2,)
        assert "[2, 5]" in k.ir()
        assert v[1, None].shape == (3,)
        assert v[None, None].shape == (2, 3)
        assert v[i].dtype is fx.Float32
        assert len(list(v)) == 6
        with pytest.raises(IndexError, match="out of range"):
            v[6]
        with pytest.raises(IndexError, match="out of range"):
            v[2, 0]
        with pytest.raises(TypeError, match="slices"):
            v[0:2]
        with pytest.raises(RuntimeError, match="must be static"):
            v[i, 0]


@pytest.mark.parametrize(
    "op", [operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod]
)
def test_arithmetic_is_elementwise(op):
    with kernel(V4F, V4F) as k:
        a, b = fx.Vector(k.args[0]), fx.Vector(k.args[1])
        for result in (op(a, b), op(a, 2), op(2, a), op(a, fx.Int32(2)), op(fx.Float32(1.0), a)):
            assert result.shape == (4,)
            assert result.dtype is fx.Float32
        k.ir()


def test_promotion_is_that_of_scalars():
    with kernel() as k:
        assert (fx.full(4, 1, fx.Int8) + 300).dtype is fx.Int32
        assert (fx.full(4, 1, fx.Float16) + fx.full(4, 1, fx.BFloat16)).dtype is fx.Float32
        assert (fx.full(4, 1, fx.Int32) / 2).dtype is fx.Float32
        assert (fx.full(4, 1, fx.Uint32) >> 1).dtype is fx.Uint32
        assert "arith.shrui" in k.ir()
        with pytest.raises(TypeError, match="needs an integer"):
            ~fx.full(4, 1.0, fx.Float32)
        with pytest.raises(TypeError, match="needs integers"):
            fx.full(4, 1.0, fx.Float32) & 1


def test_comparisons_and_select():
    with kernel(V4F) as k:
        v = fx.Vector(k.args[0])
        mask = v > 0
        assert mask.dtype is fx.Boolean
        assert mask.shape == (4,)
        assert mask.select(v, 0).dtype is fx.Float32
        assert fx.vec_select(mask, 1, v).shape == (4,)
        assert fx.vec_select(v, v, 0.0).shape == (4,)
        assert (v == None) is False  # noqa: E711
        k.ir()


def test_broadcasting():
    with kernel("vector<3xf32>", "vector<2xf32>", "vector<1xf32>") as k:
        row = fx.Vector(k.args[0], (1, 3))
        column = fx.Vector(k.args[1], (2, 1))
        assert (row + column).shape == (2, 3)
        text = k.ir()
        assert "[0, 1, 2, 0, 1, 2]" in text
        assert "[0, 0, 0, 1, 1, 1]" in text
        assert (fx.Vector(k.args[2]) * row).shape == (1, 3)
        assert row.broadcast_to((2, 3)).shape == (2, 3)
        assert fx.vec_broadcast(fx.Float32(1.0), shape=(2, 2)).shape == (2, 2)
        with pytest.raises(ValueError, match="cannot broadcast shapes"):
            fx.Vector(k.args[0]) + fx.Vector(k.args[1])


def test_conversions():
    with kernel(V4F) as k:
        v = fx.Vector(k.args[0], (2, 2))
        assert v.to(fx.BFloat16).shape == (2, 2)
        assert v.bitcast(fx.Int8).shape == (16,)
        assert v.bitcast(fx.Float64).shape == (2,)
        assert v.bitcast(fx.Uint32).dtype is fx.Uint32
        assert v.reshape(4).shape == (4,)
        assert v.to(fx.BFloat16, rounding_mode=fx.arith.RoundingMode.upward).dtype is fx.BFloat16
        with pytest.raises(ValueError, match="do not divide into"):
            fx.full(3, 1, fx.Int8).bitcast(fx.Int16)
        with pytest.raises(ValueError, match="has 3 elements"):
            v.reshape(3)
        k.ir()


def test_shuffle():
    with kernel(V4F) as k:
        v = fx.Vector(k.args[0])
        assert v.shuffle(v, [0, 7]).shape == (2,)
        with pytest.raises(IndexError, match="mask entry 8"):
            v.shuffle(v, [8])
        assert "[0, 7]" in k.ir()


@pytest.mark.parametrize(
    ("cls", "op", "kind"),
    [
        ("Float32", "add", "add"),
        ("Float32", "max", "maxnumf"),
        ("Float32", "min", "minimumf"),
        ("Int32", "max", "maxsi"),
        ("Uint32", "max", "maxui"),
        ("Uint32", "min", "minui"),
        ("Int32", "mul", "mul"),
    ],
)
def test_reductions(cls, op, kind):
    with kernel() as k:
        v = fx.full(4, 1, getattr(fx, cls))
        assert v.reduce(op).dtype is getattr(fx, cls)
        v.reduce(fx.ReductionOp[op.upper()], init_val=3)
        assert f"vector.reduction <{kind}>" in k.ir()


def test_unknown_reductions():
    with kernel():
        v = fx.full(4, 1, fx.Int32)
        with pytest.raises(ValueError, match="unknown reduction 'sum'"):
            v.reduce("sum")
        with pytest.raises(TypeError, match=r"fx\.ReductionOp or a string"):
            v.reduce(3)


def test_unary():
    with kernel(V4F) as k:
        v = fx.Vector(k.args[0])
        assert (-v).dtype is fx.Float32
        assert abs(v).shape == (4,)
        assert (~fx.full(4, 1, fx.Int32)).dtype is fx.Int32
        assert (-fx.full(4, 1, fx.Int32)).dtype is fx.Int32
        k.ir()


def test_builtin_memrefs():
    with kernel("memref<64xf32>", "index") as k:
        v = fx.Vector.load(fx.T.f32x4, k.args[0], [k.args[1]])
        v.store(k.args[0], [0], alignment=16)
        text = k.ir()
    assert "vector.load" in text
    assert "vector.store" in text


def test_raw_vectors_mix():
    with kernel(V4F) as k:
        raw = k.args[0]
        assert (fx.Vector(raw) + raw).shape == (4,)
        assert (raw + fx.Vector(raw)).shape == (4,)
        assert str((raw * 2.0).type) == V4F
        k.ir()
