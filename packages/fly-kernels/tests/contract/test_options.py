# SPDX-License-Identifier: Apache-2.0
"""Options are honoured or refused: each parameter of a builder changes the code, or is an error that says why.

The table has an entry for each parameter of each builder of row kernels and of attention, which a test insists on: a
value that is not the default, and what it does. CODE: the instructions differ. HOST: those of the host differ, which
computes the grid and checks the arguments. An error and its text: it is refused. SAME: the instructions do not differ,
and the entry says why.
"""

import hashlib
import importlib
import inspect
import struct
from dataclasses import dataclass

import pytest
import torch

import flydsl.compiler as flyc
from flydsl.kernels.attention.rope_config import RopeConfig
from flydsl.kernels.common.row_plan import RowConfig
from flydsl.kernels.common.workgroup_config import WorkgroupConfig
from flydsl.runtime.device import get_rocm_arch

CODE, HOST = "the kernel", "the host"
AMDGPU = 224  # a machine of the ELF format
N = 2048
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "fp8": torch.int8, "int8": torch.int8}


@dataclass(frozen=True)
class Same:
    """A value that changes no instruction, and why."""

    because: str


# -- row kernels -------------------------------------------------------------------------------------------------------

MORE = RowConfig(elements=32)  # than any default
LENGTH = {"N": (N + 1, CODE)}
DTYPE = {"dtype_str": ("f16", CODE)}
WEIGHT = {"weight_dtype_str": ("f32", CODE)}
CONFIG = {"config": (MORE, CODE)}
EPS = {"eps": (1e-3, CODE)}
QUANT = {"quant_dtype_str": ("fp8", ValueError, "quant_dtype_str")}
STATS = {"store_stats": (True, CODE)}
BLOCK = {"BLOCK_THREADS": (512, CODE)}
NORM = {**LENGTH, **DTYPE, **WEIGHT, **CONFIG}
PROGRAMS = {"num_programs": (3, HOST)}
CODES = {"quant_dtype_str": ("int8", CODE)}
WORKGROUP = {"config": (WorkgroupConfig(128), CODE)}

ROWS = {"N": N, "dtype_str": "bf16"}
BUILDERS = {
    "norm.softmax_kernel.build_softmax_module": (ROWS, {**LENGTH, **DTYPE, **CONFIG}),
    "norm.softmax_bwd_kernel.build_softmax_bwd_module": (ROWS, {**LENGTH, **DTYPE, **CONFIG}),
    "norm.layernorm_kernel.build_layernorm_module": (ROWS, {**NORM, **STATS, **EPS, **BLOCK}),
    "norm.layernorm_kernel.build_fused_add_layernorm_module": (ROWS, {**NORM, **STATS, **EPS}),
    "norm.layernorm_kernel.build_layernorm_dynamicquant_module": (ROWS, {**NORM, **EPS, **QUANT}),
    "norm.layernorm_kernel.build_layernorm_smoothquant_module": (ROWS, {**NORM, **EPS, **QUANT}),
    "norm.layernorm_kernel.build_fused_add_layernorm_dynamicquant_module": (ROWS, {**NORM, **EPS, **QUANT}),
    "norm.layernorm_kernel.build_fused_add_layernorm_smoothquant_module": (ROWS, {**NORM, **EPS, **QUANT}),
    "norm.layernorm_bwd_kernel.build_layernorm_bwd_module": (ROWS, NORM),
    "norm.layernorm_bwd_kernel.build_fused_add_layernorm_bwd_module": (ROWS, NORM),
    "norm.rmsnorm_kernel.build_rmsnorm_module": (ROWS, {**NORM, "store_rstd": (True, CODE), **EPS, **BLOCK}),
    "norm.rmsnorm_kernel.build_fused_add_rmsnorm_module": (ROWS, {**NORM, "store_rstd": (True, CODE), **EPS}),
    "norm.rmsnorm_kernel.build_rmsnorm_dynamicquant_module": (ROWS, {**NORM, **EPS, **QUANT}),
    "norm.rmsnorm_kernel.build_rmsnorm_smoothquant_module": (ROWS, {**NORM, **EPS, **QUANT}),
    "norm.rmsnorm_kernel.build_fused_add_rmsnorm_dynamicquant_module": (ROWS, {**NORM, **EPS, **QUANT}),
    "norm.rmsnorm_kernel.build_fused_add_rmsnorm_smoothquant_module": (ROWS, {**NORM, **EPS, **QUANT}),
    "norm.rmsnorm_bwd_kernel.build_rmsnorm_bwd_module": (ROWS, NORM),
    "norm.rmsnorm_bwd_kernel.build_fused_add_rmsnorm_bwd_module": (ROWS, NORM),
    "norm.rmsnorm_bwd_kernel.build_rmsnorm_bwd_two_stage_module": ({**ROWS, "num_programs": 2}, {**NORM, **PROGRAMS}),
    "norm.rmsnorm_bwd_kernel.build_fused_add_rmsnorm_bwd_two_stage_module": (
        {**ROWS, "num_programs": 2},
        {**NORM, **PROGRAMS},
    ),
    "quant.per_token_quant_kernel.build_per_token_quant_module": (ROWS, {**LENGTH, **DTYPE, **CODES, **CONFIG}),
    "quant.per_tensor_quant_kernel.build_per_tensor_quant_module": (
        ROWS,
        {**LENGTH, **DTYPE, **CODES, "static_scale": (True, CODE), **CONFIG},
    ),
    "quant.per_block_quant_kernel.build_per_block_quant_module": (
        ROWS,
        {**LENGTH, **DTYPE, **CODES, "block": (64, CODE), **WORKGROUP},
    ),
    "quant.per_block2d_quant_kernel.build_per_block2d_quant_module": (
        ROWS,
        {"N": (N + 8, CODE), **DTYPE, **CODES},
    ),
    "elementwise.argmax_kernel.build_argmax_module": (ROWS, {**LENGTH, **DTYPE, **CONFIG}),
    "elementwise.row_reduce_kernel.build_row_reduce_module": (
        {**ROWS, "operation": "sum"},
        {**LENGTH, **DTYPE, "operation": ("max", CODE), "out_dtype_str": ("f32", CODE), **CONFIG},
    ),
    "elementwise.gated_kernel.build_gated_module": (ROWS, {**LENGTH, **DTYPE, "activation": ("relu", CODE), **CONFIG}),
    "elementwise.gated_kernel.build_gated_bwd_module": (
        ROWS,
        {**LENGTH, **DTYPE, "activation": ("relu", CODE), **CONFIG},
    ),
    "elementwise.pointwise_kernel.build_unary_module": (
        {"name": "relu", "dtype_str": "bf16"},
        {"name": ("silu", CODE), **DTYPE, **WORKGROUP},
    ),
    "elementwise.pointwise_kernel.build_unary_bwd_module": (
        {"name": "relu", "dtype_str": "bf16"},
        {"name": ("silu", CODE), **DTYPE, **WORKGROUP},
    ),
    "elementwise.pointwise_kernel.build_binary_module": (
        {"name": "add", "dtype_str": "bf16"},
        {"name": ("mul", CODE), **DTYPE, **WORKGROUP},
    ),
    "attention.fused_rope_cache_kernel.build_fused_rope_cache_module": (
        {"head_dim": 64, "num_q_heads": 8, "num_kv_heads": 2, "flash_layout": False},
        {
            "head_dim": (128, CODE),
            "rotary_dim": (32, ValueError, "rotary_dim 32 is not supported"),
            "num_q_heads": (4, CODE),
            "num_kv_heads": (1, CODE),
            "block_size": (32, CODE),
            "is_neox": (False, ValueError, "is_neox=False"),
            "flash_layout": (True, CODE),
            "dtype_str": ("f16", CODE),
            "apply_scale": (True, CODE),
            "reuse_freqs_front_part": (False, CODE),
            "pos_dtype": ("i64", CODE),
            "config": (RopeConfig(threads=128), CODE),
            "round_each_operation": (True, CODE),
        },
    ),
}

# -- attention ---------------------------------------------------------------------------------------------------------

ANY_LENGTHS = Same("the kernel takes queries and keys of different lengths in any case")
GENERIC = {
    "num_heads": (8, CODE),
    "head_dim": (128, CODE),
    "causal": (True, CODE),
    "dtype_str": ("f16", CODE),
    "num_kv_heads": (2, CODE),
    "daz": (False, ValueError, "daz=False is not supported"),
    "cross_seqlen": (True, ANY_LENGTHS),
    "varlen": (True, CODE),
    "paged": (True, NotImplementedError, "paged is not supported"),
    "kv_cache_layout": ("vectorized", NotImplementedError, "kv_cache_layout is not supported"),
    "return_lse": (True, CODE),
}
ATTENTION = {
    "attention.flash_attn_generic.build_flash_attn_func_module_primary": (
        {"num_heads": 4, "head_dim": 64, "causal": False, "dtype_str": "bf16"},
        {
            **GENERIC,
            "sm_scale": (0.3, CODE),
            "waves_per_eu": (4, CODE),
            "flat_work_group_size": (512, ValueError, "take 256 threads"),
            "block_m": (64, CODE),
            "unsafe_fp_math": (False, ValueError, "unsafe_fp_math=False is not supported"),
            "fast_fp_math": (False, ValueError, "fast_fp_math=False is not supported"),
            "path_tag": ("N32", CODE),
            "cu_seqlens_q": (torch.zeros(2), ValueError, "argument of the launch"),
            "cu_seqlens_kv": (torch.zeros(2), ValueError, "argument of the launch"),
            "skip_kv_pad_mask": (True, CODE),
        },
    ),
    "attention.swa_gfx950.build_gqa_attn": (
        {"ATTN_B": 1, "ATTN_H": 4, "ATTN_H_KV": 4, "ATTN_D": 64},
        {
            "ATTN_B": (2, HOST),
            "ATTN_H": (8, CODE),
            "ATTN_H_KV": (2, CODE),
            "ATTN_D": (128, CODE),
            "waves_per_eu": (4, CODE),
            "sliding_window": ((64, 0), CODE),
        },
    ),
}
DUAL_WAVE = {
    "attention.flash_attn_gfx950.build_flash_attn_dualwave_swp_module": (
        {"num_heads": 4, "head_dim": 64, "causal": False},
        {
            **GENERIC,
            "waves_per_eu": (4, CODE),
            "dualwave_swp_lazy_rescale": (False, CODE),
            "dualwave_swp_setprio": (False, CODE),
            "dualwave_swp_debug_lazy_counts": (True, CODE),
            "dualwave_swp_enable_stagger": (False, CODE),
            "num_kv_splits": (2, CODE),
            "has_bias": (True, CODE),
            "has_alibi": (True, CODE),
            "has_sink": (True, CODE),
        },
    ),
}

# -- the code ----------------------------------------------------------------------------------------------------------


def find(path):
    module, _, name = path.rpartition(".")
    return getattr(importlib.import_module(f"flydsl.kernels.{module}"), name)


def sections(image, offset, name):
    """The contents of the sections of an ELF file of this name."""
    (table,) = struct.unpack_from("<Q", image, offset + 0x28)
    size, count, names = struct.unpack_from("<HHH", image, offset + 0x3A)
    headers = [struct.unpack_from("<IIQQQQ", image, offset + table + index * size) for index in range(count)]
    strings = offset + headers[names][4]
    for at, _, _, _, start, length in headers:
        begin = strings + at
        if image[begin : image.index(b"\0", begin)].decode() == name:
            yield image[offset + start : offset + start + length]


def code_of(launch, keywords, tmp_path):
    """Hashes of the instructions of the host and of the device."""
    names = [name for name in inspect.signature(launch).parameters if name != "stream"]
    return hashes(launch, [argument(name, keywords, names) for name in names], tmp_path)


def hashes(launch, arguments, tmp_path):
    """Hashes of the instructions of the host and of the device, of a launcher that is compiled for arguments."""
    path = flyc.compile.only(launch, *arguments).export(tmp_path / f"{len(list(tmp_path.iterdir()))}.so")
    image = path.read_bytes()
    inner = image.index(b"\x7fELF", 1)
    while struct.unpack_from("<H", image, inner + 18)[0] != AMDGPU:
        inner = image.index(b"\x7fELF", inner + 4)
    return {
        side: hashlib.sha256(b"".join(sections(image, offset, ".text"))).hexdigest()
        for side, offset in ((HOST, 0), (CODE, inner))
    }


def argument(name, keywords, names):
    """What a launcher may be called with for one of its parameters, `names`; only types and ranks count."""
    kind = DTYPES[keywords.get("dtype_str") or "bf16"]
    weights = DTYPES[keywords.get("weight_dtype_str") or keywords.get("dtype_str") or "bf16"]
    columns = keywords.get("N", N)
    if name in ("m_in", "count", "num_tokens", "batch", "seq_len", "seq_len_kv", "seq_len_q", "block_table_stride"):
        return 4
    if name.endswith("_stride1"):
        return 64 * 8
    if name in ("Gamma", "Beta", "XScale"):
        return torch.empty(columns, dtype=weights)
    if name in ("Mean", "Rstd", "YScale", "Scale", "DGamma", "DBias", "DWeight", "Partial", "KScale", "VScale"):
        return torch.empty(4 * N, dtype=torch.float32)
    if name in ("LSE", "Workspace", "DebugCounts", "AlibiSlopes", "Sink"):
        return torch.empty(4 * N, dtype=torch.float32)
    if name == "Index":
        return torch.empty(4, dtype=torch.int64)
    if name in ("CuSeqQ", "CuSeqKv", "BlockTable", "SlotMapping"):
        return torch.empty(4, dtype=torch.int32)
    if name == "Positions":
        return torch.empty(4, dtype=torch.int64 if keywords.get("pos_dtype") == "i64" else torch.int32)
    if name in ("KeyCache", "ValueCache") and keywords.get("apply_scale"):
        return torch.empty(4 * N, dtype=torch.uint8)
    if name == "Output" and {"YScale", "Scale"} & set(names):  # of codes
        return torch.empty(4 * columns, dtype=torch.int8)
    if name == "Y" and "operation" in keywords:
        return torch.empty(4, dtype=DTYPES[keywords.get("out_dtype_str") or keywords["dtype_str"]])
    return torch.empty(4 * columns, dtype=kind)


def table():
    """(builder, its usual keywords, what each parameter does) of the target."""
    arch = get_rocm_arch().split(":")[0]
    builders = {} if arch == "gfx950" else dict(BUILDERS)  # whose code there is that of gfx942
    if arch in ("gfx942", "gfx950", "gfx1100", "gfx1201"):
        builders |= ATTENTION
    if arch == "gfx950":
        builders |= DUAL_WAVE
    return builders


TABLE = table()


@pytest.mark.parametrize("path", TABLE)
def test_each_parameter_has_an_entry(path):
    assert sorted(TABLE[path][1]) == sorted(inspect.signature(find(path)).parameters)


@pytest.mark.parametrize("path", TABLE)
def test_each_parameter_does_something(path, tmp_path):
    usual, changes = TABLE[path]
    build = find(path)
    before = code_of(build(**usual), usual, tmp_path)
    for name, (value, effect, *said) in changes.items():
        keywords = {**usual, name: value}
        if said:
            with pytest.raises(effect, match=said[0]):
                build(**keywords)
            continue
        after = code_of(build(**keywords), keywords, tmp_path)
        if isinstance(effect, Same):
            assert after == before, f"{name}={value!r}: {effect.because}"
        else:
            assert after[effect] != before[effect], f"{name}={value!r} does not change {effect}"
