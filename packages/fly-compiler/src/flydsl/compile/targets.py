# SPDX-License-Identifier: Apache-2.0
"""One artifact with the code of a program for several targets.

An artifact has one host function. So the program is traced and lowered for each target, and the host functions have to
come out the same, to the letter: with the same grids, blocks and arguments of the same kernels. Then the artifact holds
one host function and the kernels of each target, of which the runtime takes those for the device.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path
from typing import Any

from flydsl._mlir import ir
from flydsl.runtime.architecture import compiling_for
from flydsl.runtime.forks import undivided

from .backends import BaseBackend, DeviceCode, compile_backend_name, get_backend
from .cache import digest_of
from .compilation import HOST_OPT_LEVEL, Request
from .lifetimes import release
from .pipeline import StageTimes, described, emit, lower
from .tracing import Compilation

__all__ = ["build_for"]

_BINARY, _OBJECTS = "gpu.binary", "objects"


@dataclass
class _Made:
    """A program as it was lowered for a target."""

    arch: str
    backend: BaseBackend
    compilation: Compilation
    module: ir.Module
    device_code: list[DeviceCode]
    request: Request
    key: str

    @property
    def binary(self) -> Any:
        """The operation that holds the device code."""
        return next(op for op in self.module.body.operations if op.operation.name == _BINARY)

    def host(self) -> list[str]:
        """All else, as lines."""
        attributes = {one.name: str(one.attr) for one in _named(self.module.operation.attributes)}
        rest = [str(op) for op in self.module.body.operations if op.operation.name != _BINARY]
        return [*(f"{name} = {text}" for name, text in sorted(attributes.items())), *"\n".join(rest).splitlines()]


def _named(attributes: Any) -> list[ir.NamedAttribute]:
    return [attributes[number] for number in range(len(attributes))]


def build_for(request: Request, targets: Sequence[str], path: Path) -> None:
    """Write the artifact of a request for several targets, whatever the target of the request is.

    Args:
        request: what to compile.
        targets: architectures; of those that a device can run it takes the first.
        path: the artifact's file.

    Raises:
        TypeError: targets are no sequence of names.
        ValueError: there is none, one comes twice, or a backend lacks what is asked for.
        DSLCompileError: the program cannot be compiled for one of them.
        RuntimeError: the host functions differ.
    """
    if isinstance(targets, str) or not all(isinstance(one, str) for one in targets):
        raise TypeError(f"targets are a sequence of architectures, such as ('gfx942', 'sm_90a'), got {targets!r}")
    if not targets or len(set(targets)) != len(targets):
        raise ValueError(f"targets are one or more architectures, each once, got {tuple(targets)!r}")
    with undivided():
        try:
            made = [_lowered(request, arch) for arch in targets]
            for other in made[1:]:
                _check_same(request.name, made[0], other)
            _write(made, path)
        finally:
            release()


def _lowered(request: Request, arch: str) -> _Made:
    with compiling_for(arch):
        backend_name = compile_backend_name(arch)
        settings = request.settings._replace(arch=arch, backend=backend_name, key=f"{arch} of {request.settings.key}")
        own = replace(request, settings=settings)
        compilation = own.trace()
        key = own.key(compilation)
        with compilation.context:
            backend = get_backend(backend_name, arch=arch)
            module = lower(compilation, backend, own.stages(compilation), StageTimes(), None)
            found = described(backend, module, compilation.hints)
    return _Made(arch, backend, compilation, module, found, own, key)


def _check_same(name: str, one: _Made, other: _Made) -> None:
    kernels = [[list(code.kernels) for code in made.device_code] for made in (one, other)]
    if kernels[0] != kernels[1]:
        raise RuntimeError(
            f"{name}() cannot be one artifact for {one.arch} and {other.arch}: it launches the kernels {kernels[0]} on "
            f"the one and {kernels[1]} on the other. Export one artifact for each"
        )
    for first, second in zip_longest(one.host(), other.host(), fillvalue=""):
        if first != second:
            raise RuntimeError(
                f"{name}() cannot be one artifact for {one.arch} and {other.arch}: an artifact has one host function, "
                "and a grid, a block or an argument depends on the target. The first difference is, for "
                f"{one.arch}:\n  {first.strip()}\nand for {other.arch}:\n  {second.strip()}\n"
                "Export one artifact for each"
            )


def _write(made: Sequence[_Made], path: Path) -> None:
    first = made[0]
    with first.compilation.context as context:
        objects = [
            ir.Attribute.parse(str(item), context)
            for one in made
            for item in ir.ArrayAttr(one.binary.operation.attributes[_OBJECTS])
        ]
        first.binary.operation.attributes[_OBJECTS] = ir.ArrayAttr.get(objects, context)
        emit(
            first.compilation,
            first.backend,
            first.module,
            path,
            arguments=first.request.run_time(),
            key="sha256:" + digest_of(*(one.key for one in made)),
            opt_level=HOST_OPT_LEVEL,
            times=StageTimes(),
            device_code=_together([code for one in made for code in one.device_code]),
        )


def _together(found: Sequence[DeviceCode]) -> list[DeviceCode]:
    """The same with the most shared memory of each kernel, which a launch for any of them may count on."""
    most: dict[str, int] = {}
    for code in found:
        for name, used in code.kernels.items():
            most[name] = max(most.get(name, 0), int(used.get("lds_bytes", 0)))

    def with_most(kernels: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
        return {name: {**used, "lds_bytes": most[name]} for name, used in kernels.items()}

    return [code._replace(kernels=with_most(code.kernels)) for code in found]
