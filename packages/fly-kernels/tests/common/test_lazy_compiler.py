# SPDX-License-Identifier: Apache-2.0
"""The compiler, imported when a builder first uses it; and what else the first call of an operator waits for."""

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


REGISTRATION = """
import inspect
import torch
import flydsl.kernels
asked, before = [], inspect.getabsfile
inspect.getabsfile = lambda *args: asked.append(args) or before(*args)
flydsl.kernels.softmax
print(len(asked))
"""


@pytest.mark.once
def test_registering_an_operator_looks_at_few_files():
    """torch asks where it happens, which would look for the file of each module that is imported."""
    done = subprocess.run([sys.executable, "-c", REGISTRATION], capture_output=True, text=True, check=True)
    assert int(done.stdout) <= 20
