# SPDX-License-Identifier: Apache-2.0
"""A context that loads few dialects loads each other one when something of it is made, as one does that parses."""

import pytest

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl._mlir.dialects import amdgpu, arith, fly_ktrace, gpu, llvm, rocdl


@pytest.fixture(autouse=True)
def context():
    with ir.Context(load_on_create_dialects=["func"]) as context, ir.Location.unknown():
        yield context


def test_an_operation_by_name() -> None:
    module = ir.Module.create()
    i32 = ir.IntegerType.get_signless(32)
    with ir.InsertionPoint(module.body):
        made = ir.Operation.create("rocdl.workitem.id.x", results=[i32])
        infers = ir.Operation.create(
            "arith.constant", attributes={"value": ir.IntegerAttr.get(i32, 7)}, infer_type=True
        )
    assert isinstance(made.opview, rocdl.ThreadIdXOp)
    assert infers.results[0].type == i32
    assert module.operation.verify()


def test_a_builder() -> None:
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        arith.addi(*[arith.constant(ir.IntegerType.get_signless(32), 1)] * 2)
        rocdl.sched_barrier(0)
    assert module.operation.verify()


def test_questions_about_operations(context: ir.Context) -> None:
    assert context.is_registered_operation("math.sqrt")
    assert not context.is_registered_operation("math.no_such_operation")
    assert not context.is_registered_operation("no_such_dialect.operation")
    assert ir.InferTypeOpInterface(arith.AddIOp) is not None


def test_types_of_the_c_interface() -> None:
    f32 = ir.F32Type.get()
    assert str(amdgpu.TDMBaseType.get(f32)) == "!amdgpu.tdm_base<f32>"
    assert str(amdgpu.TDMDescriptorType.get()) == "!amdgpu.tdm_descriptor"
    gather = amdgpu.TDMGatherBaseType.get(f32, ir.IntegerType.get_signless(16))
    assert str(gather) == "!amdgpu.tdm_gather_base<f32, i16>"
    assert str(fly_ktrace.TokenType.get()) == "!fly_ktrace.token"
    assert str(gpu.AsyncTokenType.get()) == "!gpu.async.token"


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda i32: llvm.PointerType.get(), "!llvm.ptr"),
        (lambda i32: llvm.PointerType.get(3), "!llvm.ptr<3>"),
        (lambda i32: llvm.StructType.get_literal([i32]), "!llvm.struct<(i32)>"),
        (lambda i32: llvm.StructType.get_identified("a"), '!llvm.struct<"a", opaque>'),
        (lambda i32: llvm.StructType.new_identified("a", [i32]), '!llvm.struct<"a", (i32)>'),
        (lambda i32: llvm.StructType.get_opaque("a"), '!llvm.struct<"a", opaque>'),
        (lambda i32: fly.llvm_function_type(i32, [i32, llvm.PointerType.get()]), "!llvm.func<i32 (i32, ptr)>"),
        (lambda i32: fly.llvm_function_type(None, []), "!llvm.func<void ()>"),
    ],
)
def test_types_of_llvm(make, text) -> None:
    assert str(make(ir.IntegerType.get_signless(32))) == text


def test_inference_of_pointers_of_llvm() -> None:
    kind = ir.Type.parse("!fly.ptr<f32, global>")
    pointer = ir.Operation.create("builtin.unrealized_conversion_cast", results=[kind]).results[0]
    space = ir.IntegerAttr.get(ir.IntegerType.get_signless(32), 1)
    made = ir.Operation.create(
        "fly.to_llvm_ptr", operands=[pointer], attributes={"llvm_address_space": space}, infer_type=True
    )
    assert str(made.results[0].type) == "!llvm.ptr<1>"
