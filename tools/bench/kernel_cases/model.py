# SPDX-License-Identifier: Apache-2.0
"""A comparison: one operation on given tensors, by several kernels."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch

Arguments = tuple[Any, ...]
TORCH = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
TRITON = {torch.float32: "fp32", torch.float16: "fp16", torch.bfloat16: "bf16", torch.int8: "i8", torch.int32: "i32",
          torch.uint8: "u8", torch.float8_e4m3fn: "fp8e4nv", torch.float8_e4m3fnuz: "fp8e4b8"}  # fmt: skip


@dataclass(frozen=True)
class TritonKernel:
    """One of tools/bench/triton_kernels, with everything that its compilation and launch take.

    `arguments` are by parameter, in the order of the parameters: torch tensors, ints (i32) or floats (fp32).
    """

    kernel: str
    arguments: dict[str, Any]
    constants: dict[str, Any]
    grid: Sequence[int]
    warps: int = 4
    stages: int = 2

    def request(self, arch: str) -> dict[str, Any]:
        """What triton_kernels/build.py takes."""
        signature, divisible = {}, []
        for name, value in self.arguments.items():
            if isinstance(value, torch.Tensor):
                signature[name] = "*" + TRITON[value.dtype]
                divisible.append(name)
            else:
                signature[name] = "fp32" if isinstance(value, float) else "i32"
                if isinstance(value, int) and value % 16 == 0:
                    divisible.append(name)
        return {
            "kernel": self.kernel,
            "arch": arch,
            "signature": signature,
            "constants": self.constants,
            "divisible": divisible,
            "warps": self.warps,
            "stages": self.stages,
        }

    def passed(self) -> list[Any]:
        """The arguments as the emulator's launch takes them: arrays of plain bits, and C scalars."""
        values: list[Any] = []
        for value in self.arguments.values():
            if isinstance(value, torch.Tensor):
                values.append(value.reshape(-1).view(torch.uint8).numpy())
            elif isinstance(value, float):
                values.append(ctypes.c_float(value))
            else:
                values.append(ctypes.c_int32(value))
        return values

    def text(self) -> str:
        """Its block sizes, for the page."""
        blocks = "x".join(str(value) for name, value in self.constants.items() if name.startswith("BLOCK"))
        return f"{blocks or '-'}, {self.warps} warps"


@dataclass(frozen=True)
class Case:
    """One comparison.

    Attributes:
        operation, dtype, shape: what the page calls it.
        build: makes our launcher; called with the cache off, so that its time is that of a compilation.
        arguments: what our launcher takes.
        outputs: the tensors that all kernels write, filled with NaN (or 0x55 bytes) before each.
        error: the largest error of what is in the outputs now, as a multiple of the tolerance.
        least_bytes: what has to be read and written at the least by workgroups of a row, a token or a tile.
        triton: candidates; the one with the fewest issue cycles counts.
        peer: key in the peer's static figures, without the architecture.
        peer_build: makes our launcher, and its arguments, for the shape of that entry, if it is another than `build`'s.
    """

    operation: str
    dtype: str
    shape: str
    build: Callable[[], Any]
    arguments: Arguments
    outputs: tuple[torch.Tensor, ...]
    error: Callable[[], float]
    least_bytes: int
    triton: tuple[TritonKernel, ...] = ()
    peer: str | None = None
    peer_build: Callable[[], tuple[Any, Arguments]] | None = None
    settings: str = field(default="", compare=False)

    @property
    def name(self) -> str:
        """For the command line and as a key."""
        return f"{self.operation} {self.dtype} {self.shape}"

    def poison(self) -> None:
        """Fill the outputs with what no kernel writes."""
        for tensor in self.outputs:
            if tensor.dtype.is_floating_point and tensor.element_size() > 1:
                tensor.fill_(float("nan"))
            else:
                tensor.view(torch.uint8).fill_(0x55)


def bytes_of(*tensors: torch.Tensor) -> int:
    """Bytes of the tensors together."""
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)


def largest_error(got: torch.Tensor, expected: torch.Tensor, absolute: float, relative: float = 0.0) -> float:
    """max |got - expected| / (absolute + relative |expected|); infinite when something is not a number."""
    difference = (got.double() - expected.double()).abs() / (absolute + relative * expected.double().abs())
    return float("inf") if difference.isnan().any() else float(difference.max())


def normal(*shape: int, dtype: torch.dtype, seed: int = 0, scale: float = 1.0) -> torch.Tensor:
    """Random numbers that do not change from run to run."""
    return (torch.randn(shape, generator=torch.Generator().manual_seed(seed)) * scale).to(dtype)


def float8(arch: str) -> tuple[torch.dtype, float]:
    """The 8-bit float with 3 bits of mantissa of a chip, and its largest number."""
    from flydsl.kernels.common.arch import float8_of

    kind = float8_of(arch)
    return getattr(torch, kind.torch_name), kind.largest


def power_of_two(least: int) -> int:
    """The smallest power of two that is not less."""
    return 1 << (least - 1).bit_length()
