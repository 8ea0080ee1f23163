# SPDX-License-Identifier: Apache-2.0
"""Where a process may take no more memory, MLIR draws on the reserve; then operations and passes raise."""

from __future__ import annotations

import struct
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import resource, sys, threading
from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _fly_emit
from flydsl._mlir.passmanager import PassManager

BODY = "%b = arith.addi %a, %a : i32 return %b : i32"
TEXT = "\\n".join(f"func.func @f{i}(%a: i32) -> i32 {{ {BODY} }}" for i in range(1000))

def make():
    with ir.InsertionPoint(module.body):
        return ir.Operation.create("func.func", regions=1, attributes={
            "sym_name": ir.StringAttr.get("made"), "sym_visibility": ir.StringAttr.get("private"),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get([], []))})

def limit(bytes):
    with open("/proc/self/statm") as pages:
        taken = int(pages.read().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (taken + bytes, resource.RLIM_INFINITY))

def no_limit():
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)

context = ir.Context()
context.enable_multithreading(False)
context.load_all_available_dialects()
with context, ir.Location.unknown():
    module = ir.Module.parse(TEXT)
"""

DRAWS = """
    assert _fly_emit.open_memory_reserve() and _fly_emit.open_memory_reserve()
    _fly_emit.close_memory_reserve()
    limit(0)
    several = [ir.Module.parse(TEXT) for _ in range(20)]  # some 20 MiB
    assert not _fly_emit.refill_memory_reserve()
    try:
        make()
        raise AssertionError("an operation was made")
    except MemoryError:
        pass
    no_limit()
    assert _fly_emit.refill_memory_reserve()
    make()
    assert all(one.operation.verify() for one in (module, *several))
    _fly_emit.close_memory_reserve()
"""

NONE = """
    limit(0)
    assert not _fly_emit.open_memory_reserve()
    assert _fly_emit.refill_memory_reserve()  # nothing is missing where there is none
    no_limit()
    assert _fly_emit.open_memory_reserve()
    other = []
    thread = threading.Thread(target=lambda: other.append(_fly_emit.open_memory_reserve()))
    thread.start()
    thread.join()
    assert other == [True]  # each thread has its own
    _fly_emit.close_memory_reserve()
    _fly_emit.close_memory_reserve()  # one too many is none
"""

PASS = """
    several = [ir.Module.parse(TEXT) for _ in range(100)]
    functions = [one.body.operations[0] for one in several]
    passes = PassManager.parse("builtin.module(convert-func-to-llvm,convert-arith-to-llvm)")
    limit(0)
    said = []
    for one, function in zip(several, functions):
        try:
            passes.run(one.operation)
        except MemoryError:
            no_limit()
            try:
                print(function)
                raise AssertionError("a handle into what a pass left is used")
            except RuntimeError as error:
                said.append(str(error))
            break
        except ir.MLIRError:
            break
    no_limit()
    assert said and "memory ran out" in said[0], said
    del several, functions, one, function, passes, module
context = ir.Context()
with context, ir.Location.unknown():
    ir.Module.parse(TEXT)
"""


@pytest.mark.parametrize("what", [DRAWS, NONE, PASS], ids=["draws", "none", "pass"])
def test_memory_reserve(what):
    done = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", PROGRAM + what],
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]


def test_the_library_loads_late_into_a_process():
    """It has no variables of threads for which room had to be set aside when the process began (DF_STATIC_TLS)."""
    from flydsl._mlir import _mlir_libs

    image = Path(_mlir_libs.__file__).with_name("libFlyDialect.so").read_bytes()
    start, size, count = struct.unpack_from("<Q", image, 32)[0], *struct.unpack_from("<HH", image, 54)
    headers = [struct.unpack_from("<IIQQQQ", image, start + number * size) for number in range(count)]
    ((offset, length),) = [(header[2], header[5]) for header in headers if header[0] == 2]  # PT_DYNAMIC
    tags = dict(struct.unpack_from("<QQ", image, offset + at) for at in range(0, length, 16))
    assert 5 in tags  # DT_STRTAB: these are tags
    assert tags.get(30, 0) & 0x10 == 0  # DT_FLAGS
