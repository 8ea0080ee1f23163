# SPDX-License-Identifier: Apache-2.0
"""Kernels of a peer that CuTe DSL compiles, as libraries, for a machine to which that compiler does not fit.

`cuda_flash_ahead.py` and `cuda_quack_ahead.py` say which kernels, and how they are called. A library has 0.1 MB.
"""

from __future__ import annotations

import argparse
import functools
import importlib.metadata
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

_VERSION = "version.txt"
# An error of a launch, which the libraries of CuTe DSL would make an exception of Python.
_SHIM = """\
#include <stdio.h>
#include <stdlib.h>
void CuteDSLRT_TVMFFISetRaisedCudaError(int code) { fprintf(stderr, "CUDA error %d\\n", code); abort(); }
"""


def leave_this_folder() -> None:
    """Import nothing out of this folder any more: its `cuda.py` hides NVIDIA's package `cuda`, which the peers and the
    processes that they start import."""
    here = Path(__file__).resolve().parent
    sys.path[:] = [one for one in sys.path if Path(one or ".").resolve() != here]
    if getattr(sys.modules.get("cuda"), "__file__", None) == str(here / "cuda.py"):
        del sys.modules["cuda"]


def version(folder: Path) -> str:
    """What a folder holds.

    Raises:
        OSError: it is no folder of `pack`.
        ImportError: there is no apache-tvm-ffi, by which it is called.
    """
    import tvm_ffi  # noqa: F401

    return (folder / _VERSION).read_text()


@functools.cache
def loaded(path: Path) -> Any:
    """The function of a library.

    Raises:
        OSError: there is none.
    """
    import tvm_ffi

    return tvm_ffi.load_module(str(path))["func"]


def pack(
    folder: Path,
    package: str,
    kernels: Iterable[tuple[str, Callable[[], None]]],
    settings: Callable[[str], Mapping[str, str]],
) -> None:
    """Make a library of each kernel, and write down the version of the peer.

    Args:
        folder: for the libraries.
        package: the peer's.
        kernels: names of libraries, and what has the peer compile each and put one object into its cache.
        settings: of the peer's compiler, as variables of the environment, by the folder of its cache.

    Raises:
        RuntimeError: there are more or fewer objects than one for a kernel.
    """
    leave_this_folder()
    with tempfile.TemporaryDirectory() as cache:
        os.environ |= {"CUTE_DSL_ARCH": "sm_90a", **settings(cache)}
        folder.mkdir(parents=True, exist_ok=True)
        known: set[Path] = set()
        for name, compile_one in kernels:
            compile_one()
            made = set(Path(cache).rglob("*.o")) - known
            if len(made) != 1:
                raise RuntimeError(f"{package} made {len(made)} objects for {name}, not 1")
            known |= made
            _link(made.pop(), folder / name, Path(cache))
    (folder / _VERSION).write_text(f"{importlib.metadata.version(package)}, compiled ahead")


def _link(made: Path, target: Path, room: Path) -> None:
    """Make a library of an object, with the part of CuTe DSL's that it calls; CUDA's runtime is the one of torch."""
    import nvidia_cutlass_dsl
    import tvm_ffi

    libraries = Path(next(iter(nvidia_cutlass_dsl.__path__))) / "cu13" / "lib"
    (room / "shim.c").write_text(_SHIM)
    (room / "empty.c").write_text("")
    runtime = room / "libcudart.so.13"
    compiler = os.environ.get("CC", "cc")
    subprocess.run(
        [compiler, "-shared", f"-Wl,-soname,{runtime.name}", "-o", str(runtime), str(room / "empty.c")], check=True
    )
    subprocess.run(
        [
            compiler, "-shared", "-fPIC", "-o", str(target), str(made), str(room / "shim.c"),
            "-Wl,--whole-archive", str(libraries / "libcuda_dialect_runtime_static.a"), "-Wl,--no-whole-archive",
            "-Wl,--no-as-needed", str(runtime), f"-L{Path(tvm_ffi.__file__).parent / 'lib'}", "-ltvm_ffi",
            "-Wl,--unresolved-symbols=ignore-all",
        ],
        check=True,
    )  # fmt: skip


def main(text: str | None, pack_into: Callable[[Path], None]) -> None:
    """Run `pack FOLDER`, the command of a file of which `text` is the top."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("pack").add_argument("folder", type=Path)
    pack_into(parser.parse_args().folder)
