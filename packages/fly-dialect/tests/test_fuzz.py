# SPDX-License-Identifier: Apache-2.0
"""Mutated IR ends in errors, never in a crash, an assertion or a hang; so do absurd sizes and depths."""

import os

import mutation
import pytest
from mutation import PIPELINES, Case, Finding, fuzz, survives

LOWERING = PIPELINES[-1]


@pytest.mark.fuzz
def test_mutated_ir_never_crashes() -> None:
    minutes = float(os.environ.get("FLYDSL_FUZZ_MINUTES", "10"))
    seed = int(os.environ.get("FLYDSL_FUZZ_SEED", "0"))
    findings = [event for event in fuzz(seed, minutes * 60) if isinstance(event, Finding)]
    assert not findings, findings[0]


def test_dead_processes_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mutation, "run_one", lambda case: os.abort())
    assert survives([Case("", "")]) == "SIGABRT"


def nested(depth: int, leaf: str = "4") -> str:
    return "(" * depth + leaf + ")" * depth


@pytest.mark.parametrize(
    "text",
    [
        f"func.func private @f(!fly.int_tuple<{nested(100000)}>)",
        f"func.func private @f(!fly.layout<{nested(20000)}:{nested(20000, '1')}>)",
        f"func.func private @f(!fly.int_tuple<({','.join(['2'] * 100000)})>)",
        f"func.func private @f(!fly.tile<{'[' * 50000}4{']' * 50000}>)",
        f"func.func private @f(!fly.composed_layout<{'S<1,0,1> o 0 o [' * 5000}4:1{']' * 5000}>)",
        f"func.func private @f(!fly.basis<1{'E0' * 100000}>)",
        "func.func private @f(!fly.int_tuple<99999999999999999999>)",
        "func.func private @f(!fly.memref<f32, global, 4:1, align<-4>>)",
        "func.func @f(%a: !fly.layout<(65536,65536):(1,65536)>) -> !fly.int_tuple<0> {\n"
        "  %0 = fly.size(%a) : (!fly.layout<(65536,65536):(1,65536)>) -> !fly.int_tuple<0>\n"
        "  return %0 : !fly.int_tuple<0>\n}",
        "gpu.module @m { gpu.func @k(%p: !fly.memref<f32, global, 16777216:1>) kernel {\n"
        "  %0 = fly.memref.load_vec(%p) : (!fly.memref<f32, global, 16777216:1>) -> vector<16777216xf32>\n"
        "  gpu.return\n} }",
        "gpu.module @m { gpu.func @k(%p: !fly.memref<f32, global, (1,1000000):(0,1)>, "
        "%q: !fly.memref<f32, register, (1,1000000):(0,1)>) kernel {\n"
        "  %a = fly.make_copy_atom {valBits = 32 : i32} : !fly.copy_atom<!fly.universal_copy<32>, 32>\n"
        "  fly.copy(%a, %p, %q) : (!fly.copy_atom<!fly.universal_copy<32>, 32>, "
        "!fly.memref<f32, global, (1,1000000):(0,1)>, !fly.memref<f32, register, (1,1000000):(0,1)>) -> ()\n"
        "  gpu.return\n} }",
    ],
    ids=["depth", "layout-depth", "width", "tile", "composed", "basis", "int", "align", "size", "vector", "copy"],
)
def test_absurd_sizes_end(text: str) -> None:
    assert survives([Case(text, LOWERING)]) is None


# As many modes as a layout may have.
MODES = 4096
OF_ONE_LAYOUT = ("coalesce", "complement", "right_inverse", "left_inverse", "make_layout_like", "size", "cosize")
OF_TWO_LAYOUTS = ("composition", "logical_divide", "zipped_divide", "flat_divide", "logical_product", "raked_product")


def wide(leaf: str) -> str:
    return f"({','.join([leaf] * MODES)})"


@pytest.mark.parametrize("leaf", ["2", "?"])
@pytest.mark.parametrize("name", OF_ONE_LAYOUT + OF_TWO_LAYOUTS)
def test_wide_layouts_end(name: str, leaf: str) -> None:
    layout = f"!fly.layout<{wide(leaf)}:{wide(leaf)}>"
    count = 1 if name in OF_ONE_LAYOUT else 2
    arguments = ", ".join(f"%{index}: {layout}" for index in range(count))
    operands = ", ".join(f"%{index}" for index in range(count))
    result = "!fly.int_tuple<1>" if name in ("size", "cosize") else "!fly.layout<1:0>"
    text = (
        f"func.func @f({arguments}) {{\n"
        f"  %r = fly.{name}({operands}) : ({', '.join([layout] * count)}) -> {result}\n  return\n}}"
    )
    assert survives([Case(text, LOWERING)]) is None


LARGEST = 2147483647


@pytest.mark.parametrize(
    "text",
    [
        f"func.func @f(%a: !fly.layout<({LARGEST},{LARGEST}):({LARGEST},{LARGEST})>) {{\n"
        f"  %0 = fly.cosize(%a) : (!fly.layout<({LARGEST},{LARGEST}):({LARGEST},{LARGEST})>) -> !fly.int_tuple<1>\n"
        "  return\n}",
        f"func.func @f(%a: !fly.memref<f32, register, {LARGEST}:2>) {{\n"
        f"  %0 = fly.memref.load_vec(%a) : (!fly.memref<f32, register, {LARGEST}:2>) -> vector<{LARGEST}xf32>\n"
        "  return\n}",
        "!atom = !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>\n"
        f"!ab = !fly.memref<f32, register, (1,{LARGEST}):(0,0)>\n"
        f"!d = !fly.memref<f32, register, (1,{LARGEST},{LARGEST}):(0,0,0)>\n"
        "func.func @f(%m: !atom, %d: !d, %a: !ab, %b: !ab) {\n"
        "  fly.gemm(%m, %d, %a, %b, %d) : (!atom, !d, !ab, !ab, !d) -> ()\n  return\n}",
        f"func.func private @f(!fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<32>, 32>, "
        f"!fly.layout<({LARGEST},{LARGEST}):(1,{LARGEST})>, !fly.tile<[{LARGEST}|{LARGEST}]>>)",
    ],
    ids=["cosize", "vector", "gemm", "tiled"],
)
@pytest.mark.parametrize("pipeline", ["fly-layout-lowering", LOWERING], ids=["lowering", "all"])
def test_largest_extents_end(text: str, pipeline: str) -> None:
    assert survives([Case(text, pipeline)]) is None
