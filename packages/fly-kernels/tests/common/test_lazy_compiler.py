# SPDX-License-Identifier: Apache-2.0
"""The compiler, imported when a builder first uses it."""

import subprocess
import sys

import pytest

PROGRAM = """
import gc, sys
from flydsl.kernels.common.language import flyc, fx
assert "flydsl.compiler" not in sys.modules
begun = []
gc.callbacks.append(lambda phase, info: begun.append(phase) if phase == "start" else None)
fx.Int32, flyc.jit
gc.callbacks.clear()
print(len(begun), gc.isenabled())
"""


@pytest.mark.once
def test_an_import_sets_off_no_collections():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    count, enabled = done.stdout.split()
    assert enabled == "True"
    assert int(count) <= 5  # one behind each import; there would be about fifty
