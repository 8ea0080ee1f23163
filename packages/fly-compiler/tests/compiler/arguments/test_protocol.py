# SPDX-License-Identifier: Apache-2.0
"""What launch arguments say of themselves: signatures, MLIR types, slots of the host function."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl.compiler.jit_argument import (
    DLTensorJitArg,
    JitArgumentRegistry,
    PointerJitArg,
    TorchTensorJitArg,
    is_type_param_annotation,
    resolve_signature,
)
from flydsl.compiler.protocol import c_abi_spec, cache_signature, get_ir_types


def leaves(argument):
    return argument.__cache_signature__()[4:]


@pytest.mark.parametrize(
    ("tensor", "dynamic", "static"),
    [
        (torch.zeros(4, 8), ((-1, -1), (-1, 1)), ((4, 8), (8, 1))),
        (torch.zeros(4, 8).t(), ((-1, -1), (1, -1)), ((8, 4), (1, 8))),
        (torch.zeros(8, 1), ((-1, -1), (1, -1)), ((8, 1), (1, 1))),
        (torch.zeros(1, 8), ((-1, -1), (-1, 1)), ((1, 8), (8, 1))),
        (torch.zeros(5), ((-1,), (1,)), ((5,), (1,))),
        (torch.zeros(2, 1, 4), ((-1, -1, -1), (-1, -1, 1)), ((2, 1, 4), (4, 4, 1))),
    ],
)
def test_signatures_of_tensors(tensor, dynamic, static):
    assert leaves(TorchTensorJitArg(tensor)) == leaves(flyc.from_dlpack(tensor).mark_layout_dynamic()) == dynamic
    assert leaves(TorchTensorJitArg(tensor, dynamic_layout=False)) == leaves(flyc.from_dlpack(tensor)) == static


def test_a_signature_has_class_dtype_alignment_and_width_of_strides():
    x = torch.zeros(4, 8, dtype=torch.float16)
    assert flyc.from_dlpack(x).__cache_signature__()[:4] == (DLTensorJitArg, "float16", 2, False)
    wrapped = flyc.from_torch_tensor(x, assumed_align=16, use_32bit_stride=True)
    assert cache_signature(wrapped)[:4] == (TorchTensorJitArg, "float16", 16, True)
    assert cache_signature([wrapped, wrapped]) == (cache_signature(wrapped),) * 2
    address = flyc.from_c_void_p(fx.Float32, 4096, assumed_align=16)
    assert address.__cache_signature__() == (PointerJitArg, fx.Float32, "global", 16)


def test_marks_add_up():
    x = torch.zeros(16, 32)
    marked = flyc.from_dlpack(x).mark_shape_dynamic(0).mark_stride_dynamic(0, 8)
    assert leaves(marked) == ((-1, 32), (-8, 1))
    assert leaves(marked.mark_shape_dynamic([-1, 0], [4, 2])) == ((-2, -4), (-8, 1))
    assert (marked.shape_dyn_indices, marked.stride_dyn_indices) == ((0, 1), (0,))
    assert leaves(flyc.from_dlpack(x.t()).mark_layout_dynamic(leading_dim=0, divisibility=4)) == ((-1, -1), (1, -4))


def test_a_divisor_is_checked_at_the_call():
    @flyc.kernel
    def touch(x: fx.Tensor):
        x[fx.thread_idx.x] = 1.0

    launch = flyc.jit(lambda x: touch(x).launch(block=4))
    with pytest.raises(ValueError, match=r"(?s)'x'.*8"):
        launch(flyc.from_dlpack(torch.zeros(4)).mark_shape_dynamic(0, 8))
    launch(flyc.from_dlpack(torch.zeros(16)).mark_shape_dynamic(0, 8))


def test_no_unit_axis():
    with pytest.raises(RuntimeError, match="no axis of stride 1"):
        TorchTensorJitArg(torch.zeros(8)[::2])
    with pytest.raises(RuntimeError, match="no axis of stride 1"):
        TorchTensorJitArg(torch.zeros(()))


def test_types():
    with ir.Context():
        (kind,) = get_ir_types(flyc.from_dlpack(torch.zeros(4, 8)).mark_layout_dynamic())
        assert str(kind) == "!fly.memref<f32, global, (?,?):(?{i64},1)>"
        (address,) = get_ir_types(flyc.from_c_void_p(fx.Float16, None))
        assert str(address) == "!fly.ptr<f16, global>"
        assert str(flyc.from_dlpack(torch.zeros(4, dtype=torch.bfloat16)).element_type) == "bf16"


def filled(value):
    found = []
    for kind, fill in c_abi_spec(value):
        slot = kind()
        fill(value, slot)
        found.append(bytes(slot) if isinstance(slot, ctypes.Array) else slot.value)
    return found


@pytest.mark.parametrize(
    ("value", "slot"),
    [
        (fx.Int32(-3), -3),
        (fx.Uint8(200), 200),
        (fx.Int64(2**40), 2**40),
        (fx.Boolean(True), True),
        (fx.Float32(0.5), 0.5),
        (fx.Float64(-2.0), -2.0),
        (fx.Float16(1.5), 0x3E00),
        (fx.BFloat16(1.5), 0x3FC0),
        (fx.Stream(7), 7),
        (fx.Stream(None), None),
    ],
)
def test_slots_of_numbers_and_streams(value, slot):
    assert filled(value) == [slot]


@pytest.mark.parametrize("value", [fx.Int4(1), fx.Int128(1), fx.Float8E5M2(1.0), "text", []])
def test_what_has_no_slots(value):
    if value == []:
        assert c_abi_spec(value) == []
        return
    with pytest.raises(TypeError, match=r"(cannot be a|is no) launch argument"):
        c_abi_spec(value)


def test_slots_of_tensors_hold_packed_leaves():
    x = torch.zeros(4, 8)
    assert filled(flyc.from_dlpack(x)) == [x.data_ptr()]
    marked = flyc.from_dlpack(x).mark_layout_dynamic()
    assert filled(marked) == [x.data_ptr(), np.int32([4, 8]).tobytes() + np.int64([8]).tobytes()]
    narrow = flyc.from_dlpack(x, use_32bit_stride=True).mark_layout_dynamic()
    assert filled(narrow)[1] == np.int32([4, 8, 8]).tobytes()
    # What was asked of one argument fills the slot from another of the same layout.
    kind, fill = marked.__c_abi_spec__()[1]
    slot = kind()
    fill(flyc.from_dlpack(torch.zeros(2, 3)).mark_layout_dynamic(), slot)
    assert bytes(slot) == np.int32([2, 3]).tobytes() + np.int64([3]).tobytes()


def test_slots_of_structs():
    @fx.struct
    class Pair:
        a: fx.Int32
        b: fx.Float32

    assert filled(Pair(3, 0.5)) == [3, 0.5]
    assert filled(flyc.from_c_void_p(fx.Int8, 4096)) == [4096]


def test_signatures_of_functions_are_resolved():
    def function(a: fx.Tensor, n: fx.Int32, kind: fx.Type = fx.Float32): ...

    signature = resolve_signature(function)
    assert [one.annotation for one in signature.parameters.values()] == [fx.Tensor, fx.Int32, fx.Type]
    assert [is_type_param_annotation(one.annotation) for one in signature.parameters.values()] == [False, False, True]


def test_the_registry_answers_for_registered_classes():
    class Mine:
        pass

    assert JitArgumentRegistry.get(Mine) == (None, None)
    JitArgumentRegistry.register(Mine, dsl_type=fx.Int32)(lambda value: fx.Int32(3))
    assert JitArgumentRegistry.get(Mine)[1] is fx.Int32
    with pytest.raises(ValueError, match="has a constructor already"):
        JitArgumentRegistry.register(Mine)
