# SPDX-License-Identifier: Apache-2.0
"""The target architecture: one source of truth, from settings, devices, or the default."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from flydsl.runtime import device
from flydsl.runtime.architecture import compiling_for

Python = Callable[..., subprocess.CompletedProcess[str]]


@pytest.mark.parametrize("name", ["ARCH", "FLYDSL_GPU_ARCH", "HSA_OVERRIDE_GFX_VERSION"])
@pytest.mark.parametrize("arch", ["gfx950", "sm_90a", "sm_100a", "sm_80"])
def test_settings(monkeypatch: pytest.MonkeyPatch, name: str, arch: str) -> None:
    monkeypatch.setenv(name, arch)
    assert device.get_rocm_arch() == arch


@pytest.mark.parametrize(
    ("version", "arch"), [("9.4.2", "gfx942"), ("9.0.10", "gfx90a"), ("10.3.0", "gfx1030"), ("12.5.0", "gfx1250")]
)
def test_override_by_version(monkeypatch: pytest.MonkeyPatch, version: str, arch: str) -> None:
    monkeypatch.setenv("HSA_OVERRIDE_GFX_VERSION", version)
    assert device.get_rocm_arch() == arch


def test_within_a_block_the_target_is_what_it_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    seen = []
    with compiling_for("sm_90a"):
        seen.append(device.get_rocm_arch())
        with compiling_for("gfx1201"):
            seen.append(device.get_rocm_arch())
        other = threading.Thread(target=lambda: seen.append(device.get_rocm_arch()))
        other.start()
        other.join()
        seen.append(device.get_rocm_arch())
    assert [*seen, device.get_rocm_arch()] == ["sm_90a", "gfx1201", "gfx950", "sm_90a", "gfx950"]
    with pytest.raises(ValueError, match="expected an architecture like gfx942 or sm_90a, got 'volta'"):
        compiling_for("volta").__enter__()


def test_the_two_names_mean_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx950")
    monkeypatch.setenv("HSA_OVERRIDE_GFX_VERSION", "9.4.2")
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "gfx950")
    assert device.get_rocm_arch() == "gfx950"
    monkeypatch.setenv("FLYDSL_GPU_ARCH", "gfx942")
    with pytest.raises(ValueError, match="ARCH='gfx950' and FLYDSL_GPU_ARCH='gfx942' mean the same thing but differ"):
        device.get_rocm_arch()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ARCH", "sm_9"),
        ("ARCH", "sm_90b"),
        ("ARCH", "sm90"),
        ("FLYDSL_GPU_ARCH", "942"),
        ("HSA_OVERRIDE_GFX_VERSION", "9.4"),
        ("ARCH", "gfx942; rm"),
    ],
)
def test_not_an_architecture(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ValueError, match=f"environment variable {name}="):
        device.get_rocm_arch()


def test_suffix_and_features_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARCH", "gfx1250-strict")
    assert device.get_rocm_arch() == "gfx1250-strict"
    assert device.processor("gfx1250-strict") == "gfx1250"
    assert device.processor("gfx942:sramecc+:xnack-") == "gfx942"
    assert not device.is_rdna_arch()


def test_architecture_of_the_device(python: Python, doubles: Path) -> None:
    code = "from flydsl.runtime import device; print(device.get_rocm_arch(), device.get_rocm_device_count())"
    library = str(doubles / "libhip.so")
    assert python(code, FLYDSL_HIP_LIBRARY=library, FAKE_ARCHS="gfx950:xnack-,gfx942").stdout == "gfx950 2\n"
    assert python(code, FLYDSL_HIP_LIBRARY=library, ARCH="gfx1201").stdout == "gfx1201 1\n"
    assert python(code, FLYDSL_DEVICE="hip").stdout == "gfx942 0\n"
    assert "FLYDSL_DEVICE=x: expected hip, cuda or emulator" in python(code, FLYDSL_DEVICE="x").stderr


@pytest.mark.parametrize(
    ("settings", "presented"),
    [
        ({"ARCH": "gfx950"}, "gfx950"),
        ({"FLYDSL_GPU_ARCH": "gfx1250-strict"}, "gfx1250"),
        ({"HSA_OVERRIDE_GFX_VERSION": "9.5.0"}, "gfx950"),
        ({"ARCH": "gfx950", "FLYDSL_EMU_DEVICES": "gfx1201"}, "gfx942"),  # the double doesn't read the latter
    ],
)
def test_emulator_presents_the_target(python: Python, doubles: Path, settings: dict[str, str], presented: str) -> None:
    code = "from flydsl import runtime; print(runtime.current_device().arch)"
    done = python(code, FLYDSL_HIP_LIBRARY=str(doubles / "libemulator.so"), **settings)
    assert done.stdout == f"{presented}\n", done.stderr


def test_conflict_is_noticed_before_a_device_is_used(python: Python, doubles: Path) -> None:
    code = "from flydsl import runtime; runtime.current_device()"
    library = str(doubles / "libemulator.so")
    done = python(code, FLYDSL_HIP_LIBRARY=library, ARCH="gfx950", FLYDSL_GPU_ARCH="gfx942")
    assert "ValueError: environment variables ARCH='gfx950' and FLYDSL_GPU_ARCH='gfx942'" in done.stderr


@pytest.mark.parametrize(
    ("arch", "rdna", "warp"),
    [
        ("gfx90a", False, 64),
        ("gfx942", False, 64),
        ("gfx950:xnack-", False, 64),
        ("gfx1030", True, 32),
        ("gfx1151", True, 32),
        ("gfx1201", True, 32),
        ("gfx1250", False, 32),
        ("gfx1250-strict", False, 32),
        ("gfx12-generic", True, 32),
        ("gfx803", False, 64),
        ("sm_90a", False, 32),
        ("sm_80", False, 32),
    ],
)
def test_families(arch: str, rdna: bool, warp: int) -> None:
    assert device.is_rdna_arch(arch) == rdna
    assert device.get_warp_size(arch) == warp


def test_lds_capacity() -> None:
    device.check_smem_capacity(65536, "gfx942")
    device.check_smem_capacity(163840, "gfx950:xnack-")
    device.check_smem_capacity(10**9, "gfx900")  # not in the table
    with pytest.raises(RuntimeError, match="LDS of 65537 bytes is more than the 65536 that a workgroup has on gfx942"):
        device.check_smem_capacity(65537, "gfx942")
    assert device.SMEM_CAPACITY_MAP["gfx1250"] == 327680
    assert device.SMEM_CAPACITY_MAP["sm_90a"] == 232448
