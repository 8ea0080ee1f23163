# SPDX-License-Identifier: Apache-2.0
"""The environment variables of this layer."""

from __future__ import annotations

from .environment import boolean, choice, integer, path, register, string

_GROUP = "runtime"

DEVICE = register(
    choice(
        "FLYDSL_DEVICE",
        ("hip", "cuda", "emulator"),
        default="",
        group=_GROUP,
        help="Run on an AMD GPU, an NVIDIA GPU or the emulator; unset: the first of them that there is.",
    )
)
HIP_LIBRARY = register(
    string("FLYDSL_HIP_LIBRARY", group=_GROUP, help="The HIP library (or the emulator's) to use, and no other.")
)
CUDA_LIBRARY = register(
    string("FLYDSL_CUDA_LIBRARY", group=_GROUP, help="The library of CUDA's driver to use, and no other.")
)
EMULATED_DEVICES = register(
    string(
        "FLYDSL_EMU_DEVICES",
        group=_GROUP,
        help="Architectures that the emulator presents, one device each: gfx942,gfx950. Unset: the target.",
    )
)
ROCM_PATH = register(
    string("ROCM_PATH", group=_GROUP, attribute="rocm_path", help="A ROCm installation to take the HIP library from.")
)
ARCH = register(
    string("ARCH", group=_GROUP, attribute="arch", help="The target architecture; means the same as FLYDSL_GPU_ARCH.")
)
GPU_ARCH = register(
    string(
        "FLYDSL_GPU_ARCH",
        group=_GROUP,
        attribute="gpu_arch",
        help="The target architecture, for code generation and for kernels that ask: gfx942.",
    )
)
HSA_OVERRIDE = register(
    string(
        "HSA_OVERRIDE_GFX_VERSION",
        group=_GROUP,
        attribute="hsa_override_gfx_version",
        help="ROCm's own override of the architecture, gfx942 or 9.4.2; weaker than the two above.",
    )
)
KIND = register(
    string("FLYDSL_RUNTIME_KIND", group=_GROUP, help="The device runtime's kind; unset: that of the device in use.")
)
CACHE_DIR = register(
    path("FLYDSL_RUNTIME_CACHE_DIR", default="~/.flydsl/cache", group=_GROUP, help="Where compiled artifacts are kept.")
)
ENABLE_CACHE = register(
    boolean("FLYDSL_RUNTIME_ENABLE_CACHE", default=True, group=_GROUP, help="Keep compiled artifacts on disk.")
)
RUN_ONLY = register(
    boolean(
        "FLYDSL_RUNTIME_RUN_ONLY", default=False, group=_GROUP, help="Only load artifacts from disk; never compile."
    )
)
PRINT_BUFFER_BYTES = register(
    integer(
        "FLYDSL_PRINT_BUFFER_BYTES",
        default=1 << 20,
        least=64,
        most=1 << 30,
        group=_GROUP,
        attribute="print_buffer_bytes",
        help="Device memory for what the kernels of one artifact print in one call; more is counted, not printed.",
    )
)
