# SPDX-License-Identifier: Apache-2.0
"""The table of chips and what other packages say of them are one."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl.kernels.common import arch as kernels
from flydsl.layout.analysis.lds import lds_phases
from flydsl.runtime.chips import CHIPS, family_of
from flydsl.runtime.device import get_warp_size, is_rdna_arch
from flydsl.trace.arch import describe

EMULATED = ("gfx942", "gfx950", "gfx1100", "gfx1201", "gfx1250")


@pytest.fixture(scope="module")
def emulated():
    """What HIP's functions say of the emulated devices, by architecture."""
    code = "import json; from flydsl.runtime import hardware; print(json.dumps(hardware.describe()['devices']))"
    settings = {**os.environ, "FLYDSL_DEVICE": "emulator", "FLYDSL_EMU_DEVICES": ",".join(EMULATED)}
    done = subprocess.run([sys.executable, "-c", code], env=settings, capture_output=True, text=True, check=True)
    return {one["arch"]: one for one in json.loads(done.stdout)}


@pytest.mark.parametrize("name", EMULATED)
def test_the_emulator(emulated, name):
    chip, device = CHIPS[name], emulated[name]
    assert (device["lds_bytes"], device["warp_size"], device["compute_units"]) == (
        chip.lds_bytes,
        chip.wave,
        chip.compute_units,
    )
    assert chip.product in device["name"]


@flyc.kernel
def clear_kernel(x: fx.Tensor):
    x[fx.thread_idx.x] = 0.0


@flyc.jit
def clear(x: fx.Tensor, threads: fx.Constexpr[int], lds: fx.Constexpr[int]):
    clear_kernel(x).launch(grid=1, block=threads, smem=lds)


FITTING = """
import json, sys
sys.modules["torch"] = None  # tvm-ffi imports it where it finds it, which takes longer than all the rest
import numpy as np
sys.path.append(sys.argv[1])
import flydsl.compiler as flyc
from test_chips import clear

cases = json.loads(sys.argv[2])
print(json.dumps([flyc.compile.only(clear, np.zeros(64, np.float32), *one).max_blocks_per_cu() for one in cases]))
"""


@pytest.mark.parametrize("name", EMULATED)
def test_what_fits_the_emulated_compute_unit(name):
    """Workgroups of one wave, of two, and of one with a third of the LDS, which is given out in granules."""
    chip = CHIPS[name]
    third = chip.lds_bytes // 3
    cases = [(chip.wave, 0), (2 * chip.wave, 0), (chip.wave, third)]
    settings = {**os.environ, "FLYDSL_DEVICE": "emulator", "FLYDSL_GPU_ARCH": name}
    settings.pop("FLYDSL_EMU_DEVICES", None)
    command = [sys.executable, "-c", FITTING, os.path.dirname(__file__), json.dumps(cases)]
    done = subprocess.run(command, env=settings, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    waves = chip.simds * chip.waves
    shared = chip.lds_bytes * (2 if is_rdna_arch(name) else 1)  # a workgroup processor has it twice
    granules = -(-third // chip.lds_granule)
    wanted = [waves, min(chip.workgroups, waves // 2), shared // (granules * chip.lds_granule)]
    assert json.loads(done.stdout.splitlines()[-1]) == wanted


@pytest.mark.parametrize("name", [name for name in CHIPS if name.startswith("gfx")])
def test_the_layout_algebra(name):
    """It knows how AMD's LDS serves a wave."""
    family = name if name in ("gfx942", "gfx950", "gfx1250") else name[:5]
    wave = CHIPS[name].wave
    assert lds_phases(family, "read", 32, wave).banks in (32, CHIPS[name].lds_banks)
    assert lds_phases(family, "read", 128, wave).banks == CHIPS[name].lds_banks


@pytest.mark.parametrize("name", CHIPS)
def test_the_compiler_and_the_runtime(name):
    found = describe(name)
    assert (found.warp_size, found.lds_bytes) == (CHIPS[name].wave, CHIPS[name].lds_bytes)
    assert get_warp_size(name) == CHIPS[name].wave


# An atom that the chips of a family have, and no others.
ATOMS = {
    "cdna": "!fly_rocdl.cdna3.buffer_copy_lds<32>",
    "rdna3": "!fly_rocdl.gfx11.wmma<16x16x16, (f16, f16) -> f32, signA = false, signB = false, clamp = false>",
    "rdna4": "!fly_rocdl.gfx120x.wmma<16x16x16, (f16, f16) -> f32, signA = false, signB = false, clamp = false>",
    "gfx1250": "!fly_rocdl.gfx1250.wmma<16x16x32, (f16, f16) -> f32, signA = false, signB = false, clamp = false>",
}


@pytest.mark.parametrize("name", [*CHIPS, "gfx90a", "gfx1030", "gfx1200", "gfx12-generic", "gfx1250-strict", "sm_80"])
def test_the_families_of_the_dialect(name):
    family = family_of(name)
    with ir.Context():
        there = [one for one, atom in ATOMS.items() if fly.why_unavailable(ir.Type.parse(atom), name) is None]
    assert there == [one for one in ATOMS if family is not None and one == family.name]
    assert describe(name).family == (family.name if family is not None else "unknown")


@pytest.mark.parametrize("chip", CHIPS.values(), ids=CHIPS)
def test_the_float8_of_the_kernels(chip):
    if chip.fp8:
        assert kernels.float8_of(chip.name).torch_name == {"fnuz": "float8_e4m3fnuz", "ocp": "float8_e4m3fn"}[chip.fp8]
    else:
        with pytest.raises(RuntimeError, match=f"{chip.name} has no instructions for 8-bit floats"):
            kernels.float8_of(chip.name)


@pytest.mark.parametrize("name", kernels.WRITTEN_FOR)
def test_the_kernels(monkeypatch, name):
    monkeypatch.delenv("ARCH", raising=False)
    monkeypatch.setenv("FLYDSL_GPU_ARCH", name)
    found = kernels.architecture()
    chip = CHIPS[name]
    assert (found.compute_units, found.wave, found.lds_banks) == (chip.compute_units, chip.wave, chip.lds_banks)
    if chip.fp8:
        assert ("FNUZ" in found.fp8.name) == (chip.fp8 == "fnuz")
    else:
        with pytest.raises(RuntimeError, match=f"{name} has no instructions for 8-bit floats"):
            found.fp8
