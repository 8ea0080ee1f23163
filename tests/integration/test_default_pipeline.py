# SPDX-License-Identifier: Apache-2.0
"""fly-opt's `--fly-default-pipeline` is the list of passes that the compiler runs one by one."""

import pytest

from flydsl._mlir import ir
from flydsl._mlir.passmanager import PassManager
from flydsl.compiler.pipeline import stages


@pytest.mark.parametrize("arch", ["gfx942", "gfx950", "gfx1201", "gfx1250"])
@pytest.mark.parametrize("debug_info", [False, True])
@pytest.mark.parametrize("fast", [False, True])
def test_fly_opt_runs_what_the_compiler_runs(arch: str, debug_info: bool, fast: bool) -> None:
    found = stages(arch, hints={"fast_fp_math": fast}, opt_level=2, debug_info=debug_info)
    options = f"chip={arch} debug-info={str(debug_info).lower()} fast={str(fast).lower()}"
    with ir.Context():
        compiler = PassManager.parse(f"builtin.module({','.join(stage.text for stage in found)})")
        fly_opt = PassManager.parse(f"builtin.module(fly-default-pipeline{{{options}}})")
        assert str(fly_opt) == str(compiler)
