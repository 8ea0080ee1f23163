# SPDX-License-Identifier: Apache-2.0
"""Promotion, static folding, and the meaning of operators on run-time scalars."""

import itertools
import operator

import pytest
from tracing import kernel

import flydsl.expr as fx
from flydsl.expr.values.numeric import base

# (left, right, type of left + right), from the promotion table of the contract.
TABLE = [
    ("Int32", "Int32", "Int32"),
    ("Int32", "Uint32", "Uint32"),
    ("Int64", "Uint32", "Int64"),
    ("Uint8", "Int16", "Int16"),
    ("Uint16", "Int16", "Uint16"),
    ("Boolean", "Boolean", "Int32"),
    ("Boolean", "Int8", "Int32"),
    ("Boolean", "Int64", "Int64"),
    ("Index", "Int32", "Index"),
    ("Index", "Int64", "Index"),
    ("Index", "Int128", "Int128"),
    ("Float16", "Int32", "Float32"),
    ("Float16", "Int16", "Float16"),
    ("BFloat16", "Int16", "BFloat16"),
    ("Float32", "Int64", "Float64"),
    ("Float16", "Int64", "Float64"),
    ("Float64", "Int128", "Float64"),
    ("Float8E5M2", "Int8", "Float8E5M2"),
    ("Float8E4M3FN", "Int16", "Float32"),
    ("Float16", "BFloat16", "Float32"),
    ("Float16", "Float32", "Float32"),
    ("BFloat16", "Float64", "Float64"),
    ("Float8E5M2", "Float16", "Float16"),
    ("Float4E2M1FN", "BFloat16", "BFloat16"),
]


OPERATIONS = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.pow),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne),
    *(operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift),
)


def static(name):
    return getattr(fx, name)(1)


@pytest.mark.parametrize(("a", "b", "expected"), TABLE)
def test_promotion_is_symmetric(a, b, expected):
    assert (static(a) + static(b)).dtype is getattr(fx, expected)
    assert (static(b) + static(a)).dtype is getattr(fx, expected)


def test_index_and_uint64_keep_the_left_type():
    assert (fx.Index(1) + fx.Uint64(1)).dtype is fx.Index
    assert (fx.Uint64(1) + fx.Index(1)).dtype is fx.Uint64


def test_two_narrow_floats_need_a_cast():
    with pytest.raises(ValueError, match=r"no common type; cast one of them"):
        fx.Float8E5M2(1.0) + fx.Float8E4M3FN(1.0)


def test_literals_are_not_weak():
    assert (fx.Float16(1.0) + 1.0).dtype is fx.Float32
    assert (fx.BFloat16(1.0) + 1).dtype is fx.Float32
    assert (fx.Int8(1) + 300).dtype is fx.Int32
    assert (fx.Int8(1) + 2**40).dtype is fx.Int64
    assert (1 + fx.Int8(1)).dtype is fx.Int32


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [("Int32", "Int32", "Float32"), ("Int64", "Int32", "Float64"), ("Boolean", "Boolean", "Float32")],
)
def test_true_division_of_integers(a, b, expected):
    assert (static(a) / static(b)).dtype is getattr(fx, expected)


def test_true_division_of_mixed_signedness_takes_the_common_integer_type_first():
    assert (fx.Int8(-7) / fx.Uint8(200)).value == 249 / 200
    assert (fx.Int64(-7) / fx.Uint32(2)).value == -3.5
    with kernel("i32", "i32") as k:
        a, b = fx.Int32(k.args[0]), fx.Uint32(k.args[1])
        assert (a / b).dtype is fx.Float32
        assert (fx.full(4, a, fx.Int32) / b).dtype is fx.Float32
        assert k.count("arith.uitofp") == 4
        assert k.count("arith.sitofp") == 0


def test_static_folding_has_python_semantics():
    assert (fx.Int32(-7) % 3).value == 2
    assert (fx.Int32(-7) // 2).value == -4
    assert (fx.Int32(2**31 - 1) + 1).value == -(2**31)
    assert (fx.Int32(7) / 2).value == 3.5
    assert divmod(fx.Int32(7), 2)[1].value == 1
    assert (fx.Int32(2) ** 10).value == 1024
    assert abs(fx.Int32(-3)).value == 3
    assert (~fx.Uint8(0)).value == 255
    with pytest.raises(ZeroDivisionError):
        fx.Int32(1) // 0


def test_the_sign_of_a_constant_divisor_saves_comparisons():
    for divisor, comparisons in ((8, 1), (-3, 1), (None, 2)):
        with kernel("i32", "i32") as k:
            fx.Int32(k.args[0]) % (fx.Int32(k.args[1]) if divisor is None else divisor)
            assert (k.count("arith.cmpi"), k.count("arith.remsi")) == (comparisons, 1)
    with kernel("i32", "index") as k:
        fx.Uint32(k.args[0]) % 8, fx.Index(k.args[1]) % 8
        assert k.count("arith.cmpi") == 0


def test_truncating_division_of_constants():
    assert [fx.truncdiv(a, b).value for a, b in ((7, 2), (-7, 2), (7, -2), (-7, -2))] == [3, -3, -3, 3]
    assert [fx.fmod(a, b).value for a, b in ((7, 5), (-7, 5), (7, -5), (-7, -5))] == [2, -2, 2, -2]
    assert fx.fmod(fx.Uint8(200), fx.Uint8(7)).dtype is fx.Uint8
    for function in (fx.truncdiv, fx.fmod):
        with pytest.raises(ZeroDivisionError, match="by zero"):
            function(1, 0)


def test_comparisons_give_booleans():
    for op in (operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge):
        result = op(fx.Int32(1), 2)
        assert result.dtype is fx.Boolean
        assert result.value is op(1, 2)
    assert (fx.Int32(1) == None) is False  # noqa: E711
    assert (fx.Int32(1) != None) is True  # noqa: E711


@pytest.mark.parametrize("op", [operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift])
def test_bits_of_floats_are_refused(op):
    with pytest.raises(TypeError, match="needs integers"):
        op(fx.Float32(1.0), 1)
    with pytest.raises(TypeError, match="needs an integer"):
        ~fx.Float32(1.0)


def test_booleans_have_no_sign():
    with pytest.raises(TypeError, match="not defined for Boolean"):
        -fx.Boolean(True)
    with pytest.raises(TypeError, match="not defined for Boolean"):
        abs(fx.Boolean(True))
    assert (fx.Boolean(True) & fx.Boolean(False)).dtype is fx.Boolean


SIGNED_AND_UNSIGNED = [
    (operator.floordiv, "arith.floordivsi", "arith.divui"),
    (operator.mod, "arith.remsi", "arith.remui"),
    (operator.rshift, "arith.shrsi", "arith.shrui"),
    (operator.lt, "arith.cmpi slt", "arith.cmpi ult"),
    (operator.ge, "arith.cmpi sge", "arith.cmpi uge"),
    (operator.eq, "arith.cmpi eq", "arith.cmpi eq"),
    (operator.add, "arith.addi", "arith.addi"),
    (operator.pow, "math.ipowi", "math.ipowi"),
]


@pytest.mark.parametrize(("op", "signed", "unsigned"), SIGNED_AND_UNSIGNED)
def test_integer_operations_follow_signedness(op, signed, unsigned):
    for cls, expected in ((fx.Int32, signed), (fx.Uint32, unsigned)):
        with kernel("i32", "i32") as k:
            op(cls(k.args[0]), cls(k.args[1]))
            assert expected in k.ir()


@pytest.mark.parametrize(
    ("op", "expected"),
    [
        (operator.add, "arith.addf"),
        (operator.truediv, "arith.divf"),
        (operator.floordiv, "math.floor"),
        (operator.mod, "arith.remf"),
        (operator.pow, "math.powf"),
        (operator.lt, "arith.cmpf olt"),
        (operator.eq, "arith.cmpf oeq"),
        (operator.ne, "arith.cmpf une"),
    ],
)
def test_float_operations(op, expected):
    with kernel("f32", "f32") as k:
        op(fx.Float32(k.args[0]), fx.Float32(k.args[1]))
        assert expected in k.ir()


def test_float_to_an_integer_power():
    with kernel("f32", "i32") as k:
        assert (fx.Float32(k.args[0]) ** fx.Int32(k.args[1])).dtype is fx.Float32
        assert "math.fpowi" in k.ir()


def test_select_promotes_its_branches():
    with kernel("i1", "f32") as k:
        c = fx.Boolean(k.args[0])
        assert c.select(fx.Float32(k.args[1]), 1).dtype is fx.Float32
        assert fx.Boolean(True).select(1, 2.0).value == 1.0
        assert "arith.select" in k.ir()


def test_a_literal_that_a_select_gave_is_an_operand():
    """It keeps all its digits until it takes the class of an operation."""
    with kernel("f32", "f64") as k:
        x, y = fx.Float32(k.args[0]), fx.Float64(k.args[1])
        literal = fx.Boolean(True).select(0.1, 2.0)
        assert (x + literal).dtype is fx.Float32
        assert (literal * x).dtype is fx.Float32
        assert (y - literal).dtype is fx.Float64
        assert k.count("arith.constant 1.000000e-01 : f32") == 1
        assert k.count("arith.constant 1.000000e-01 : f64") == 1


@pytest.mark.parametrize("name", ["Boolean", "Int8", "Uint32", "Int64", "Index", "Float16", "Float32", "Float64"])
def test_the_short_way_of_operators_makes_what_the_long_way_makes(name, monkeypatch):
    cls = getattr(fx, name)
    others = (7, 0, -1, 1 << 31, 1 << 40, 0.5, True, cls(1), fx.Int32(3), fx.Float32(0.1), fx.Boolean(True))

    def outcome(op, *operands):
        try:
            return op(*operands).dtype
        except (OverflowError, TypeError, ValueError, ZeroDivisionError) as error:
            return str(error)

    def program():
        with kernel(cls.mnemonic, cls.mnemonic, "f32") as k:
            value, *rest = cls(k.args[0]), cls(k.args[1]), fx.Float32(k.args[2])
            found = [
                outcome(op, *operands)
                for op, other in itertools.product(OPERATIONS, (*others, *rest))
                for operands in ((value, other), (other, value))
            ]
            return found, k.ir()

    short = program()
    monkeypatch.setattr(base, "_shortcuts", {})
    monkeypatch.setattr(base, "_shortcut", lambda *_: None)
    assert short == program()


def test_raw_values_mix_with_scalars_and_literals():
    with kernel("i32", "f32", "index") as k:
        i, f, x = k.args
        assert str((i + 1).type) == "i32"
        assert str((f * 2.0).type) == "f32"
        assert str((x + 1).type) == "index"
        assert (fx.Int32(3) + i).dtype is fx.Int32
        assert str((i < 4).type) == "i1"
        assert str((i / i).type) == "f32"
        assert "shrui" in str((i.with_signedness(False) >> 1).owner)
        k.ir()


def test_operations_carry_the_line_of_the_user():
    with kernel("i32") as k:
        x = fx.Int32(k.args[0])
        x + 1
        text = k.ir(locations=True)
    assert 'test_operators.py":' in text
    assert "numeric/base.py" not in text


def test_named_methods():
    with kernel("f32", "i32") as k:
        f, i = fx.Float32(k.args[0]), fx.Int32(k.args[1])
        f.maximumf(0.0)
        f.exp2()
        i.shrui(3)
        f.shuffle_xor(1, 64)
        f.addf(f, fastmath="fast")
        text = k.ir()
    for op in (
        "arith.maximumf",
        "math.exp2",
        "arith.shrui",
        "gpu.shuffle  xor",
        "arith.addf %arg0, %arg0 fastmath<fast>",
    ):
        assert op in text
