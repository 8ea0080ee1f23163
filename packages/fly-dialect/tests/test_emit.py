# SPDX-License-Identifier: Apache-2.0
"""Code emission from Python: code objects, artifacts, and what happens when LLVM cannot."""

from __future__ import annotations

import json
import struct
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _fly_emit
from flydsl._mlir.passmanager import PassManager

KERNEL = """
  gpu.module @kernels [#rocdl.target<chip = "gfx942">, #rocdl.target<chip = "gfx950">] {
    llvm.func @scale(%a: !llvm.ptr<1>, %s: f32) attributes {gpu.kernel, rocdl.kernel,
        rocdl.flat_work_group_size = "256,256", rocdl.reqd_work_group_size = array<i32: 256, 1, 1>} {
      %t = rocdl.workitem.id.x : i32
      %p = llvm.getelementptr %a[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %v = llvm.load %p : !llvm.ptr<1> -> f32
      %r = llvm.fmul %v, %s : f32
      llvm.store %r, %p : f32, !llvm.ptr<1>
      llvm.return
    }
  }
"""
MATRIX = KERNEL.replace(
    "llvm.return",
    """%z = llvm.mlir.constant(0 : i32) : i32
       %x = llvm.mlir.undef : vector<8xf16>
       %c = llvm.mlir.undef : vector<4xf32>
       %m = rocdl.mfma.f32.16x16x32.f16 %x, %x, %c, %z, %z, %z
         : (vector<8xf16>, vector<8xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
       llvm.store %m, %p : vector<4xf32>, !llvm.ptr<1>
       llvm.return""",
)
"""With an instruction that gfx950 has and gfx942 has not."""
HOST = """
  llvm.func @run(%a: !llvm.ptr<1>, %s: f32, %n: i32, %stream: !llvm.ptr) {
    %one = llvm.mlir.constant(1 : i64) : i64
    %block = llvm.mlir.constant(256 : i64) : i64
    %grid = llvm.sext %n : i32 to i64
    gpu.launch_func <%stream : !llvm.ptr> @kernels::@scale blocks in (%grid, %one, %one)
      threads in (%block, %one, %one) : i64 args(%a : !llvm.ptr<1>, %s : f32)
    llvm.return
  }
"""
NOTE = json.dumps({"schema": 1, "name": "scale"})


@pytest.fixture
def context():
    with ir.Context() as context:
        yield context


def module(*parts: str) -> ir.Module:
    return ir.Module.parse("module attributes {gpu.container_module} {" + "".join(parts) + "}")


def compiled(*parts: str) -> ir.Module:
    parsed = module(*parts)
    PassManager.parse("builtin.module(gpu-module-to-binary{format=fatbin})").run(parsed.operation)
    return parsed


def emit(artifact: ir.Module, path: Path, **options: str) -> bytes:
    arguments = {"entry": "run", "name": "scale", "note": NOTE, "output_path": str(path)} | options
    _fly_emit.emit_artifact(artifact, **arguments)
    return path.read_bytes()


def section(elf: bytes, wanted: str) -> bytes:
    """The contents of a section of a little-endian ELF64 file."""
    offset, size, count, names = struct.unpack_from("<40xQ10xHHH", elf)
    headers = [struct.unpack_from("<IIQQQQ", elf, offset + i * size) for i in range(count)]
    strings = headers[names][4]
    for name, _, _, _, start, length in headers:
        end = elf.index(b"\0", strings + name)
        if elf[strings + name : end].decode() == wanted:
            return elf[start : start + length]
    raise AssertionError(f"no section {wanted}")


def test_code_object_and_resources(context):
    result = _fly_emit.emit_code_object(module(KERNEL).operation, chip="gfx942", isa=True, llvm_ir=True)
    assert result.data.startswith(b"\x7fELF")
    (kernel,) = result.kernels
    assert kernel.name == "scale"
    assert kernel.vgpr > 0
    assert kernel.sgpr > 0
    assert (kernel.scratch_bytes, kernel.lds_bytes, kernel.vgpr_spills, kernel.agpr) == (0, 0, 0, 0)
    assert (kernel.wave_size, kernel.occupancy, kernel.max_workgroup_size) == (64, 8, 256)
    assert "v_mul_f32" in result.isa
    assert "amdgpu_kernel" in result.llvm_ir


def test_isa_depends_on_the_architecture(context):
    parsed = module(KERNEL)
    assert "global_load_dword " in _fly_emit.isa_text(parsed.operation, chip="gfx950")
    assert "global_load_b32 " in _fly_emit.isa_text(parsed.operation, chip="gfx1201")


def test_waves_per_eu_reaches_the_kernel(context):
    plain = _fly_emit.emit_code_object(module(KERNEL).operation, chip="gfx942", llvm_ir=True)
    asked = _fly_emit.emit_code_object(module(KERNEL).operation, chip="gfx942", llvm_ir=True, waves_per_eu=(2, 4))
    assert '"amdgpu-waves-per-eu"="2,4"' in asked.llvm_ir
    assert '"amdgpu-waves-per-eu"' not in plain.llvm_ir


def test_code_objects_of_a_compiled_module(context):
    objects = _fly_emit.code_objects(compiled(KERNEL))
    assert [one.arch for one in objects] == ["gfx942", "gfx950"]
    assert all(one.data.startswith(b"\x7fELF") and one.kernels[0].occupancy == 8 for one in objects)


def test_artifact_is_reproducible_and_needs_only_the_runtime(context, tmp_path):
    first = emit(compiled(KERNEL, HOST), tmp_path / "a.so")
    second = emit(compiled(KERNEL, HOST), tmp_path / "b.so")
    assert first == second
    assert [entry.name for entry in sorted(tmp_path.iterdir())] == ["a.so", "b.so"]  # nothing temporary is left
    names = section(first, ".dynstr").split(b"\0")
    assert b"libflydsl_runtime.so.0" in names
    assert {b"flydsl_artifact", b"scale", b"__tvm_ffi_scale"} <= set(names)
    assert b"libc.so.6" not in names
    assert section(first, ".flydsl.note") == NOTE.encode() + b"\0"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"entry": "missing"}, "no host function 'missing'"),
        ({"name": "not a name"}, "not a C identifier"),
        ({"note": "{"}, "the note is not JSON"),
        ({"output_path": "/nowhere/at/all.so"}, "cannot write '/nowhere/at/all.so'"),
        ({"host_triple": "nonsense-unknown-unknown"}, "nonsense"),
    ],
)
def test_bad_requests_are_refused(context, tmp_path, options, message):
    with pytest.raises(_fly_emit.EmitError, match=message):
        emit(compiled(KERNEL, HOST), tmp_path / "x.so", **options)
    assert not list(tmp_path.iterdir())


def test_a_function_without_kernels_is_an_artifact_too(context, tmp_path):
    elf = emit(module("llvm.func @run(%n: i32, %stream: !llvm.ptr) { llvm.return }"), tmp_path / "x.so")
    assert section(elf, ".flydsl.note") == NOTE.encode() + b"\0"


def test_kernels_must_be_compiled_first(context, tmp_path):
    with pytest.raises(_fly_emit.EmitError, match="is not compiled yet"):
        emit(module(KERNEL, HOST), tmp_path / "x.so")


def test_unknown_functions_of_the_host_are_named(context, tmp_path):
    host = HOST.replace("%one = ", "llvm.call @mystery() : () -> ()\n%one = ") + "llvm.func @mystery()\n"
    with pytest.raises(_fly_emit.EmitError, match="the host code calls mystery, which an artifact cannot reach"):
        emit(compiled(KERNEL, host), tmp_path / "x.so")


def test_a_missing_matrix_instruction_is_an_exception(context):
    with pytest.raises(_fly_emit.EmitError, match=r"gfx942 has no .*16x16x32\.f16; it has mfma\.f32\.16x16x16f16"):
        _fly_emit.emit_code_object(module(MATRIX).operation, chip="gfx942")
    assert _fly_emit.emit_code_object(module(MATRIX).operation, chip="gfx950").data  # which has it


def test_an_unselectable_instruction_is_an_exception(context):
    text = KERNEL.replace(
        "llvm.return",
        """%seed = llvm.mlir.constant(1 : i32) : i32
           %number = llvm.call_intrinsic "llvm.amdgcn.prng.b32"(%seed) : (i32) -> i32
           llvm.store %number, %p : i32, !llvm.ptr<1>
           llvm.return""",
    )
    assert _fly_emit.missing_instruction("llvm.amdgcn.prng.b32", "gfx942") is None  # so LLVM has to say it
    with pytest.raises(_fly_emit.EmitError, match="Cannot select"):
        _fly_emit.emit_code_object(module(text).operation, chip="gfx942")
    assert _fly_emit.emit_code_object(module(text).operation, chip="gfx950").data


def test_threads_compile_at_once(context):
    """Code generation releases the GIL; the linker, which may run once at a time, is guarded."""
    results: list[bytes] = []

    def work() -> None:
        with ir.Context():
            results.append(_fly_emit.emit_code_object(module(KERNEL).operation, chip="gfx942").data)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    assert len(set(results)) == 1


def test_passes_run_without_the_lock_of_python(context):
    parsed = module(KERNEL)
    manager = PassManager.parse("builtin.module(gpu-module-to-binary{format=fatbin})")
    begins, came = threading.Lock(), []
    before = sys.getswitchinterval()
    begins.acquire()
    other = threading.Thread(target=lambda: begins.acquire() and came.append(True))
    other.start()
    sys.setswitchinterval(1e3)  # the other thread gets the lock of Python only where this one gives it up
    try:
        begins.release()
        assert not came
        done = _fly_emit.run_passes([manager, manager], parsed.operation)
        assert came
    finally:
        sys.setswitchinterval(before)
        other.join()
    assert done.findings is None
    assert len(done.times) == 2
    assert all(used > 0 for one in done.times for used in one)
    assert [one.arch for one in _fly_emit.code_objects(parsed)] == ["gfx942", "gfx950"]


def test_what_passes_report_comes_with_its_place(context):
    manager = PassManager.parse("builtin.module(gpu-module-to-binary{format=fatbin})")
    done = _fly_emit.run_passes([manager, manager], module(MATRIX).operation)
    assert len(done.times) == 1
    assert "gfx942 has no" in done.findings[0].message
    assert str(done.findings[0].location) == 'loc("-":2:3)'  # of the gpu.module
    assert done.findings[0].notes[0].startswith("see current operation")


def test_passes_without_the_lock_refuse_what_is_held(context):
    parsed = module(KERNEL)
    held = parsed.body.operations[0]
    manager = PassManager.parse("builtin.module(canonicalize)")
    with pytest.raises(ValueError, match=r"held; use PassManager\.run"):
        _fly_emit.run_passes([manager], parsed.operation)
    assert held.operation.name == "gpu.module"
    del held
    assert _fly_emit.run_passes([manager], parsed.operation).findings is None


def test_llvm_options_nest_and_survive_linking(context):
    def isa() -> str:
        return _fly_emit.emit_code_object(module(KERNEL).operation, chip="gfx942", isa=True).isa

    before = isa()
    _fly_emit.push_llvm_option("amdgpu-waitcnt-forcezero", "false")
    _fly_emit.push_llvm_option("amdgpu-waitcnt-forcezero", "true")
    try:
        assert isa().count("s_waitcnt") > before.count("s_waitcnt")
        assert isa().count("s_waitcnt") > before.count("s_waitcnt")  # the linker has run in between
        _fly_emit.pop_llvm_option("amdgpu-waitcnt-forcezero")
        assert isa() == before
    finally:
        _fly_emit.pop_llvm_option("amdgpu-waitcnt-forcezero")
    with pytest.raises(RuntimeError, match="Unknown LLVM option"):
        _fly_emit.push_llvm_option("no-such-option", "1")
    with pytest.raises(RuntimeError, match="does not accept 'maybe'"):
        _fly_emit.push_llvm_option("amdgpu-waitcnt-forcezero", "maybe")
    with pytest.raises(RuntimeError, match="was not set"):
        _fly_emit.pop_llvm_option("amdgpu-waitcnt-forcezero")


@pytest.mark.parametrize("megabytes", [5, 30, 45])
def test_want_of_memory_is_said(megabytes):
    """The process may take so much more when code generation begins."""
    body = "".join(
        f"%v{i + 1} = llvm.fmul %v{i}, %s : f32\n"
        f"%w{i} = llvm.getelementptr %a[{i}] : (!llvm.ptr<1>) -> !llvm.ptr<1>, f32\n"
        f"llvm.store %v{i + 1}, %w{i} : f32, !llvm.ptr<1>\n"
        for i in range(4000)
    )
    program = f'''
import resource
from flydsl._mlir import ir
from flydsl._mlir.passmanager import PassManager
with ir.Context():
    module = ir.Module.parse("""
gpu.module @m [#rocdl.target<chip = "gfx942">] {{
  llvm.func @k(%a: !llvm.ptr<1>, %s: f32) attributes {{gpu.kernel, rocdl.kernel}} {{
    %v0 = llvm.load %a : !llvm.ptr<1> -> f32
    {body}
    llvm.return
  }}
}}""")
    passes = PassManager.parse("builtin.module(gpu-module-to-binary{{format=isa}})")
    with open("/proc/self/statm") as pages:
        taken = int(pages.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + {megabytes} * 2**20,) * 2)
    try:
        passes.run(module.operation)
    except Exception as error:
        print(type(error).__name__, str(error)[:200])
'''
    done = subprocess.run(
        [sys.executable, "-"], input=program, capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    # Reporting the error may run out of memory, too, inside the bindings.
    said = ("MemoryError", "RuntimeError std::bad_")
    assert done.stdout.startswith(said) or "LLVM: out of memory" in done.stdout, done.stdout
