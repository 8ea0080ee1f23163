# SPDX-License-Identifier: Apache-2.0
"""Operands, exact results and error bounds of the GEMM tests."""

import torch

from flydsl.kernels.common.shuffle import shuffle_weight

FLOATS = {"fp16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32}
# Half a unit of the last place, relative: what one rounding to the output costs.
HALF_ULP = {"fp16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-24}
_ACTIVATIONS = {
    "none": lambda x: x,
    "relu": torch.relu,
    "silu": torch.nn.functional.silu,
    "gelu": lambda x: torch.nn.functional.gelu(x, approximate="tanh"),
}


class Problem:
    """Random operands of C = act(A B^T * scales + bias) + residual, and what is right within which error."""

    def __init__(self, M, N, K, in_dtype, out_dtype="bf16", *, arch, epilogue="none", seed=0):
        generator = torch.Generator().manual_seed(seed)
        self.M, self.N, self.K = M, N, K
        self.out_dtype, self.epilogue = out_dtype, epilogue
        bias_name, _, activation = epilogue.partition("_")
        self.scaled = in_dtype in ("fp8", "int8")
        if in_dtype == "int8":
            self.a, self.b = (
                torch.randint(-128, 128, (rows, K), generator=generator).to(torch.int8) for rows in (M, N)
            )
        else:
            fp8 = torch.float8_e4m3fnuz if arch == "gfx942" else torch.float8_e4m3fn
            kind = FLOATS.get(in_dtype, fp8)
            self.a, self.b = (torch.randn(rows, K, generator=generator).to(kind) for rows in (M, N))
        self.scale_a, self.scale_b = torch.empty(0), torch.empty(0)
        self.bias = torch.empty(0, dtype=FLOATS[out_dtype])
        a, b = self.a.double(), self.b.double()
        total, magnitude = a @ b.t(), a.abs() @ b.abs().t()
        # Every product is added with one rounding of f32, in some order; integers are exact until they become f32.
        error = magnitude * (2.0**-23 if in_dtype == "int8" else K * 2.0**-24)
        if self.scaled:
            unit = 1e-4 if in_dtype == "int8" else 1.0
            self.scale_a = (torch.rand(M, generator=generator) + 0.5) * unit
            self.scale_b = torch.rand(N, generator=generator) + 0.5
            scales = self.scale_a.double()[:, None] * self.scale_b.double()[None]
            total, error = total * scales, error * scales + total.abs() * scales * 2.0**-22
        if bias_name == "bias":
            self.bias = torch.randn(N, generator=generator).to(FLOATS[out_dtype])
            total = total + self.bias.double()
            error = error + total.abs() * 2.0**-23
        activation = activation or "none"
        self.expected = _ACTIVATIONS[activation](total)
        # No slope of an activation exceeds 1.13; exp2 and the division are within 2^-20 of the value.
        if activation in ("silu", "gelu"):
            error = error * 1.13 + (total.abs() + 1.0) * 2.0**-20
        self.error = error + self.expected.abs() * HALF_ULP[out_dtype] + 2.0**-24

    def output(self):
        """An output of the right shape; what is in it does not matter."""
        return torch.empty(self.M, self.N, dtype=FLOATS[self.out_dtype])

    def arguments(self, c):
        """What a preshuffled GEMM is called with."""
        return c, self.a, shuffle_weight(self.b), self.scale_a, self.scale_b, self.bias, self.M, self.N

    def check(self, c):
        """Fail with the worst element when one is off by more than rounding."""
        if c.numel() == 0:
            return
        excess = (c.double() - self.expected).abs() - self.error
        excess = excess.nan_to_num(nan=float("inf"))
        worst = excess.argmax().item()
        m, n = divmod(worst, self.N)
        assert excess.max() <= 0, f"C[{m}, {n}] = {c[m, n]}, expected {self.expected[m, n]} +- {self.error[m, n]}"
