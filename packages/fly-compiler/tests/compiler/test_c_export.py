# SPDX-License-Identifier: Apache-2.0
"""`export_to_c`: a C program calls a compiled function."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compiler.extern_link import link_extern
from flydsl.expr.extern import ffi
from flydsl.runtime import current_device, library_path

CC = os.environ.get("CC") or shutil.which("cc") or shutil.which("clang-22")


@flyc.kernel
def axpy_kernel(x: fx.Tensor, y: fx.Tensor, n: fx.Int32, a: fx.Float32):
    i = fx.block_idx.x * 64 + fx.thread_idx.x
    if i < n:
        y[i, 0] = x[i] * a + y[i, 0]


@flyc.jit
def axpy(x: fx.Tensor, y: fx.Tensor, n: fx.Int32, a: fx.Float32, offset: fx.Constexpr[int] = 0):
    axpy_kernel(x, y, n, a).launch(grid=((n + 63) // 64,), block=(64,))


def example():
    return np.zeros(8, np.float32), np.zeros((8, 4), np.float32), 8, 1.0


PROGRAM = """
#include "axpy.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
  enum { N = 100 };
  float *x, *y, host_x[N], host_y[N * 2] = {0};
  void *slots[7] = {0};
  if (my_axpy(slots) != -1 || my_axpy__module_load(-1) != -1 || strstr(my_axpy__metadata, "schema_version") == NULL)
    return 2;
  if (my_axpy__module_init() != 0 || my_axpy(slots) != -2)
    return 3;
  void *runtime = dlopen("libflydsl_runtime.so.0", RTLD_NOW);
  int32_t (*allocate)(void **, uint64_t) = (int32_t(*)(void **, uint64_t))dlsym(runtime, "flydsl_malloc");
  int32_t (*copy)(void *, const void *, uint64_t) =
      (int32_t(*)(void *, const void *, uint64_t))dlsym(runtime, "flydsl_copy");
  for (int i = 0; i < N; ++i)
    host_x[i] = (float)i, host_y[2 * i] = 1;
  allocate((void **)&x, sizeof host_x);
  allocate((void **)&y, sizeof host_y);
  copy(x, host_x, sizeof host_x);
  copy(y, host_y, sizeof host_y);
  my_axpy_x_layout_t x_layout = {{N}};
  my_axpy_y_layout_t y_layout = {{N, 2}, {2}};
  int32_t status = my_axpy_call_auto(x, x_layout, y, y_layout, N, 3.0f, NULL);
  if (status != 0)
    return 10 + status;
  copy(host_y, y, sizeof host_y);
  for (int i = 0; i < N; ++i)
    if (host_y[2 * i] != 3 * i + 1 || host_y[2 * i + 1] != 0)
      return 4;
  if (my_axpy__module_unload() != 0 || my_axpy__module_unload() != -2)
    return 5;
  puts("right");
  return 0;
}
"""


@pytest.mark.skipif(CC is None, reason="no C compiler is installed")
def test_a_c_program_calls_it(tmp_path):
    compiled = flyc.compile(axpy, *example())
    compiled.export_to_c(tmp_path, "axpy", "my_axpy")
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "cache") == ["axpy.h", "axpy.o"]
    (tmp_path / "main.c").write_text(PROGRAM)
    sources = ["main.c", "axpy.o", "-o", "main", "-pthread", "-ldl"]
    subprocess.run([CC, "-std=gnu11", "-Wall", "-Werror", *sources], cwd=tmp_path, check=True)
    library = library_path().parent
    emulator = {"FLYDSL_HIP_LIBRARY": str(current_device().library)} if current_device().emulated else {}
    environment = {**os.environ, "LD_LIBRARY_PATH": str(library), **emulator}
    done = subprocess.run([tmp_path / "main"], env=environment, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr


@pytest.mark.skipif(CC is None, reason="no C compiler is installed")
def test_the_header_is_c_plus_plus_too(tmp_path):
    flyc.compile(axpy, *example()).export_to_c(tmp_path, "axpy")
    (tmp_path / "main.cpp").write_text('#include "axpy.h"\nint main() { return axpy__metadata[0] == 0; }\n')
    subprocess.run([CC, "-x", "c++", "-fsyntax-only", "-Wall", "-Werror", "main.cpp"], cwd=tmp_path, check=True)
    header = (tmp_path / "axpy.h").read_text()
    assert "int32_t axpy_call(void *x, axpy_x_layout_t x_layout, void *y, axpy_y_layout_t y_layout, int32_t n" in header


@pytest.mark.parametrize("prefix", ["1st", "a-b", "while", "__private", "_Upper", "a b"])
def test_prefixes_that_are_no_identifiers(prefix, tmp_path):
    with pytest.raises(ValueError, match="no C identifier"):
        flyc.compile(axpy, *example()).export_to_c(tmp_path, "axpy", prefix)


def test_a_folder_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match="existing folder"):
        flyc.compile(axpy, *example()).export_to_c(tmp_path / "missing", "axpy")


def test_callbacks_of_python_are_not_for_c(tmp_path):
    function = link_extern(ffi("__ockl_nothing", [], "void"), module_init_fn=lambda module: None)

    @flyc.kernel
    def kernel(x: fx.Tensor):
        x[0] = 1.0
        if fx.const_expr(False):
            function()

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch()

    compiled = flyc.compile(launch, np.zeros(4, np.float32))
    object.__setattr__(compiled._compiled, "callbacks", True)
    with pytest.raises(NotImplementedError, match="module_init_fn"):
        compiled.export_to_c(tmp_path, "launch")


def test_a_metadata_is_json(tmp_path):
    from flydsl.compile.c_export import _metadata

    metadata = _metadata(flyc.compile(axpy, *example()).note, "p", "mine")
    assert metadata["backend"] == "mine"
    assert json.loads(json.dumps(metadata))["schema_version"] == 2
    kinds = [slot["kind"] for slot in metadata["abi"]]
    assert kinds == ["tensor", "layout", "tensor", "layout", "scalar", "scalar", "stream"]
