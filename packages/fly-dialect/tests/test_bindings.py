# SPDX-License-Identifier: Apache-2.0
"""What flydsl._mlir registers, and that it stays cheap to import."""

import subprocess
import sys

import pytest

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs._fly_emit import device_pipeline
from flydsl._mlir.dialects import arith, fly, fly_ktrace, func
from flydsl._mlir.passmanager import PassManager

DIALECTS = ("amdgpu", "arith", "builtin", "cf", "fly", "fly_ktrace", "fly_rocdl", "func", "gpu", "index", "llvm",
            "math", "memref", "rocdl", "scf", "ub", "vector")  # fmt: skip

# The stages before the one that makes a binary.
PIPELINE = f"builtin.module({','.join(stage.text for stage in device_pipeline(chip='gfx942')[:-1])})"

KERNEL = """
module attributes {gpu.container_module} {
  gpu.module @kernels {
    gpu.func @twice(%a: !fly.ptr<f32, global>) kernel {
      %thread = gpu.thread_id x
      %index = arith.index_cast %thread : index to i32
      %coord = fly.make_int_tuple(%index) : (i32) -> !fly.int_tuple<?>
      %layout = fly.static : !fly.layout<256:1>
      %view = fly.make_view(%a, %layout)
        : (!fly.ptr<f32, global>, !fly.layout<256:1>) -> !fly.memref<f32, global, 256:1>
      %x = fly.memref.load(%view, %coord) : (!fly.memref<f32, global, 256:1>, !fly.int_tuple<?>) -> f32
      %y = arith.addf %x, %x : f32
      fly.memref.store(%y, %view, %coord) : (f32, !fly.memref<f32, global, 256:1>, !fly.int_tuple<?>) -> ()
      gpu.return
    }
  }
}
"""


def run_python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("name", DIALECTS)
def test_dialects_are_loaded_and_have_op_classes(name: str, context: ir.Context) -> None:
    assert context.get_dialect_descriptor(name).namespace == name
    __import__(f"flydsl._mlir.dialects.{name}")


def test_dialects_that_nobody_uses_are_not_there(context: ir.Context) -> None:
    with pytest.raises((IndexError, ValueError, KeyError)):
        context.dialects["tosa"]


def test_imports_are_few() -> None:
    loaded = run_python("import sys, flydsl._mlir.ir; print([m for m in sys.modules if m in ('numpy', 'torch')])")
    assert loaded.strip() == "[]"


def test_namespace_has_no_init() -> None:
    assert run_python("import flydsl; print(getattr(flydsl, '__file__', None))").strip() == "None"


@pytest.mark.usefixtures("context")
def test_ops_infer_their_results() -> None:
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        layout = fly.static(fly.LayoutType.get((8, 12), (12, 1)))
        tile = fly.static(fly.TileType.get((4, 6)))
        divided = fly.zipped_divide(layout, tile)
        assert str(divided.type) == "!fly.layout<((4,6),(2,2)):((12,1),(48,6))>"
        assert isinstance(divided.type, fly.LayoutType)
        with pytest.raises(ir.MLIRError, match="mode length 3 exceeds input depth 1"):
            fly.get(layout, [0, 0, 0])
        atom = fly.make_mma_atom(ir.Type.parse("!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>"))
        tiled = fly.make_tiled_mma(atom, fly.static(fly.LayoutType.get((2, 2, 1), (1, 2, 0))))
        shape = fly.make_int_tuple(fly.IntTupleType.get((64, 64)), [])
        part = fly.tiled_mma_partition_shape(fly.MmaOperand.A, tiled, shape)
        assert str(part.type) == "!fly.int_tuple<(4,2,4)>"
    assert module.operation.verify()


@pytest.mark.usefixtures("context")
def test_events() -> None:
    i64 = ir.IntegerType.get_signless(64)
    token_type = fly_ktrace.TokenType.get()
    assert str(token_type) == "!fly_ktrace.token"
    assert isinstance(ir.Type.parse("!fly_ktrace.token"), fly_ktrace.TokenType)
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        payload = arith.constant(i64, 7)
        fly_ktrace.mark("mark", payload=payload, payload_type="int64")
        fly_ktrace.range_push("range")
        fly_ktrace.range_pop(payload=payload)
        token = fly_ktrace.range_start(token_type, "open")
        assert isinstance(token.type, fly_ktrace.TokenType)
        stop = fly_ktrace.range_stop(token, "open")
        assert (stop.event_name.value, stop.payload_type.value, stop.payload) == ("open", "uint64", None)
        fly_ktrace.range_stop(fly_ktrace.inactive_token(token_type), "open")
    assert module.operation.verify()
    assert 'fly_ktrace.mark "mark" payload %c7_i64 : i64 {payload_type = "int64"}' in str(module)


def test_the_default_pipeline_leaves_nothing_of_fly(context: ir.Context) -> None:
    module = ir.Module.parse(KERNEL)
    PassManager.parse(PIPELINE).run(module.operation)
    text = str(module)
    assert "fly." not in text
    assert "llvm.load" in text
    assert "rocdl.workitem.id.x" in text


def test_errors_of_passes_are_exceptions(context: ir.Context) -> None:
    module = ir.Module.parse("func.func @f(%a: i32) { %0 = fly.assume(%a, %a) : (i32, i32) -> i32 return }")
    with pytest.raises(ir.MLIRError, match=r"fly\.assume"):
        PassManager.parse("builtin.module(convert-fly-to-rocdl)").run(module.operation)


@pytest.mark.usefixtures("context")
def test_upstream_builders_work() -> None:
    module = ir.Module.create()
    i32 = ir.IntegerType.get_signless(32)
    with ir.InsertionPoint(module.body):
        function = func.FuncOp("f", ([i32], [i32]))
        with ir.InsertionPoint(function.add_entry_block()):
            one = arith.constant(i32, 1)
            func.ReturnOp([arith.addi(function.arguments[0], one)])
    assert module.operation.verify()


@pytest.mark.usefixtures("context")
def test_inference_without_attributes_is_an_error() -> None:
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        layout = fly.static(fly.LayoutType.get((8, 12), (12, 1)))
        shape = fly.get_shape(layout)
        assert len(fly.get_leaves(shape)) == 2
        with pytest.raises((ValueError, ir.MLIRError)):
            ir.Operation.create("fly.take", operands=[shape], infer_type=True)


IN_A_SUBINTERPRETER = """
import importlib.util
name = next((one for one in ("_interpreters", "_xxsubinterpreters") if importlib.util.find_spec(one)), None)
if name is None:
    raise SystemExit(77)
import flydsl._mlir
interpreters = importlib.import_module(name)
code = 'try:\\n  import flydsl._mlir\\nexcept ImportError as error:\\n  print("refused:", error, flush=True)'
interpreters.run_string(interpreters.create(), code)
"""


def test_a_subinterpreter_is_refused() -> None:
    """Loading the bindings a second time would end the process."""
    done = subprocess.run([sys.executable, "-c", IN_A_SUBINTERPRETER], capture_output=True, text=True, check=False)
    if done.returncode == 77:
        pytest.skip("this Python has no module for subinterpreters")
    assert "refused: FlyDSL's compiler works in the main interpreter" in done.stdout, done.stderr
