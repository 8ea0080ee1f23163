# SPDX-License-Identifier: Apache-2.0
"""Matrix atoms of CDNA run: f64, xf32, i8 of twice the K, 8-bit floats in any mix, several blocks, sparse A."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ATOMS = {"gfx942": 28 + 6, "gfx950": 28 + 20}


@pytest.mark.parametrize("arch", ATOMS)
def test_matrix_atoms(arch: str) -> None:
    program = Path(__file__).with_name("matrix_atoms.py")
    done = subprocess.run(
        [sys.executable, str(program), arch],
        env={**os.environ, "ARCH": arch, "FLYDSL_GPU_ARCH": arch},
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert done.stdout.split("\n")[-2] == f"{ATOMS[arch]} atoms"
