# SPDX-License-Identifier: Apache-2.0
"""Construction and conversion of scalars."""

import pytest
from tracing import kernel

import flydsl.expr as fx

INTEGERS = ["Int4", "Int8", "Int16", "Int32", "Int64", "Int128", "Uint8", "Uint16", "Uint32", "Uint64", "Uint128"]
FLOATS = [
    "Float16",
    "BFloat16",
    "Float32",
    "Float64",
    "Float8E5M2",
    "Float8E4M3FN",
    "Float8E4M3FNUZ",
    "Float8E4M3B11FNUZ",
    "Float8E4M3",
    "Float8E8M0FNU",
    "Float6E2M3FN",
    "Float6E3M2FN",
    "Float4E2M1FN",
]


@pytest.mark.parametrize(
    ("cls", "value", "expected"),
    [
        ("Int8", 300, 44),
        ("Uint8", -1, 255),
        ("Int4", 9, -7),
        ("Int32", 2**31, -(2**31)),
        ("Uint32", 2**32 + 5, 5),
        ("Int64", 2**63, -(2**63)),
        ("Int128", 2**127, -(2**127)),
        ("Boolean", 7, True),
        ("Boolean", 0.0, False),
        ("Int32", 3.99, 3),
        ("Int32", -3.99, -3),
        ("Float32", 3, 3.0),
        ("Int8", True, 1),
    ],
)
def test_python_numbers_wrap_and_truncate(cls, value, expected):
    assert getattr(fx, cls)(value).value == expected


def test_nan_and_infinity_are_no_integers():
    with pytest.raises(ValueError, match="NaN to Int32"):
        fx.Int32(float("nan"))
    with pytest.raises(OverflowError, match="infinity to Int32"):
        fx.Int32(float("inf"))


@pytest.mark.parametrize("bad", ["3", None, [1], object()])
def test_other_objects_are_refused(bad):
    with pytest.raises(ValueError, match=r"Int32\(\.\.\.\) takes a Python number"):
        fx.Int32(bad)


def test_numpy_scalars_are_refused():
    numpy = pytest.importorskip("numpy")
    with pytest.raises(ValueError, match="numpy"):
        fx.Float32(numpy.float32(1))


@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS, "Boolean", "Index"])
def test_types_know_themselves(name):
    cls = getattr(fx, name)
    assert cls.is_integer is not cls.is_float
    assert (cls.signed is None) is cls.is_float
    assert cls.zero == 0
    with kernel():
        assert fx.Numeric.from_ir_type(cls.ir_type).width == cls.width


def test_inverse_mapping_never_gives_an_unsigned_class():
    with kernel():
        assert fx.Numeric.from_ir_type(fx.Uint8.ir_type) is fx.Int8
        assert fx.Numeric.from_ir_type(fx.T.index) is fx.Index
        with pytest.raises(ValueError, match="vector<4xf32>"):
            fx.Numeric.from_ir_type(fx.T.f32x4)


def test_as_numeric():
    assert fx.as_numeric(True).dtype is fx.Boolean
    assert fx.as_numeric(5).dtype is fx.Int32
    assert fx.as_numeric(2**31).dtype is fx.Int64
    assert fx.as_numeric(-(2**31)).dtype is fx.Int32
    assert fx.as_numeric(1.5).dtype is fx.Float32


def test_static_scalars_are_python_numbers_to_python():
    x = fx.Int32(7)
    assert x.is_static()
    assert int(x) == 7
    assert bool(x)
    assert x.to(float) == 7.0
    assert [10, 20][fx.Int32(1)] == 20
    assert str(x) == "?"
    assert "7" in repr(x)
    assert hash(x) == hash(fx.Int32(7))


def test_dynamic_scalars_have_no_python_value():
    with kernel("i32") as k:
        x = fx.Int32(k.args[0])
        with pytest.raises(RuntimeError, match="cannot evaluate dynamic 'Int32' as Python bool during tracing"):
            bool(x)
        with pytest.raises(RuntimeError, match="dynamic 'Int32' has no Python integer representation"):
            int(x)
        with pytest.raises(RuntimeError, match="has no Python integer representation"):
            range(x)
        with pytest.raises(ValueError, match="cannot be converted to Python's int"):
            x.to(int)


@pytest.mark.parametrize(
    ("source", "raw", "target", "op"),
    [
        ("Int8", "i8", "Int32", "arith.extsi"),
        ("Uint8", "i8", "Int32", "arith.extui"),
        ("Boolean", "i1", "Int32", "arith.extui"),
        ("Int64", "i64", "Int16", "arith.trunci"),
        ("Int32", "i32", "Float32", "arith.sitofp"),
        ("Uint32", "i32", "Float32", "arith.uitofp"),
        ("Float32", "f32", "Int32", "arith.fptosi"),
        ("Float32", "f32", "Uint32", "arith.fptoui"),
        ("Float32", "f32", "Boolean", "arith.cmpf une"),
        ("Int32", "i32", "Boolean", "arith.cmpi ne"),
        ("Float32", "f32", "BFloat16", "arith.truncf"),
        ("Float16", "f16", "Float64", "arith.extf"),
        ("Int32", "i32", "Index", "arith.index_cast"),
        ("Uint32", "i32", "Index", "arith.index_castui"),
    ],
)
def test_dynamic_conversions(source, raw, target, op):
    with kernel(raw) as k:
        result = getattr(fx, source)(k.args[0]).to(getattr(fx, target))
        assert result.dtype is getattr(fx, target)
        assert op in k.ir()


def test_same_width_is_no_operation():
    with kernel("i32") as k:
        x = fx.Int32(k.args[0]).to(fx.Uint32)
        assert x.dtype is fx.Uint32
        assert x.value is not None
        assert "arith" not in k.ir()


def test_equal_width_floats_go_through_f32():
    with kernel("f16") as k:
        fx.Float16(k.args[0]).to(fx.BFloat16)
        text = k.ir()
    assert "arith.extf" in text
    assert "f32 to bf16" in text


def test_raw_integer_into_a_float_class_is_ambiguous():
    with kernel("i32") as k, pytest.raises(ValueError, match=r"wrap it first, for example fx.Int32"):
        fx.Float32(k.args[0])


def test_rounding_modes():
    mode = fx.arith.RoundingMode.toward_zero
    with kernel("f32", "i32") as k:
        x = fx.Float32(k.args[0])
        x.to(fx.BFloat16, rounding_mode=mode)
        assert "toward_zero" in k.ir()
        x.to(fx.Float64, rounding_mode=mode)
        with pytest.raises(TypeError, match="float to float"):
            fx.Int32(k.args[1]).to(fx.Float32, rounding_mode=mode)
        with pytest.raises(ValueError, match="dynamic"):
            fx.Float32(1.0).to(fx.Float16, rounding_mode=mode)


def test_bitcast():
    with kernel("f32") as k:
        assert fx.Float32(k.args[0]).bitcast(fx.Uint32).dtype is fx.Uint32
        assert "arith.bitcast" in k.ir()
        with pytest.raises(ValueError, match="widths must match"):
            fx.Float32(k.args[0]).bitcast(fx.Int16)


@pytest.mark.parametrize("value", [255, 128, -1, 0, 127])
def test_unsigned_constants_keep_their_bits(value):
    with kernel() as k:
        fx.Uint8(value).ir_value()
        assert f"arith.constant {value - 256 if value > 127 else value} : i8" in k.ir()


def test_wide_constants():
    with kernel() as k:
        fx.Int128(2**100).ir_value()
        fx.Uint64(2**64 - 1).ir_value()
        text = k.ir()
    assert f"{2**100} : i128" in text
    assert "-1 : i64" in text


def test_numpy_dtypes():
    numpy = pytest.importorskip("numpy")
    assert fx.Float32.numpy_dtype is numpy.float32
    assert fx.Uint16.numpy_dtype is numpy.uint16
    assert fx.Float8E4M3FN.numpy_dtype is None
    assert fx.Int128.numpy_dtype is None


def test_static_powers_and_shifts_of_many_bits_end():
    with kernel():
        assert (fx.Uint64(3) ** (1 << 40)).value == pow(3, 1 << 40, 1 << 64)
        assert (fx.Uint8(3) ** fx.Uint8(200)).value == pow(3, 200, 256)
        assert (fx.Int64(3) << (1 << 40)).value == 0


def test_raw_integers_extend_as_the_destination_says():
    with kernel("i8") as k:
        fx.Uint64(k.args[0])
        fx.Int64(k.args[0])
        assert k.count("arith.extui") == k.count("arith.extsi") == 1


def test_numbers_beyond_64_bits_need_a_type():
    with pytest.raises(OverflowError, match=r"does not fit 64 bits.*Int128"):
        fx.Int32(1) + 2**70
    with pytest.raises(OverflowError, match="does not fit 64 bits"):
        fx.as_numeric(-(2**63) - 1)
    assert (fx.Uint64(1) + (2**64 - 1)).value == 0


def test_classes_equal_the_dtypes_of_frameworks():
    """`if t.dtype == torch.float32` in a kernel was false without a word."""
    torch = pytest.importorskip("torch")
    np = pytest.importorskip("numpy")
    same = {
        fx.Float32: (torch.float32, np.dtype("float32"), np.float32),
        fx.BFloat16: (torch.bfloat16,),
        fx.Boolean: (torch.bool, np.dtype(bool), np.bool_),
        fx.Uint8: (torch.uint8, np.dtype("uint8"), np.uint8),
        fx.Float8E4M3FNUZ: (torch.float8_e4m3fnuz,),
        fx.Index: (),
    }
    for cls in same:
        for other, names in same.items():
            assert all((cls == name) is (cls is other) for name in names)
            assert all((cls != name) is (cls is not other) for name in names)
    assert torch.float32 == fx.Float32
    assert fx.Float32 not in (None, float, "float32", fx.Float16)
    assert {fx.Float32: 1}[fx.Float32] == 1
