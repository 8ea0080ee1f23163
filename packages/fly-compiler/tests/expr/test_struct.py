# SPDX-License-Identifier: Apache-2.0
"""Structs and unions as values, and their layout in memory."""

from dataclasses import FrozenInstanceError

import pytest
from tracing import kernel

import flydsl.expr as fx
from flydsl.expr.values.storable import align_of, size_of
from flydsl.trace.protocol import construct_from_ir_values, extract_to_ir_values


@fx.struct
class Point:
    x: fx.Int32
    y: fx.Float32

    @property
    def total(self):
        return self.x + self.y

    def scaled(self, by):
        return self.replace(x=self.x * by)


@fx.struct
class Block:
    a: fx.Int8
    b: fx.Constexpr[int]
    c: fx.Array[fx.Float32, 3]
    p: Point


def test_values():
    p = Point(1, y=2)
    assert (p.x.value, p.y.value, p.y.dtype) == (1, 2.0, fx.Float32)
    assert p == Point(1, 2)
    assert p != Point(2, 2)
    assert hash(p) == hash(Point(1, 2))
    assert p.total.value == 3.0
    assert p.scaled(5).x.value == 5
    assert repr(p) == "Point(x=Int32(1), y=Float32(2.0))"


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: Point(1), "lacks a value for 'y'"),
        (lambda: Point(1, 2, 3), "has 2 fields, got 3"),
        (lambda: Point(1, 2, z=3), "has no field 'z'"),
        (lambda: Point(1, x=2, y=3), "two values for field 'x'"),
        (lambda: Point(fx.Float32(1.0), 2), "takes Int32, got Float32"),
        (lambda: Point(1, 2).replace(z=1), "has no field 'z'"),
    ],
)
def test_wrong_construction(build, message):
    with pytest.raises(TypeError, match=message):
        build()


def test_immutable():
    p = Point(1, 2)
    with pytest.raises(FrozenInstanceError):
        p.x = 3
    with pytest.raises(FrozenInstanceError):
        del p.x


def test_reserved_names():
    with pytest.raises(ValueError, match="'replace' cannot be a field name"):
        fx.Struct["replace" : fx.Int32]
    with pytest.raises(ValueError, match="begins with '_'"):
        fx.Struct["_a" : fx.Int32]


def test_constexpr_fields_specialise():
    @fx.struct
    class P:
        a: fx.Int32
        b: fx.Constexpr[int]

    one, two = P(1, 4), P(1, 5)
    assert type(one).__name__ == "P[b=4]"
    assert type(one) is not type(two)
    assert type(one) is type(P(9, 4))
    assert isinstance(one, P)
    assert one.replace(b=5) == two
    assert size_of(P) == 4
    with pytest.raises(TypeError, match=r"takes a Python int, got 2.0"):
        P(1, 2.0)
    with kernel():
        assert len(extract_to_ir_values(one)) == 1


def test_round_trip_through_ssa():
    with kernel("i32", "f32") as k:
        p = Point(fx.Int32(k.args[0]), fx.Float32(k.args[1]))
        values = extract_to_ir_values((p, [Point(1, 2)]))
        assert len(values) == 4
        back, (other,) = construct_from_ir_values((p, [Point(1, 2)]), values)
        assert isinstance(back, Point)
        assert back.x.value is values[0]
        assert other.y.dtype is fx.Float32
        k.ir()


def test_inline_structs():
    S = fx.Struct["a" : fx.Int32, "b" : fx.Float32]
    assert S is fx.Struct["a" : fx.Int32, "b" : fx.Float32]
    assert S(1, 2).b.value == 2.0
    assert fx.Struct[fx.Int32, fx.Int8](1, 2)._1.value == 2


@pytest.mark.parametrize(
    ("kind", "size", "alignment"),
    [
        (fx.Array[fx.Boolean, 3], 3, 1),
        (fx.Int8, 1, 1),
        (fx.BFloat16, 2, 2),
        (fx.Float64, 8, 8),
        (fx.Int128, 16, 16),
        (Point, 8, 4),
        (Block, 24, 4),
        (fx.Struct["a" : fx.Int8, "b" : fx.Float64], 16, 8),
        (fx.Union["a" : fx.Int8, "b" : fx.Float64], 8, 8),
        (fx.Union["a" : fx.Array[fx.Int8, 5], "b" : fx.Int32], 8, 4),
        (fx.Array[fx.Float16, 10], 20, 2),
        (fx.Array[fx.Float16, 10, 16], 20, 16),
        (fx.Align[fx.Int8, 8], 1, 8),
        (fx.Float32x4, 16, 4),
        (fx.Array[Point, 3], 24, 4),
        (fx.Empty, 0, 1),
    ],
)
def test_sizes(kind, size, alignment):
    assert (size_of(kind), align_of(kind)) == (size, alignment)


@pytest.mark.parametrize("kind", [fx.Int4, fx.Float4E2M1FN, fx.Float6E2M3FN, fx.Tensor, fx.Layout, int])
def test_what_cannot_be_stored(kind):
    with pytest.raises(TypeError, match="cannot be stored"):
        size_of(kind)


def test_alignment_mistakes():
    with pytest.raises(ValueError, match="at least the natural alignment, 4"):
        fx.Align[fx.Int32, 2]
    with pytest.raises(ValueError, match="power of two"):
        fx.Align[fx.Int32, 12]
    for count in (0, -1, 2.0):
        with pytest.raises(TypeError, match="positive number of elements"):
            fx.Array[fx.Int32, count]


def test_what_has_no_storage():
    for kind in (fx.Boolean, fx.Int4, fx.Float6E2M3FN, fx.Float4E2M1FN):
        with pytest.raises(TypeError, match="narrower than a byte"):
            size_of(kind)
    for space in (fx.AddressSpace.Register, fx.AddressSpace.Generic):
        with pytest.raises(TypeError, match="only pointers to global and shared memory"):
            fx.Pointer[fx.Float32, space]
    assert fx.Pointer[fx.Float32, fx.AddressSpace.Global].__name__ == "Pointer[Float32, global]"
    assert fx.Pointer[fx.Float32, fx.AddressSpace.Shared, 16].__name__ == "Pointer[Float32, shared, 16]"


def test_names_and_types_of_fields():
    for name in ("_x", "replace", "peek", "poke"):
        with pytest.raises(ValueError, match="cannot be a field name"):
            fx.Struct[name : fx.Int32]
    for kind in (3, "Int32"):
        with pytest.raises(TypeError, match="is a type of the language"):
            fx.Struct[kind]
    assert repr(fx.Struct[fx.Int32, fx.Int8](1, 2)) == "Struct[Int32, Int8](_0=Int32(1), _1=Int8(2))"


def test_unions_have_no_value():
    with pytest.raises(TypeError, match="is a union: it has no value"):
        fx.Union["a" : fx.Int32]()
