# SPDX-License-Identifier: Apache-2.0
"""The registry of device runtimes and its pairing with compile backends."""

from __future__ import annotations

from collections.abc import Iterator

import make_doubles as build
import pytest

from flydsl import runtime
from flydsl.runtime import device_runtime


@pytest.fixture(autouse=True)
def _own_registry(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(device_runtime, "_kinds", dict(device_runtime._kinds))
    monkeypatch.setattr(device_runtime, "_instance", None)
    mapping = dict(device_runtime.COMPILE_BACKEND_TO_RUNTIME_KIND)
    yield
    device_runtime.COMPILE_BACKEND_TO_RUNTIME_KIND.clear()
    device_runtime.COMPILE_BACKEND_TO_RUNTIME_KIND.update(mapping)


class Other(runtime.DeviceRuntime):
    kind = "other"

    def device_count(self) -> int:
        return 7

    def current_device_id(self) -> int:
        return 3


def test_default(hip: build.Hip) -> None:
    rocm = runtime.get_device_runtime()
    assert isinstance(rocm, runtime.RocmDeviceRuntime)
    assert runtime.get_device_runtime() is rocm
    assert (rocm.kind, rocm.device_count(), rocm.current_device_id()) == ("rocm", 1, 0)
    assert runtime.COMPILE_BACKEND_TO_RUNTIME_KIND == {"rocm": "rocm", "cuda": "cuda"}


def test_the_other_vendor(hip: build.Hip, monkeypatch: pytest.MonkeyPatch) -> None:
    """Code for it is compiled anywhere; asked for its devices, it says which one is in use."""
    runtime.ensure_compile_runtime_compatible("cuda")
    monkeypatch.setenv("FLYDSL_RUNTIME_KIND", "cuda")
    cuda = runtime.get_device_runtime()
    assert isinstance(cuda, runtime.CudaDeviceRuntime)
    assert cuda.device_count() == 0
    with pytest.raises(runtime.DeviceError, match="'cuda' has no device: the device in use is <Device 0: Fake"):
        cuda.current_device_id()
    runtime.ensure_compile_runtime_compatible("cuda")
    with pytest.raises(
        runtime.RuntimePairingError, match=r"'rocm' makes code for device runtime 'rocm', but .* 'cuda'"
    ):
        runtime.ensure_compile_runtime_compatible("rocm")


def test_abstract() -> None:
    with pytest.raises(TypeError, match="abstract"):
        runtime.DeviceRuntime()  # type: ignore[abstract]


def test_registration(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime.register_device_runtime(Other)
    monkeypatch.setenv("FLYDSL_RUNTIME_KIND", "other")
    assert runtime.get_device_runtime().device_count() == 7
    with pytest.raises(ValueError, match="device runtime kind 'other' is Other already"):
        runtime.register_device_runtime(Other)
    runtime.register_device_runtime(Other, force=True)
    runtime.register_device_runtime(Other, kind="third")
    with pytest.raises(TypeError, match="expected a subclass of DeviceRuntime"):
        runtime.register_device_runtime(int)  # type: ignore[arg-type]


def test_unknown_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLYDSL_RUNTIME_KIND", "metal")
    with pytest.raises(ValueError, match="unknown device runtime kind 'metal'; there are: cuda, rocm"):
        runtime.get_device_runtime()


def test_pairing(monkeypatch: pytest.MonkeyPatch) -> None:
    runtime.ensure_compile_runtime_pairing_from_env()
    runtime.ensure_compile_runtime_pairing_from_env("rocm")
    runtime.ensure_compile_runtime_compatible("rocm")
    with pytest.raises(RuntimeError, match="makes code for device runtime 'rocm', but the runtime is 'other'"):
        runtime.ensure_compile_runtime_compatible("rocm", runtime=Other())
    monkeypatch.setenv("FLYDSL_COMPILE_BACKEND", "mine")
    with pytest.raises(runtime.RuntimePairingError, match="compile backend 'mine' has no device runtime"):
        runtime.ensure_compile_runtime_pairing_from_env()
    runtime.register_compile_runtime_mapping("mine", "other")
    with pytest.raises(RuntimeError, match="the runtime is 'rocm'"):
        runtime.ensure_compile_runtime_pairing_from_env()
    runtime.ensure_compile_runtime_compatible("mine", runtime=Other())
    monkeypatch.setenv("FLYDSL_RUNTIME_KIND", "other")
    with pytest.raises(ValueError, match="unknown device runtime kind 'other'"):
        runtime.ensure_compile_runtime_pairing_from_env()
    runtime.register_device_runtime(Other)
    runtime.ensure_compile_runtime_pairing_from_env()
    runtime.register_compile_runtime_mapping("mine", "rocm")  # the last word counts
    with pytest.raises(RuntimeError, match="the runtime is 'other'"):
        runtime.ensure_compile_runtime_pairing_from_env("mine")
    with pytest.raises(ValueError, match="expected two names"):
        runtime.register_compile_runtime_mapping("", "rocm")
