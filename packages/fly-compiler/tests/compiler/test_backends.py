# SPDX-License-Identifier: Apache-2.0
"""The registry of compile backends."""

from __future__ import annotations

import dataclasses
import importlib
import sys

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.compile import backends
from flydsl.compile.backends import DeviceCode
from flydsl.runtime import device_runtime
from flydsl.trace.arch import describe
from flydsl.trace.context import target


def adder(number):
    """A program that no other test has compiled."""

    @flyc.kernel
    def kernel(x: fx.Tensor):
        x[fx.thread_idx.x] = x[fx.thread_idx.x] + number

    @flyc.jit
    def add(x: fx.Tensor):
        kernel(x).launch(block=(8,))

    return add


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    monkeypatch.setattr(backends, "_backends", dict(backends._backends))
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "gfx942")


class Mine(flyc.BaseBackend):
    @staticmethod
    def supports_target(target):
        return target.backend == "mine"

    @staticmethod
    def detect_target():
        return flyc.GPUTarget("mine", "one", 8)

    def pipeline_fragments(self, *, compile_hints):
        return ["canonicalize"]

    def gpu_module_targets(self):
        return []

    def native_lib_patterns(self):
        return []

    def jit_runtime_lib_basenames(self):
        return []


def test_the_default_is_rocm_whatever_is_registered():
    flyc.register_backend("mine", Mine)
    assert flyc.compile_backend_name() == "rocm"
    assert isinstance(flyc.get_backend(), backends.RocmBackend)
    assert flyc.get_backend() is flyc.get_backend()
    assert backends.current_target() == flyc.GPUTarget("rocm", "gfx942", 64)
    assert flyc.get_backend("mine").target.warp_size == 8


def test_architectures():
    assert flyc.get_backend("rocm", arch="gfx1201").target == flyc.GPUTarget("rocm", "gfx1201", 32)
    assert flyc.get_backend(arch="gfx1250-strict").target.arch == "gfx1250-strict"
    with pytest.raises(ValueError, match="compiles for no target"):
        flyc.get_backend(arch="sm_90")
    with pytest.raises(AttributeError):
        flyc.get_backend().target.arch = "gfx950"  # frozen


def test_architectures_of_another_backend(monkeypatch):
    monkeypatch.setattr(Mine, "arch_prefix", "one")
    flyc.register_backend("mine", Mine)
    assert isinstance(flyc.get_backend(arch="one7"), Mine)
    # Only the architecture differs from what it detects, whatever backend is in use.
    assert flyc.get_backend("mine", arch="gfx1201").target == flyc.GPUTarget("mine", "gfx1201", 32)
    assert flyc.get_backend(arch="gfx942").target.backend == "rocm"
    monkeypatch.setenv("FLYDSL_COMPILE_BACKEND", "rocm")
    assert flyc.compile_backend_name("one7") == "rocm"


def test_names(monkeypatch):
    with pytest.raises(ValueError, match="unknown compile backend 'none'; there are: cuda, rocm"):
        flyc.get_backend("none")
    with pytest.raises(ValueError, match="'rocm' is registered already; pass force=True"):
        flyc.register_backend("rocm", Mine)
    flyc.register_backend("mine", Mine)
    flyc.register_backend("mine", Mine, force=True)
    monkeypatch.setenv("FLYDSL_COMPILE_BACKEND", "Mine")
    assert flyc.compile_backend_name() == "mine"
    assert isinstance(flyc.get_backend(), Mine)


def test_an_incomplete_backend_cannot_be_made():
    flyc.register_backend("half", type("Half", (flyc.BaseBackend,), {}))
    with pytest.raises(TypeError, match="abstract"):
        flyc.get_backend("half")


def test_the_pipeline_follows_the_hints():
    fast = flyc.get_backend().pipeline_fragments(compile_hints={"fast_fp_math": True})
    plain = flyc.get_backend().pipeline_fragments(compile_hints={})
    (target,) = (one for one in fast if one.startswith("rocdl-attach-target"))
    assert "fast=true" in target
    assert "unsafe-math=false" in target
    assert [one for one in plain if one not in fast] == [target.replace("fast=true", "fast=false", 1)]


FOREIGN = '''
import flydsl.compiler as flyc
from flydsl.compile.backends import Stage


class Doubled(flyc.BaseBackend):
    """Compiles for AMD devices as `rocm` does, and says so in a stage of its own."""

    device_api = "rocm"

    @staticmethod
    def supports_target(target):
        return target.backend == "doubled"

    @classmethod
    def make_target(cls, arch):
        return flyc.GPUTarget("doubled", arch, 64)

    @staticmethod
    def detect_target():
        return Doubled.make_target("gfx942")

    def stages(self, **asked):
        *before, last = flyc.get_backend("rocm", arch=self.target.arch).stages(**asked)
        return [*before, Stage("once-more", "canonicalize,cse"), last]

    def pipeline_fragments(self, *, compile_hints):
        return [one.text for one in self.stages(hints=compile_hints, opt_level=2, debug_info=True)]

    def gpu_module_targets(self):
        return ['#rocdl.target<chip = "gfx942">']

    def native_lib_patterns(self):
        return []

    def jit_runtime_lib_basenames(self):
        return []
'''


@pytest.fixture
def doubled(monkeypatch, tmp_path):
    """A backend in a folder of its own, in use."""
    (tmp_path / "doubled_backend").mkdir()
    (tmp_path / "doubled_backend" / "__init__.py").write_text(FOREIGN)
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(device_runtime, "COMPILE_BACKEND_TO_RUNTIME_KIND", {"rocm": "rocm"})
    module = importlib.import_module("doubled_backend")
    flyc.register_backend("doubled", module.Doubled)
    monkeypatch.setenv("FLYDSL_COMPILE_BACKEND", "doubled")
    monkeypatch.delitem(sys.modules, "doubled_backend")
    return module.Doubled


def test_a_backend_in_a_folder_of_its_own_compiles(doubled):
    add_one, x = adder(1.0), np.arange(8, dtype=np.float32)
    compiled = add_one.report(x)
    assert compiled.origin == "compiled"
    assert "once-more" in compiled.seconds
    x[:] = range(8)
    add_one(x)
    assert x.tolist() == list(range(1, 9))
    with pytest.raises(ValueError, match=r"no stage 'never'; there are: origin, .*, once-more, gpu-module-to"):
        add_one.ir("never", x)
    with pytest.raises(NotImplementedError, match="compile backend 'doubled' cannot show its device code as text"):
        add_one.ir("isa", x)


def test_what_an_artifact_cannot_hold_is_refused(doubled, monkeypatch):
    monkeypatch.setattr(doubled, "artifact_kind", "spirv")
    with pytest.raises(flyc.DSLCompileError, match="backend 'doubled' makes spirv, and artifacts hold hsaco, ptx"):
        adder(2.0)(np.zeros(8, np.float32))


def test_traced_programs_see_what_the_backend_says_of_its_target(doubled, monkeypatch):
    facts = dataclasses.replace(describe("gfx942"), family="doubled", lds_bytes=64, clusters=True)
    monkeypatch.setattr(doubled, "arch", lambda self: facts)
    assert target() == facts  # outside of a trace, too
    seen = []

    @flyc.kernel
    def kernel(x: fx.Tensor):
        seen.append(target())
        x[fx.thread_idx.x] = 3.0
        fx.make_rmem_tensor(4, fx.Float32).fill(0)

    @flyc.jit
    def launch(x: fx.Tensor):
        kernel(x).launch(block=(8,))

    launch(np.zeros(8, np.float32))
    assert seen == [facts]

    @flyc.kernel
    def too_large(x: fx.Tensor):
        fx.SharedAllocator().allocate(fx.Array[fx.Float32, 17, 4])

    @flyc.jit
    def launch_too_large(x: fx.Tensor):
        too_large(x).launch(block=(8,))

    with pytest.raises(RuntimeError, match="68 bytes of LDS, but gfx942 has 64 per workgroup"):
        launch_too_large(np.zeros(8, np.float32))


def test_the_note_says_what_the_backend_says_of_its_kernels(doubled, monkeypatch):
    def device_code(self, lowered, *, hints):
        (found,) = backends.RocmBackend.device_code(self, lowered, hints=hints)
        return [DeviceCode(found.arch, {name: {"lds_bytes": 12, "predicates": 7} for name in found.kernels})]

    monkeypatch.setattr(doubled, "device_code", device_code)
    monkeypatch.setenv("COMPILE_ONLY", "1")
    found = adder(4.0).report(np.zeros(8, np.float32))
    (kernel,) = found.kernels
    assert (kernel["lds_bytes"], kernel["predicates"]) == (12, 7)
    assert not {"vgpr", "agpr", "occupancy"} & kernel.keys()
    assert str(found).splitlines()[-2].split() == ["kernel", "lds"]


def test_a_kind_of_code_that_nobody_describes_is_refused(doubled, monkeypatch):
    monkeypatch.setattr(doubled, "artifact_kind", "ptx")
    with pytest.raises(NotImplementedError, match="'doubled' does not say what its ptx holds: override device_code"):
        adder(5.0)(np.zeros(8, np.float32))


def test_fragments_alone_are_stages_and_what_they_do_not_know_is_refused():
    mine = Mine(flyc.GPUTarget("mine", "one", 8))
    settings = {"hints": {}, "opt_level": 2, "debug_info": True}
    assert mine.stages(**settings) == [backends.Stage("canonicalize", "canonicalize")]
    for asked in ({"link_libs": ["a.bc"]}, {"ktrace": True}, {"mark_uninitialised": True}):
        with pytest.raises(ValueError, match="compile backend 'mine' does not have"):
            mine.stages(**settings, **asked)
