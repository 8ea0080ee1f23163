# SPDX-License-Identifier: Apache-2.0
"""These tests run kernels; without a device, real or emulated, they are skipped with the reason."""

import pytest

pytest.importorskip("torch", reason="kernels are run on torch tensors")
pytest.importorskip("flydsl.runtime", reason="running kernels needs fly-runtime")


def _device_problem():
    from flydsl.runtime.device import get_rocm_device_count

    try:
        return None if get_rocm_device_count() else "no device: install fly-emulator"
    except Exception as error:  # what is missing is the reason of the skip
        return str(error)


_PROBLEM = _device_problem()


def pytest_collection_modifyitems(items):
    if _PROBLEM:
        for item in items:
            if "/run/" in item.path.as_posix():
                item.add_marker(pytest.mark.skip(reason=_PROBLEM))


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    """Give each test a disk cache of its own: tests look at what happens while a kernel is traced."""
    monkeypatch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(tmp_path / "cache"))
