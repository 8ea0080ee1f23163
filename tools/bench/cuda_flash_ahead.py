#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""FlashAttention-4 compiled ahead, for a machine to which its compiler does not fit.

    python3 cuda_flash_ahead.py pack FOLDER       # anywhere: a library for each head size and mask, 0.1 MB each
    FLYDSL_BENCH_FLASH=FOLDER python3 cuda_attention.py run build/cuda/attention out.json     # on the GPU

The compiler of CuTe DSL is a wheel of 92 MB, and what it makes of a kernel is an object of 0.1 MB. FlashAttention-4
compiles without a GPU, of tensors that are none (torch's FakeTensorMode). To pack needs a C compiler and `python3 -m
pip install flash-attn-4==4.0.0b36 'nvidia-cutlass-dsl[cu13]' triton torch`; to run, torch for CUDA 13 and
`apache-tvm-ffi`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import cuda_ahead

HEADS = (64, 128)


def attention(folder: Path, head_dim: int, causal: bool) -> Callable[[Any], Any]:
    """A call of the forward pass of a folder, with the LSE; what the folder has not fails at the first."""
    path, scale = folder / _name(head_dim, causal), head_dim**-0.5
    # Offsets and lengths of sequences, pages, a window, sinks, blocks that are left out, and what is for other GPUs.
    rest = (*(None,) * 9, (None, None), None, None)
    return lambda given: cuda_ahead.loaded(path)(given.q, given.k, given.v, given.out, given.lse, scale, *rest)


def pack(folder: Path) -> None:
    """Compile the forward pass for heads of each size, without a mask and with the causal one, into a folder."""
    cuda_ahead.pack(
        folder,
        "flash-attn-4",
        _kernels(),
        lambda cache: {
            "FLASH_ATTENTION_ARCH": "sm_90",
            "FLASH_ATTENTION_NUM_SMS": "132",
            "FLASH_ATTENTION_CUTE_DSL_CACHE_ENABLED": "1",
            "FLASH_ATTENTION_CUTE_DSL_CACHE_DIR": cache,
        },
    )


def _kernels() -> Iterator[tuple[str, Callable[[], None]]]:
    """The library of each kernel, and what has FlashAttention-4 compile it."""
    for head_dim in HEADS:
        for causal in (False, True):
            yield _name(head_dim, causal), functools.partial(_compile, head_dim, causal)


def _name(head_dim: int, causal: bool) -> str:
    return f"flash-{head_dim}-{'causal' if causal else 'full'}.so"


def _compile(head_dim: int, causal: bool) -> None:
    """Have FlashAttention-4 put an object into its cache."""
    import torch
    from flash_attn.cute.interface import _flash_attn_fwd
    from torch._subclasses.fake_tensor import FakeTensorMode

    with FakeTensorMode():
        shape = (1, 4096, 16, head_dim)
        q, k, v, out = (torch.empty(shape, dtype=torch.bfloat16, device="cuda") for _ in range(4))
        lse = torch.empty((1, 16, 4096), dtype=torch.float32, device="cuda")
        _flash_attn_fwd(q, k, v, causal=causal, return_lse=True, out=out, lse=lse)


if __name__ == "__main__":
    cuda_ahead.main(__doc__, pack)
