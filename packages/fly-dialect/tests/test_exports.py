# SPDX-License-Identifier: Apache-2.0
"""What libFlyDialect.so exports: nothing that another LLVM in the process could bind to."""

import re
import shutil
import subprocess
from pathlib import Path

import flydsl._mlir._mlir_libs as libraries

OURS = re.compile(r"mlir[A-Z]|_ZNK?3fly|_ZT[VIS]N3fly|_ZN4mlir6detail14TypeIDResolverIN3fly")


def exported() -> list[str]:
    nm = next(filter(None, map(shutil.which, ("llvm-nm-22", "/usr/lib/llvm-22/bin/llvm-nm", "nm"))))
    library = Path(libraries.__file__).with_name("libFlyDialect.so")
    command = [nm, "--dynamic", "--defined-only", "--format=posix", str(library)]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    return [line.split()[0] for line in lines]


def test_no_symbol_of_llvm_is_exported() -> None:
    names = exported()
    assert "mlirContextCreateWithThreading" in names
    assert [name for name in names if not OURS.match(name)] == []
