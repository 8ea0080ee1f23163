# SPDX-License-Identifier: Apache-2.0
"""Machine code for NVIDIA GPUs beside PTX: `FLYDSL_PTXAS=<program>` names NVIDIA's assembler, which is never bundled.

The driver of a GPU of that architecture loads the machine code and compiles nothing; the PTX is for the others.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from pathlib import Path

from flydsl._mlir import ir
from flydsl._mlir.dialects import gpu
from flydsl.trace.diagnostics import DSLCompileError

from .content_hash import file_hash

__all__ = ["add_machine_code", "ptxas_fingerprint"]

_TIMEOUT = 600.0
_OBJECTS = "objects"


def _program(name: str) -> Path:
    path = Path(name).expanduser()
    if not path.is_file() or not os.access(path, os.X_OK):
        raise RuntimeError(
            f"FLYDSL_PTXAS={name}: there is no such program. Set it to the ptxas of a CUDA toolkit, or unset it: the "
            "driver compiles PTX"
        )
    return path


def ptxas_fingerprint(name: str) -> str:
    """Return a hash of the program's content; it is part of every cache key.

    Raises:
        RuntimeError: there is no such program.
    """
    return file_hash(_program(name))


def add_machine_code(module: ir.Module, arch: str, name: str) -> None:
    """Put the machine code of each PTX of a module's `gpu.binary` ahead of it, from where the runtime takes it.

    Args:
        module: as behind `gpu-module-to-binary`.
        arch: what to assemble for.
        name: the program.

    Raises:
        RuntimeError: there is no such program.
        DSLCompileError: it fails; with what it says.
    """
    program = _program(name)
    for op in module.body.operations:
        if op.operation.name != "gpu.binary":
            continue
        objects: list[ir.Attribute] = []
        for item in ir.ArrayAttr(op.operation.attributes[_OBJECTS]):
            one = gpu.ObjectAttr(item)
            code = _assembled(program, arch, one.object)
            objects += [
                gpu.ObjectAttr.get(
                    one.target, int(gpu.CompilationTarget.Binary), code, None, one.kernels, module.context
                ),
                item,
            ]
        op.operation.attributes[_OBJECTS] = ir.ArrayAttr.get(objects, module.context)


def _assembled(program: Path, arch: str, ptx: bytes) -> bytes:
    with tempfile.TemporaryDirectory(prefix="flydsl-ptxas-") as folder:
        source, made = Path(folder) / "kernels.ptx", Path(folder) / "kernels.cubin"
        source.write_bytes(ptx)
        command = [str(program), f"-arch={arch}", str(source), "-o", str(made)]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_TIMEOUT)
        except subprocess.TimeoutExpired:
            raise DSLCompileError(f"{' '.join(command)} took more than {_TIMEOUT:.0f} s") from None
        if done.returncode != 0 or not made.is_file():
            said = (done.stdout + done.stderr).strip()
            raise DSLCompileError(f"{' '.join(command)} failed with status {done.returncode}:\n{said}")
        return made.read_bytes()
