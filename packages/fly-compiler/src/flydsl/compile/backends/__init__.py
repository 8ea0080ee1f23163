# SPDX-License-Identifier: Apache-2.0
"""Compile backends: what turns traced modules into code for a kind of device. There are `rocm` and `cuda`."""

from __future__ import annotations

from functools import lru_cache

from flydsl.trace.arch import Arch, register_default_arch
from flydsl.utils import env

from .base import (
    ARTIFACT_KINDS,
    TO_BINARY,
    BaseBackend,
    DeviceCode,
    DeviceTexts,
    GPUTarget,
    Stage,
)
from .cuda import CudaBackend
from .dialect import DialectBackend
from .rocm import RocmBackend

__all__ = [
    "ARTIFACT_KINDS",
    "TO_BINARY",
    "Arch",
    "BaseBackend",
    "CudaBackend",
    "DeviceCode",
    "DeviceTexts",
    "DialectBackend",
    "GPUTarget",
    "RocmBackend",
    "Stage",
    "compile_backend_name",
    "current_target",
    "get_backend",
    "register_backend",
]

_backends: dict[str, type[BaseBackend]] = {cls.name: cls for cls in (RocmBackend, CudaBackend)}


def register_backend(name: str, cls: type[BaseBackend], *, force: bool = False) -> None:
    """Register a backend.

    Raises:
        ValueError: the name is taken, unless `force`.
    """
    if name in _backends and not force:
        raise ValueError(f"compile backend {name!r} is registered already; pass force=True to replace it")
    _backends[name] = cls
    _made.cache_clear()
    if cls.device_api is not None:
        from flydsl.runtime import register_compile_runtime_mapping

        register_compile_runtime_mapping(name, cls.device_api)


def compile_backend_name(arch: str = "") -> str:
    """Return the name of the backend in use: `FLYDSL_COMPILE_BACKEND`, or the one for an architecture.

    Args:
        arch: the architecture; by default the one that the environment and the devices ask for.
    """
    from flydsl.runtime.device import get_rocm_arch

    asked = str(env.compile.backend).strip().lower()
    return asked or _backend_of(arch or get_rocm_arch())


def _backend_of(arch: str) -> str:
    """Return the name of the backend for an architecture; what nobody knows is rocm's, which says so."""
    fitting = (name for name, cls in _backends.items() if cls.arch_prefix and arch.startswith(cls.arch_prefix))
    return next(fitting, RocmBackend.name)


def get_backend(name: str | None = None, *, arch: str = "") -> BaseBackend:
    """Return a backend, by default the one in use, for an architecture, by default the one that is asked for.

    Without a name, and where the environment names none, it is the one for the architecture.

    Raises:
        ValueError: no backend has that name.
    """
    wanted = name or compile_backend_name(arch)
    if wanted not in _backends:
        raise ValueError(f"unknown compile backend {wanted!r}; there are: {', '.join(sorted(_backends))}")
    cls = _backends[wanted]
    # Asked of an object, for classes whose detect_target is no static method.
    return _made(cls, cls.make_target(arch) if arch else cls.__new__(cls).detect_target())


@lru_cache(maxsize=32)
def _made(cls: type[BaseBackend], target: GPUTarget) -> BaseBackend:
    return cls(target)


def current_target() -> GPUTarget:
    """Return what the backend in use compiles for now."""
    return get_backend().target


def _default_arch() -> Arch:
    return get_backend().arch()


register_default_arch(_default_arch)
