# SPDX-License-Identifier: Apache-2.0
"""tinygrad's HIP device on the emulator: its operators against numpy.

tinygrad loads `$ROCM_PATH/lib/libamdhip64.so` by itself and is used as it is, but for the compiler: its HIP device
wants ROCm's comgr, so that its own LLVM renderer takes that place here, and lld links what comes out.

    DEV=HIP ROCM_PATH=... LLVM_PATH=.../libLLVM.so.22 python tinygrad_client.py LLD [CASE ...]
"""

from __future__ import annotations

import pathlib
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
import tinygrad.runtime.ops_hip as ops_hip
from tinygrad import Tensor, TinyJit, dtypes
from tinygrad.renderer.llvmir import AMDLLVMRenderer

LLD, WANTED = sys.argv[1], sys.argv[2:]


class LinkedRenderer(AMDLLVMRenderer):  # type: ignore[misc]
    def __init__(self, target: Any) -> None:
        super().__init__(target)
        emit = self.compiler.compile

        def compile_and_link(source: str) -> bytes:
            with tempfile.TemporaryDirectory() as folder:
                unit, image = pathlib.Path(folder, "kernel.o"), pathlib.Path(folder, "kernel.hsaco")
                unit.write_bytes(emit(source))
                subprocess.run([LLD, "-shared", unit, "-o", image], check=True)
                return image.read_bytes()

        self.compiler.compile, self.compiler.cachekey = compile_and_link, None


ops_hip.HIPRenderer = LinkedRenderer

RNG = np.random.default_rng(0)


def normal(*shape: int) -> np.ndarray:
    return RNG.standard_normal(shape).astype(np.float32)


x, y, weights, images = normal(64, 96), normal(96, 80), normal(8, 3, 3, 3), normal(2, 3, 16, 16)
integers = RNG.integers(-1000, 1000, 300).astype(np.int32)
X, Y, N = Tensor(x), Tensor(y), Tensor(integers)


def close(got: Tensor, expected: Any, tolerance: float = 1e-5) -> None:
    np.testing.assert_allclose(got.float().numpy(), expected, rtol=tolerance, atol=tolerance)


def equal(got: Tensor, expected: Any) -> None:
    np.testing.assert_array_equal(got.numpy(), expected)


def elementwise() -> None:
    close(X * 2 + 1.5, x * 2 + 1.5)
    close((X > 0).where(X, -X), abs(x))
    for name, scale, tolerance in (("sin", 1, 1e-5), ("sin", 1000, 1e-3), ("exp", 1, 1e-4), ("tanh", 1, 1e-5)):
        close(getattr(X * scale, name)(), getattr(np, name)(x * np.float32(scale)), tolerance)
    close(X.abs().log(), np.log(abs(x)), 1e-4)
    close(X.abs().sqrt(), np.sqrt(abs(x)))


def integer() -> None:
    equal(N // 7, integers // 7)
    equal(N % 7, integers % 7)
    equal(N << 3, integers << 3)
    equal(N ^ 0x55, integers ^ 0x55)
    equal(N.cast(dtypes.int64) * 123456789, integers.astype(np.int64) * 123456789)
    equal(N.cast(dtypes.int16) * 3, integers.astype(np.int16) * np.int16(3))
    equal(N.cast(dtypes.uint8), integers.astype(np.uint8))


def reductions() -> None:
    close(X.sum(), x.sum(), 1e-4)
    close(X.sum(0), x.sum(0), 1e-4)
    close(X.max(1), x.max(1))
    equal(X.argmax(1), x.argmax(1))
    equal(X.argmin(0), x.argmin(0))
    close(X.cumsum(1), x.cumsum(1), 1e-4)
    close(X.layernorm(), (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + 1e-5), 1e-4)


def softmax() -> None:
    close(X.softmax(1), np.exp(x) / np.exp(x).sum(1, keepdims=True))


def matmul() -> None:
    close(X @ Y, x @ y, 1e-4)
    close(Tensor(x.astype(np.float64)) @ Tensor(y.astype(np.float64)), x.astype(np.float64) @ y, 1e-5)
    # Sizes that tinygrad's tensor cores (MFMA) take.
    wide, tall = np.tile(x, (2, 4)).astype(np.float16), np.tile(y, (4, 2)).astype(np.float16)
    close(Tensor(wide) @ Tensor(tall), wide.astype(np.float32) @ tall.astype(np.float32), 0.1)
    close(X.bfloat16() @ Y.bfloat16(), x @ y, 0.3)


def movement() -> None:
    close(X[:, Tensor([1, 5, 7])], x[:, [1, 5, 7]])
    close(X.cat(X, dim=1), np.concatenate([x, x], 1))
    close(X.pad(((1, 2), (3, 4))), np.pad(x, ((1, 2), (3, 4))))
    close(X.T.contiguous(), x.T)


def convolution() -> None:
    expected = np.zeros((2, 8, 14, 14))
    for i in range(3):
        for j in range(3):
            expected += np.einsum("nchw,oc->nohw", images[:, :, i : i + 14, j : j + 14], weights[:, :, i, j])
    close(Tensor(images).conv2d(Tensor(weights)), expected, 1e-4)
    close(Tensor(images).max_pool2d((2, 2)), images.reshape(2, 3, 8, 2, 8, 2).max((3, 5)))


def captured() -> None:
    @TinyJit
    def step(t: Tensor) -> Tensor:
        return (t * 2 + 1).sum(1).realize()

    for _ in range(4):
        value = normal(64, 96)
        close(step(Tensor(value).realize()), (value * 2 + 1).sum(1), 1e-4)


def random() -> None:
    Tensor.manual_seed(3)
    uniform, gauss = Tensor.rand(10000).numpy(), Tensor.randn(20000).numpy()
    assert abs(uniform.mean() - 0.5) < 0.02
    assert 0 <= uniform.min() <= uniform.max() < 1
    assert abs(gauss.std() - 1) < 0.03


def sorting() -> None:
    equal(X.sort(1)[0], np.sort(x, 1))
    equal(N.sort()[0], np.sort(integers))
    close(X.topk(5)[0], -np.sort(-x, 1)[:, :5])


def attention() -> None:
    q = x.reshape(2, 32, 96)
    scores = np.exp(q @ q.transpose(0, 2, 1) / np.sqrt(96))
    Q = Tensor(q)
    close(Tensor.scaled_dot_product_attention(Q, Q, Q), scores / scores.sum(-1, keepdims=True) @ q, 1e-4)


def backward() -> None:
    t = Tensor(x)
    (t.softmax(1) * t).sum().backward()
    p = np.exp(x) / np.exp(x).sum(1, keepdims=True)
    close(t.grad, p * (1 + x - (p * x).sum(1, keepdims=True)), 1e-4)


ALL = (elementwise, integer, reductions, softmax, matmul, movement, convolution, captured, random, sorting, attention)
CASES: dict[str, Callable[[], None]] = {case.__name__: case for case in (*ALL, backward)}

if __name__ == "__main__":
    for name in WANTED or CASES:
        CASES[name]()
        print(name)
    print("all right")
