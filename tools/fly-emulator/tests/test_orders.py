# SPDX-License-Identifier: Apache-2.0
"""Orders of waves: a correct kernel does not depend on them, a racy one shows it; results do not depend on threads."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from flydsl.emulator import differing_orders, order, sanitize
from flydsl.emulator.device import Emulator, EmulatorError, Module

DATA = Path(__file__).parent / "data"
HEADER = (DATA / "device.h").read_text()
KERNELS = HEADER + (DATA / "kernels.c").read_text()

# The second reduction writes its slot while waves may still read that of the first.
TWICE = """
static SHARED float slot[4];
static float reduce(float v) {
  for (int mask = 32; mask > 0; mask >>= 1)
    v += __builtin_bit_cast(float, __builtin_amdgcn_ds_bpermute(((TID & 63) ^ mask) * 4, __builtin_bit_cast(int, v)));
  if (TID % 64 == 0)
    slot[TID / 64] = v;
  barrier();
  return slot[0] + slot[1] + slot[2] + slot[3];
}
KERNEL void two_reductions(const GLOBAL float *in, GLOBAL float *out) {
  float first = reduce(in[TID]);
  out[TID] = reduce(in[TID] * 2.0f) - first;
}
"""

WHO_WAS_LAST = """
static SHARED int last;
KERNEL void last_wave(GLOBAL int *out) {
  if (TID % 64 == 0)
    last = TID / 64;
  barrier();
  out[TID] = last;
}
KERNEL void last_group(GLOBAL int *out) {
  if (TID == 0)
    *out = BID;
}
KERNEL void spin(GLOBAL int *out) {
  static SHARED int flag;
  if (TID == 0)
    flag = 0;
  barrier();
  if (__builtin_amdgcn_readfirstlane(TID) == 64)
    *(volatile LDS int *)&flag = 1;
  else
    while (*(volatile LDS int *)&flag == 0)
      ;
  barrier();
  out[TID] = flag;
}
"""


def test_correct_kernels_do_not_depend_on_the_order(build: Callable[..., Module], arch: str) -> None:
    module = build(KERNELS, arch)
    f = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float16)
    c = np.zeros((64, 64), np.float32)
    gemm = module.kernel("gemm_f16")
    assert differing_orders(lambda: gemm(1, 256, f, f, c, 64, 64, 64), {"c": c}, orders=12) == []
    s = np.random.default_rng(1).standard_normal((5, 700), dtype=np.float32)
    out = np.zeros_like(s)
    softmax = module.kernel("softmax_f32")
    assert differing_orders(lambda: softmax(5, 256, s, out, 700, 700), {"out": out}) == []
    np.testing.assert_allclose(out.sum(axis=1), 1, rtol=1e-5)


def test_a_race_shows_in_some_order(build: Callable[..., Module], arch: str) -> None:
    kernel = build(HEADER + TWICE, arch).kernel("two_reductions")
    x, y = np.ones(256, np.float32), np.full(256, np.nan, np.float32)
    found = differing_orders(lambda: kernel(1, 256, x, y), {"y": y}, orders=6)
    assert found, "six orders and none shows it"
    for one in found:
        assert one.output == "y"
        assert one.got != one.expected
        assert "depends on the order of waves" in str(one)
    with pytest.raises(ValueError, match="at least one order"):
        differing_orders(lambda: None, {}, orders=0)


def test_orders_are_different(build: Callable[..., Module], arch: str) -> None:
    """Six seeds make each wave, and each workgroup, the last one in some order."""
    module = build(HEADER + WHO_WAS_LAST, arch, flags=("-O1", "-g"))
    waves, groups = set(), set()
    for seed in range(24):
        out = np.zeros(256, np.int32)
        with order(seed):
            module.kernel("last_wave")(1, 256, out)
            waves.add(int(out[0]))
            one = np.zeros(1, np.int32)
            module.kernel("last_group")(4, 64, one)
            groups.add(int(one[0]))
    assert waves == {0, 1, 2, 3}
    assert len(groups) > 1


@pytest.mark.parametrize("seed", range(7))
def test_waves_that_spin_on_another(build: Callable[..., Module], arch: str, seed: int) -> None:
    out = np.zeros(256, np.int32)
    with order(seed):
        build(HEADER + WHO_WAS_LAST, arch, flags=("-O1", "-g")).kernel("spin")(1, 256, out)
    assert (out == 1).all()


def test_order_goes_back_to_what_it_was(emulator: Emulator) -> None:
    emulator.set_seed(3)
    with order(9):
        assert emulator.seed() == 9
        with order(0):
            assert emulator.seed() == 0
    assert emulator.seed() == 3


@pytest.mark.parametrize("seed", range(7))
def test_the_race_is_reported_in_every_order(build: Callable[..., Module], arch: str, seed: int) -> None:
    kernel = build(HEADER + TWICE, arch).kernel("two_reductions")
    x = np.ones(256, np.float32)
    with order(seed), sanitize("race", raises=False) as found:
        kernel(1, 256, x, np.zeros_like(x))
    assert [report.sanitizer for report in found.reports][:1] == ["race"]
    with sanitize() as found, pytest.raises(EmulatorError, match="race"):
        kernel(1, 256, x, np.zeros_like(x))
    assert found.reports
    with sanitize(stop_at_first=True) as found, pytest.raises(EmulatorError, match="stopped at the first"):
        kernel(1, 256, x, np.zeros_like(x))
    assert len(found.reports) == 1


WORKER = """
import hashlib, json, sys
from pathlib import Path
import numpy as np
from flydsl.emulator import profile
from flydsl.emulator.device import Emulator

emulator = Emulator()
module = emulator.load(Path(sys.argv[1]).read_bytes())
rng = np.random.default_rng(0)
f = rng.standard_normal((128, 128)).astype(np.float16)
c = np.zeros((128, 128), np.float32)
s = rng.standard_normal((37, 700), dtype=np.float32)
out = np.zeros_like(s)
digest = {}
for seed in (0, 1, 5):
    emulator.set_seed(seed)
    with profile() as session:
        module.kernel("gemm_f16")((2, 2), 256, f, f, c, 128, 128, 128)
        module.kernel("softmax_f32")(37, 256, s, out, 700, 700)
    digest[seed] = hashlib.sha256(c.tobytes() + out.tobytes()).hexdigest(), sum(
        one.total.instructions for one in session.launches
    )
print(json.dumps(digest))
"""


def test_results_are_the_same_for_any_number_of_threads_and_host(
    compile_object: Callable[..., bytes], tmp_path: Path
) -> None:
    image = tmp_path / "kernels.hsaco"
    image.write_bytes(compile_object(KERNELS, "gfx942"))
    script = tmp_path / "worker.py"
    script.write_text(WORKER)
    results = []
    for variables in ({"FLYDSL_EMU_THREADS": "1"}, {"FLYDSL_EMU_THREADS": "2"}, {"FLYDSL_EMU_THREADS": "7"},
                      {"FLYDSL_EMU_ISA": "baseline"}):  # fmt: skip
        done = subprocess.run(
            [sys.executable, str(script), str(image)],
            env={**os.environ, "FLYDSL_GPU_ARCH": "gfx942", **variables},
            capture_output=True, text=True, timeout=600, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        results.append(json.loads(done.stdout))
    assert all(result == results[0] for result in results), results
