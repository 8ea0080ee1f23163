# SPDX-License-Identifier: Apache-2.0
"""Equal programs have equal keys in every process, whatever the seed of hashes and whatever was traced before."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

_BENCH = Path(__file__).resolve().parents[5] / "tools" / "bench"

PROGRAM = """
import json, sys
sys.path.insert(0, sys.argv[1])
import shared_kernels
from flydsl.compile.compilation import Request
import flydsl.call.jit_function as jit_function

class Traced(Exception):
    pass

keys = {}

def only_traced(request):
    keys[request.name, name] = request.key(request.trace())
    raise Traced

jit_function.compile_request = only_traced
names = sorted(shared_kernels.KERNELS)
for name in reversed(names) if sys.argv[2] == "backwards" else names:
    launch, arguments = shared_kernels.KERNELS[name]()
    try:
        launch(*arguments)
    except Traced:
        pass
print(json.dumps(sorted([*name, key] for name, key in keys.items())))
"""


def keys(seed, order):
    variables = {**os.environ, "PYTHONHASHSEED": seed, "ARCH": "gfx942"}
    command = [sys.executable, "-c", PROGRAM, str(_BENCH), order]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=variables, timeout=600)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def test_keys_are_the_same_in_every_process():
    first = keys("1", "forwards")
    assert len({key for _, _, key in first}) == len(first) == 7
    assert keys("2", "backwards") == first
