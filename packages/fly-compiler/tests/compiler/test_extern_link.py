# SPDX-License-Identifier: Apache-2.0
"""External functions with what defines them."""

from __future__ import annotations

import shutil
import subprocess

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compile import extern_link
from flydsl.compiler.extern_link import (
    BoundExternFunction,
    ExternFunction,
    LinkedExternFunction,
    link_extern,
    register_extern_resolver,
)
from flydsl.expr.extern import ffi

SQUARE = ffi("square_plus", ["float32", "float32"], "float32", is_pure=True)


@pytest.mark.parametrize("path", ["/a b.bc", "/a,b.bc", "/{a}.bc", '/a".bc', "/a'.bc", ""])
def test_paths_that_an_option_cannot_hold(path):
    with pytest.raises(ValueError, match="cannot be used"):
        link_extern(SQUARE, bitcode_path=path)


def test_only_external_functions_are_linked():
    with pytest.raises(TypeError, match=r"takes what flydsl\.expr\.extern\.ffi returns, not function"):
        link_extern(lambda x: x, bitcode_path="/a.bc")
    with pytest.raises(TypeError, match="module_init_fn is a function"):
        link_extern(SQUARE, module_init_fn=3)
    with pytest.raises(TypeError, match="link_extern"):
        ffi("f", [], "void", bitcode_path="/a.bc")


def test_resolvers_run_in_order(monkeypatch):
    monkeypatch.setattr(extern_link, "_resolvers", [])
    register_extern_resolver(lambda symbol, path, init: (f"/lib/{symbol}.bc", init))
    register_extern_resolver(lambda symbol, path, init: (path.replace("/lib", "/opt"), init))
    made = BoundExternFunction("f", ["int32"], "int32")
    assert isinstance(made, LinkedExternFunction)
    assert (made.symbol, made.bitcode_path) == ("f", "/opt/f.bc")
    assert ExternFunction is BoundExternFunction


CLANG = shutil.which("clang-22") or shutil.which("clang")


def bitcode_for(target, folder):
    """Compile a device function to bitcode."""
    source = folder / "square.c"
    source.write_text("float square_plus(float x, float y) { return x * x + y; }\n")
    options = [f"--target={target}", "-nogpulib", "-O2", "-c", "-emit-llvm"]
    subprocess.run([CLANG, *options, str(source), "-o", str(folder / "square.bc")], check=True)
    return folder / "square.bc"


@pytest.fixture
def bitcode(tmp_path):
    if CLANG is None:
        pytest.skip("no clang to make bitcode with is installed")
    return bitcode_for("amdgcn-amd-amdhsa", tmp_path)


def launcher(function):
    @flyc.kernel
    def kernel(x: fx.Tensor):
        i = fx.thread_idx.x
        x[i] = fx.Float32(function(x[i], fx.Float32(0.5)))
        x[i] = fx.Float32(function(x[i], fx.Float32(0.0)))

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(block=(8,))

    return launch


def test_bitcode_is_linked_and_runs(bitcode, tmp_path):
    loaded = []
    launch = launcher(link_extern(SQUARE, bitcode_path=str(bitcode), module_init_fn=loaded.append))
    x = np.arange(8, dtype=np.float32)
    launch(x)
    assert np.allclose(x, (np.arange(8) ** 2 + 0.5) ** 2)
    assert len(loaded) == 1  # once, however often it is called
    assert loaded[0] != 0
    assert not list((tmp_path / "cache").rglob("*.so"))  # its bitcode is no part of a key: never on disk


def test_callbacks_come_once_for_each_device(run_script):
    done = run_script(
        """
        import numpy as np
        import flydsl.compiler as flyc
        import flydsl.expr as fx
        from flydsl.compiler.extern_link import link_extern
        from flydsl.expr.extern import ffi
        from flydsl.runtime import current_device, set_current_device

        seen, failing = [], [True]

        def initialise(module):
            if current_device().index == 1 and failing:
                raise RuntimeError(failing.pop())
            seen.append((current_device().index, module))

        unused = link_extern(ffi("llvm.amdgcn.s.memtime", [], "int64"), module_init_fn=initialise)

        @flyc.kernel
        def kernel(x: fx.Tensor):
            unused()
            x[0] = x[0] + 1.0

        @flyc.jit
        def launch(x: fx.Tensor):
            kernel(x).launch(block=(1,))

        x = np.zeros(1, np.float32)
        launch(x)
        launch(x)
        set_current_device(1)
        try:
            launch(x)
        except RuntimeError as error:
            print("refused", error)
        launch(x)
        set_current_device(0)
        launch(x)
        compiled = flyc.compile.only(launch, x)
        set_current_device(2)
        compiled(x)
        print([device for device, _ in seen], len({module for _, module in seen}), x[0])
        """,
        FLYDSL_DEVICE="emulator",
        FLYDSL_EMU_DEVICES="gfx942,gfx942,gfx942",
        ARCH="gfx942",
    )
    assert done.stdout.splitlines() == ["refused True", "[0, 1, 2] 3 5.0"], done.stdout + done.stderr


def test_bitcode_that_is_not_there(tmp_path):
    launch = launcher(link_extern(SQUARE, bitcode_path=str(tmp_path / "missing.bc")))
    with pytest.raises(flyc.DSLCompileError, match=r"missing\.bc"):
        launch(np.zeros(8, np.float32))


@pytest.mark.skipif(CLANG is None, reason="no clang is installed")
def test_bitcode_of_another_target(tmp_path):
    launch = launcher(link_extern(SQUARE, bitcode_path=str(bitcode_for("x86_64-linux-gnu", tmp_path))))
    with pytest.raises(flyc.DSLCompileError, match=r"square\.bc is for 'x86_64.*', not for amdgcn"):
        launch(np.zeros(8, np.float32))
