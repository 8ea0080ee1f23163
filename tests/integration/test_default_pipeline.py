# SPDX-License-Identifier: Apache-2.0
"""fly-opt's `--fly-default-pipeline` makes of a program, in one go, what the compiler makes of it stage by stage."""

from __future__ import annotations

import numpy as np
import pytest
from kernels import scale

import flydsl.call.jit_function as jit_function
import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl._mlir import ir
from flydsl._mlir.passmanager import PassManager
from flydsl.compile.pipeline import StageTimes, lower

ARGUMENTS = (np.zeros(8, np.float32), np.zeros(8, np.float32), 2.0, 8)


@flyc.kernel
def talking_kernel(x: fx.Tensor, y: fx.Tensor, factor: fx.Float32, n: fx.Int32):
    fragment = fx.make_rmem_tensor(4, fx.Float32)
    values = fragment.load()
    with fx.ktrace.range("work"):
        fx.printf("x is {}", x[n])
        fx.device_assert(x[n] < factor, "too large: {}", n)
        y[n] = values[0] + values[3]


@flyc.jit
def talking(x: fx.Tensor, y: fx.Tensor, factor: fx.Float32, n: fx.Int32):
    """What has a pass of its own: messages, 16-bit floats of the host, uninitialised registers, events."""
    half = factor.to(fx.Float16) * factor.to(fx.Float16)
    fx.printf("factor {}", half.to(fx.Float32))
    fx.host_assert(n > 0, "n is {}", n)
    talking_kernel(x, y, half.to(fx.Float32), n).launch(grid=1, block=64)


CASES = {
    **{f"{arch}": (scale, arch, {}, "") for arch in ("gfx942", "gfx950", "gfx1201", "gfx1250")},
    "no line tables": (talking, "gfx942", {"FLYDSL_DEBUG_ENABLE_DEBUG_INFO": "0"}, ""),
    "sanitized": (talking, "gfx950", {"FLYDSL_EMU_SANITIZE": "init"}, "mark-uninitialised=true"),
    "recorded": (talking, "gfx942", {"FLYDSL_KTRACE_ENABLE": "1"}, "ktrace=true"),
    "fast": (scale, "gfx942", {}, "fast=true"),
    "level 1": (talking, "gfx1201", {"FLYDSL_COMPILE_OPT_LEVEL": "1"}, "O=1"),
}


def text_of(module: ir.Module) -> str:
    """All of a module: ops, attributes, locations and the bytes of its code objects."""
    return str(module.operation.get_asm(enable_debug_info=True))


@pytest.mark.parametrize("name", CASES)
def test_fly_opt_makes_what_the_compiler_makes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    function, arch, variables, options = CASES[name]
    for variable, value in {"FLYDSL_GPU_ARCH": arch, **variables}.items():
        monkeypatch.setenv(variable, value)
    requests = []

    def stop(request):
        requests.append(request)
        raise StopIteration

    monkeypatch.setattr(jit_function, "compile_request", stop)
    with pytest.raises((StopIteration, RuntimeError)):
        flyc.jit(function.original)(*ARGUMENTS)  # one that nobody has called
    requests[0].hints["fast_fp_math"] = "fast=true" in options
    compilation = requests[0].trace()
    with compilation.context:
        traced = ir.Module.parse(text_of(compilation.module))
        stages = requests[0].stages(compilation)
        ours = lower(compilation, requests[0].backend, stages, StageTimes(), None)
        debug_info = "0" if "FLYDSL_DEBUG_ENABLE_DEBUG_INFO" in variables else "1"
        manager = PassManager.parse(
            f"builtin.module(fly-default-pipeline{{chip={arch} debug-info={debug_info} {options}}})"
        )
        manager.run(traced.operation)
        assert "gpu.binary" in text_of(ours)
        assert text_of(traced) == text_of(ours)
