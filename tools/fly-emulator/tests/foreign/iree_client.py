# SPDX-License-Identifier: Apache-2.0
"""IREE's compiler and its HIP runtime on the emulator: `iree_client.py <architecture>`.

Each case is a function of tensors in MLIR, compiled by IREE for the architecture, run through its HIP driver, and
compared with numpy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import iree.compiler
import iree.runtime
import ml_dtypes
import numpy as np

Array = np.ndarray[Any, Any]
Case = tuple[str, Callable[[np.random.Generator], list[Array]], Callable[..., Array], float]

TYPES: dict[str, Any] = {
    "f16": np.float16, "f32": np.float32, "bf16": ml_dtypes.bfloat16, "i8": np.int8,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz, "f8E4M3FN": ml_dtypes.float8_e4m3fn, "f8E5M2": ml_dtypes.float8_e5m2,
}  # fmt: skip


def normal(*shape: int, dtype: str = "f32") -> Callable[[np.random.Generator], Array]:
    return lambda rng: rng.standard_normal(shape).astype(np.float32).astype(TYPES[dtype])


def matmul(m: int, n: int, k: int, kind: str, *, dynamic: bool = False) -> Case:
    total = "i32" if kind == "i8" else "f32"
    zero = "0" if kind == "i8" else "0.0"
    a, b, c = (f"{'?x?' if dynamic else f'{x}x{y}'}x{t}" for x, y, t in ((m, k, kind), (k, n, kind), (m, n, total)))
    extents = (
        f"""  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %m = tensor.dim %a, %c0 : tensor<{a}>
  %n = tensor.dim %b, %c1 : tensor<{b}>
"""
        if dynamic
        else ""
    )
    text = f"""func.func @f(%a: tensor<{a}>, %b: tensor<{b}>) -> tensor<{c}> {{
{extents}  %z = arith.constant {zero} : {total}
  %e = tensor.empty({"%m, %n" if dynamic else ""}) : tensor<{c}>
  %t = linalg.fill ins(%z : {total}) outs(%e : tensor<{c}>) -> tensor<{c}>
  %r = linalg.matmul ins(%a, %b : tensor<{a}>, tensor<{b}>) outs(%t : tensor<{c}>) -> tensor<{c}>
  return %r : tensor<{c}>
}}"""

    def make(rng: np.random.Generator) -> list[Array]:
        if kind == "i8":
            return [rng.integers(-100, 100, shape).astype(np.int8) for shape in ((m, k), (k, n))]
        return [normal(*shape, dtype=kind)(rng) for shape in ((m, k), (k, n))]

    wide = np.int64 if kind == "i8" else np.float64
    return text, make, lambda x, y: x.astype(wide) @ y.astype(wide), 0 if kind == "i8" else 1e-3


def attention() -> Case:
    maps = "(b,m,k1)", "(b,k2,k1)", "(b,k2,n)", "()", "(b,m,n)"
    aliases = "\n".join(f"#m{i} = affine_map<(b,m,n,k1,k2)->{one}>" for i, one in enumerate(maps))
    q, k = "tensor<4x128x64xf16>", "tensor<4x256x64xf16>"
    text = f"""{aliases}
func.func @f(%q: {q}, %k: {k}, %v: {k}) -> {q} {{
  %s = arith.constant 0.125 : f16
  %e = tensor.empty() : {q}
  %r = iree_linalg_ext.attention <{{indexing_maps = [#m0,#m1,#m2,#m3,#m4]}}>
       ins(%q, %k, %v, %s : {q}, {k}, {k}, f16) outs(%e : {q}) {{
  ^bb0(%score: f32):
    iree_linalg_ext.yield %score : f32
  }} -> {q}
  return %r : {q}
}}"""

    def define(q: Array, k: Array, v: Array) -> Array:
        scores = q.astype(np.float64) @ k.astype(np.float64).transpose(0, 2, 1) * 0.125
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        return weights / weights.sum(-1, keepdims=True) @ v.astype(np.float64)

    shapes = ((4, 128, 64), (4, 256, 64), (4, 256, 64))
    return text, lambda rng: [normal(*shape, dtype="f16")(rng) for shape in shapes], define, 4e-3


def convolution() -> Case:
    x, w, y = "tensor<2x18x18x32xf16>", "tensor<3x3x32x64xf16>", "tensor<2x16x16x64xf32>"
    text = f"""func.func @f(%x: {x}, %w: {w}) -> {y} {{
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : {y}
  %t = linalg.fill ins(%z : f32) outs(%e : {y}) -> {y}
  %r = linalg.conv_2d_nhwc_hwcf {{dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>}}
       ins(%x, %w : {x}, {w}) outs(%t : {y}) -> {y}
  return %r : {y}
}}"""

    def define(x: Array, w: Array) -> Array:
        parts = [(x[:, i : i + 16, j : j + 16], w[i, j]) for i in range(3) for j in range(3)]
        return sum(np.einsum("nhwc,cf->nhwf", a.astype(np.float64), b.astype(np.float64)) for a, b in parts)

    return (
        text,
        lambda rng: [normal(2, 18, 18, 32, dtype="f16")(rng), normal(3, 3, 32, 64, dtype="f16")(rng)],
        define,
        1e-3,
    )


def softmax() -> Case:
    x = "tensor<33x1000xf32>"
    text = f"""func.func @f(%x: {x}) -> {x} {{
  %e = tensor.empty() : {x}
  %r = linalg.softmax dimension(1) ins(%x : {x}) outs(%e : {x}) -> {x}
  return %r : {x}
}}"""

    def define(x: Array) -> Array:
        e = np.exp(x.astype(np.float64) - x.max(1, keepdims=True))
        return e / e.sum(1, keepdims=True)

    return text, lambda rng: [normal(33, 1000)(rng)], define, 1e-6


def ordered(kind: str) -> Case:
    """A sort or a running sum, whose loops address buffers by negative offsets."""
    if kind == "sort":
        x = "tensor<4x333xi32>"
        text = f"""func.func @f(%x: {x}) -> {x} {{
  %r = iree_linalg_ext.sort dimension(1) outs(%x : {x}) {{
  ^bb0(%a: i32, %b: i32):
    %c = arith.cmpi slt, %a, %b : i32
    iree_linalg_ext.yield %c : i1
  }} -> {x}
  return %r : {x}
}}"""
        return text, lambda rng: [rng.integers(-999, 999, (4, 333)).astype(np.int32)], lambda x: np.sort(x, 1), 0
    x, one = "tensor<8x256xf32>", "tensor<8xf32>"
    text = f"""func.func @f(%x: {x}) -> {x} {{
  %e = tensor.empty() : {x}
  %z = arith.constant 0.0 : f32
  %e2 = tensor.empty() : {one}
  %t = linalg.fill ins(%z : f32) outs(%e2 : {one}) -> {one}
  %r:2 = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%x : {x}) outs(%e, %t : {x}, {one}) {{
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %a, %b : f32
    iree_linalg_ext.yield %c : f32
  }} -> {x}, {one}
  return %r#0 : {x}
}}"""
    return text, lambda rng: [normal(8, 256)(rng)], lambda x: np.cumsum(x.astype(np.float64), 1), 1e-4


def cases(arch: str) -> dict[str, Case]:
    eight_bits = ("f8E4M3FNUZ",) if arch == "gfx942" else ("f8E4M3FN", "f8E5M2")
    return {
        **{f"matmul {kind}": matmul(128, 96, 256, kind) for kind in ("f16", "bf16", "i8", *eight_bits)},
        "matmul f32": matmul(100, 70, 130, "f32"),
        "matmul f16 odd": matmul(77, 133, 59, "f16"),
        "matmul f16 of any shape": matmul(50, 33, 90, "f16", dynamic=True),
        "attention": attention(),
        "convolution": convolution(),
        "softmax": softmax(),
        "sort": ordered("sort"),
        "scan": ordered("scan"),
    }


def main() -> None:
    arch = sys.argv[1]
    flags = ["--iree-hal-target-device=hip", f"--iree-rocm-target={arch}"]
    for name, (text, make, define, tolerance) in cases(arch).items():
        binary = iree.compiler.compile_str(text, extra_args=flags)
        module = iree.runtime.load_vm_flatbuffer(binary, driver="hip")
        arguments = make(np.random.default_rng(0))
        got = np.asarray(module.f(*arguments)).astype(np.float64)
        error = float(np.abs(got - define(*arguments)).max())
        print(f"{name}: {error:.3g}")
        assert error <= tolerance, name
    print("all right")


if __name__ == "__main__":
    main()
