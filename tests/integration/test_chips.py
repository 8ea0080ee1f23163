# SPDX-License-Identifier: Apache-2.0
"""The table of chips and what other packages say of them are one."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from programs import WITHOUT_TORCH

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _flyDialect as fly
from flydsl._mlir._mlir_libs._fly_emit import device_pipeline, missing_instruction
from flydsl._mlir._mlir_libs._flyKtraceDialect import recording_chips
from flydsl._mlir.passmanager import PassManager
from flydsl.kernels.common import arch as kernels
from flydsl.layout.analysis.lds import lds_phases
from flydsl.runtime.chips import CHIPS, FAMILIES, family_of
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


FITTING = (
    WITHOUT_TORCH
    + """
import json, sys
import numpy as np
sys.path.append(sys.argv[1])
import flydsl.compiler as flyc
from test_chips import clear

cases = json.loads(sys.argv[2])
print(json.dumps([flyc.compile.only(clear, np.zeros(64, np.float32), *one).max_blocks_per_cu() for one in cases]))
"""
)


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


# Every beginning of a name that tells families from each other, alone, one character longer and one shorter.
BEGINNINGS = sorted({name for one in FAMILIES for name in (one.prefix, one.prefix + "9", one.prefix[:-1])})


@pytest.mark.parametrize("name", [*CHIPS, *BEGINNINGS, "gfx90a", "gfx12-generic", "gfx1250-strict", "sm_80"])
def test_the_families_of_the_dialect(name):
    family = family_of(name)
    with ir.Context():
        there = [one for one, atom in ATOMS.items() if fly.why_unavailable(ir.Type.parse(atom), name) is None]
    assert there == [one for one in ATOMS if family is not None and one == family.name]
    assert describe(name).family == (family.name if family is not None else "unknown")


AMD = [chip for chip in CHIPS.values() if chip.name.startswith("gfx")]


@pytest.mark.parametrize("chip", AMD, ids=lambda one: one.name)
def test_the_waves_of_the_stages(chip):
    (stage,) = [one for one in device_pipeline(chip=chip.name) if one.name == "rocdl-attach-target"]
    assert ("wave64=true" in stage.text, "wave64=false" in stage.text) == (chip.wave == 64, chip.wave == 32)


@pytest.mark.parametrize("chip", AMD, ids=lambda one: one.name)
@pytest.mark.parametrize(("kind", "element"), [("fnuz", "f8E4M3FNUZ"), ("ocp", "f8E4M3FN")])
def test_the_float8_of_the_dialect(chip, kind, element):
    """The conversions of a chip are those of its 8-bit floats."""
    text = f"func.func @f(%x: f32) -> {element} {{ %y = arith.truncf %x : f32 to {element} return %y : {element} }}"
    with ir.Context():
        module = ir.Module.parse(text)
        PassManager.parse(f"builtin.module(fly-expand-arith{{chip={chip.name}}})").run(module.operation)
        assert ("rocdl.cvt.pk.fp8.f32" in str(module)) == (chip.fp8 == kind)


def test_the_chips_that_messages_name():
    """Each is named as one that has what another chip lacks."""
    asked = (("permlane16", "gfx942"), ("mfma.f32.32x32x4bf16.1k", "gfx1100"))
    missing = [missing_instruction(f"rocdl.{operation}", chip) for operation, chip in asked]
    named = {word for one in missing if one is not None for word in one[0].replace(",", " ").split()}
    assert {chip.name for chip in AMD} <= named


def test_the_chips_that_record_events():
    assert set(recording_chips()) <= set(CHIPS)


@pytest.mark.parametrize("chip", AMD, ids=lambda one: one.name)
def test_the_matrix_instructions_of_the_dialect(chip):
    atoms = {"mfma": ["!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>"]}
    atoms["wmma"] = [ATOMS[family] for family in ("rdna3", "rdna4", "gfx1250")]
    with ir.Context():
        found = [
            family
            for family, of_it in atoms.items()
            if any(fly.why_unavailable(ir.Type.parse(atom), chip.name) is None for atom in of_it)
        ]
    assert found == [chip.matrix]


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
