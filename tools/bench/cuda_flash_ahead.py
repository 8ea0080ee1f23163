#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""FlashAttention-4 compiled ahead, for a machine to which its compiler does not fit.

    python3 cuda_flash_ahead.py pack FOLDER       # anywhere: a library for each head size and mask, 0.1 MB each
    FLYDSL_BENCH_FLASH=FOLDER python3 cuda_attention.py run build/cuda/attention out.json     # on the GPU

The compiler of CuTe DSL is a wheel of 92 MB, and what it makes of a kernel is an object of 0.1 MB. FlashAttention-4
compiles without a GPU, of tensors that are none (torch's FakeTensorMode). To pack needs a C compiler and `python3 -m
pip install flash-attn-4==4.0.0b36 'nvidia-cutlass-dsl[cu13]' triton torch`; to run, torch for CUDA 13 and
`apache-tvm-ffi`.
"""

from __future__ import annotations

import argparse
import functools
import importlib.metadata
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

HEADS = (64, 128)
_VERSION = "version.txt"
_PACKAGE = "flash-attn-4"
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


def attention(folder: Path, head_dim: int, causal: bool) -> Callable[[Any], Any]:
    """A call of the forward pass of a folder, with the LSE; what the folder has not fails at the first."""

    @functools.cache
    def loaded() -> Any:
        import tvm_ffi

        return tvm_ffi.load_module(str(folder / _name(head_dim, causal)))["func"]

    scale = head_dim**-0.5
    # Offsets and lengths of sequences, pages, a window, sinks, blocks that are left out, and what is for other GPUs.
    rest = (*(None,) * 9, (None, None), None, None)
    return lambda given: loaded()(given.q, given.k, given.v, given.out, given.lse, scale, *rest)


def pack(folder: Path) -> int:
    """Compile the forward pass for heads of each size, without a mask and with the causal one, into a folder."""
    leave_this_folder()
    with tempfile.TemporaryDirectory() as cache:
        os.environ |= {
            "CUTE_DSL_ARCH": "sm_90a", "FLASH_ATTENTION_ARCH": "sm_90", "FLASH_ATTENTION_NUM_SMS": "132",
            "FLASH_ATTENTION_CUTE_DSL_CACHE_ENABLED": "1", "FLASH_ATTENTION_CUTE_DSL_CACHE_DIR": cache,
        }  # fmt: skip
        folder.mkdir(parents=True, exist_ok=True)
        known: set[Path] = set()
        for head_dim in HEADS:
            for causal in (False, True):
                _compile(head_dim, causal)
                target = folder / _name(head_dim, causal)
                made = set(Path(cache).rglob("*.o")) - known
                if len(made) != 1:
                    raise RuntimeError(f"FlashAttention-4 made {len(made)} objects for {target.name}, not 1")
                known |= made
                link(made.pop(), target, Path(cache))
    (folder / _VERSION).write_text(f"{importlib.metadata.version(_PACKAGE)}, compiled ahead")
    return 0


def _name(head_dim: int, causal: bool) -> str:
    return f"flash-{head_dim}-{'causal' if causal else 'full'}.so"


def _compile(head_dim: int, causal: bool) -> None:
    """Have FlashAttention-4 put an object into its cache."""
    import torch
    from flash_attn.cute.interface import _flash_attn_fwd
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        shape = (1, 4096, 16, head_dim)
        q, k, v, out = (torch.empty(shape, dtype=torch.bfloat16, device="cuda") for _ in range(4))
        lse = torch.empty((1, 16, 4096), dtype=torch.float32, device="cuda")
        _flash_attn_fwd(q, k, v, causal=causal, return_lse=True, out=out, lse=lse)


def link(made: Path, target: Path, room: Path) -> None:
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


def main() -> int:
    """Run the command that the top of the file lists."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("pack").add_argument("folder", type=Path)
    return pack(parser.parse_args().folder)


if __name__ == "__main__":
    sys.exit(main())
