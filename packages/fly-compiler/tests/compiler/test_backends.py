# SPDX-License-Identifier: Apache-2.0
"""The registry of compile backends."""

from __future__ import annotations

import pytest

import flydsl.compiler as flyc
from flydsl.compiler import backends


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


def test_names(monkeypatch):
    with pytest.raises(ValueError, match="unknown compile backend 'none'; there are: rocm"):
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
