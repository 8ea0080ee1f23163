# SPDX-License-Identifier: Apache-2.0
"""Options of the GEMM builders for waves of 32 lanes are honoured or refused, as `test_options` has it for the others.

The table has an entry for each parameter of each builder of gfx1100, gfx1201 and gfx1250, which a test insists on: a
value that is not the one of the builder's usual keywords, and what it does.
"""

import inspect
from dataclasses import dataclass, field
from typing import Any

import pytest
import torch
from test_options import CODE, HOST, Same, find, hashes

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.runtime.device import get_rocm_arch

TYPES = {
    "fp16": torch.float16, "f16": torch.float16, "bf16": torch.bfloat16, "f32": torch.float32, "i32": torch.int32,
    "int8": torch.int8, "uint8": torch.uint8, "int4": torch.int8, "uint4": torch.int8,
}  # fmt: skip
AT_RUN_TIME = Same("the launcher takes it, and no code depends on it")


@dataclass(frozen=True)
class Refused:
    """A value that is a ValueError which says so."""

    said: str


@dataclass(frozen=True)
class Change:
    """Another `value`, its effect, and what else the keywords have then and before, for which the option is there."""

    value: Any
    effect: Any = CODE
    beside: dict[str, Any] = field(default_factory=dict)


def changes(**given: Any) -> dict[str, Change]:
    return {name: one if isinstance(one, Change) else Change(one) for name, one in given.items()}


# -- builders: usual keywords, what each parameter does, and what the launcher is compiled for -------------------------

BLOCKS = {"reg_m": 1, "reg_n": 2, "reg_k": 2, "waves_m": 2, "waves_n": 2}
TILES = changes(reg_m=2, reg_n=1, reg_k=4, waves_m=1, waves_n=1, group_m=2)
ORDER = changes(lds_layout="kblock", stagger=2, persistent_wgs=3)
APART = changes(lda=288, ldb=288, ldc=80)
EXTENTS = changes(M=Change(96, HOST), N=128, K=512)
HALF = {"M": 64, "N": 64, "K": 256, **BLOCKS}
HALVES = {
    **EXTENTS,
    **TILES,
    **changes(in_dtype="fp16", out_dtype="f32", rounding="rs", a_k_pad=16, b_k_pad=16),
}
INTEGER = {**HALF, "K": 512, "reg_k": 4, "out_dtype": "i32", "stagger": 0}
INTEGERS = {
    **EXTENTS, **TILES, **ORDER, **APART,
    **changes(
        K=1024, reg_k=8, lda=544, ldb=544, in_dtype="uint8", out_dtype="f32", sched_hint=False, split_k=2,
        scale_mode=Change("row_col", beside={"out_dtype": "f32"}),
    ),
}  # fmt: skip
TDM = {"N": 64, "K": 512, "tile_m": 64, "tile_n": 64, "m_warp": 2, "n_warp": 2}
TDMS = {
    "M": Change(7, AT_RUN_TIME),
    **changes(
        N=128, K=1024, tile_m=32, tile_n=32, tile_k=256, m_warp=1, n_warp=1, num_buffers=3, l2_prefetch_distance=0,
        use_tdm_store=False, cluster_m=2, cluster_n=Change(2, beside={"N": 128}), wave_specialized_tdm=True,
        waves_per_eu=Change(2, beside={"tile_m": 256, "tile_n": 256, "N": 256}),
        inst_prefetch=Change(True, Refused("inst_prefetch other than its default is not written")),
        expert_sched_mode=Change(True, Refused("expert_sched_mode other than its default is not written")),
    ),
}  # fmt: skip
POINTERS = {name: Change(None, AT_RUN_TIME) for name in ("C", "A", "B", "m", "stream", "lda", "ldb", "ldc")}
SCALES = {name: Change(None, AT_RUN_TIME) for name in ("scale_a", "scale_b")}
LAUNCH = {"N": 64, "K": 512, "tile_m": 64, "tile_n": 64, "tile_k": 128, "m_warp": 2, "n_warp": 2, "num_buffers": 2}
LAUNCHES = {
    name: TDMS[name]
    for name in ("N", "K", "tile_m", "tile_n", "tile_k", "m_warp", "n_warp", "num_buffers", "cluster_m", "cluster_n")
}


def matrices(keywords):
    """C, A and B of `(C, A, B_T, stream, …)`, flattened."""
    kinds = [TYPES[keywords.get(one, "bf16")] for one in ("out_dtype", "in_dtype")]
    c, a = (torch.empty(4096, dtype=kind) for kind in kinds)
    scales = (None, torch.empty(96), torch.empty(128)) if keywords.get("scale_mode") == "row_col" else ()
    return c, a, a, *scales


def of_fp8(keywords):
    a = torch.empty(4096, dtype=torch.uint8)
    return torch.empty(4096, dtype=torch.bfloat16), a, a, torch.empty(96), torch.empty(256)


def moved(keywords):
    """What the launchers of `compile_wmma_gemm_tdm` and `compile_mxscale_gemm` are called with."""
    scaled = "data_format" in keywords
    kind = torch.uint8 if scaled else TYPES[keywords.get("in_dtype", "fp16")]
    out = TYPES[keywords.get("out_dtype") or ("f32" if scaled else keywords.get("in_dtype", "fp16"))]
    operand = torch.empty(4096, dtype=kind)
    return torch.empty(4096, dtype=out), operand, operand, *((operand, operand) if scaled else ()), 7, keywords["N"]


def by_pointers(keywords, names):
    """The arguments of a launch by pointers, in the order of `names`."""
    element = fx.Float16 if keywords.get("is_f16") or keywords.get("out_is_f16") else fx.BFloat16
    bytes_ = fx.BFloat16 if "is_f16" in names and not keywords.get("is_f16") else fx.Float16
    kinds = {"C": element, "A": bytes_ if "is_f16" in names else fx.Uint8}
    kinds["B"], scale = kinds["A"], fx.Float32 if "is_bsc" in names else fx.Uint8
    kinds |= {"scale_a": scale, "scale_b": scale}
    held = torch.empty(64)
    values = {name: flyc.from_c_void_p(kind, held.data_ptr(), assumed_align=16) for name, kind in kinds.items()}
    values |= {"m": 7, "stream": None, "lda": 1024, "ldb": 1024, "ldc": 128, "cluster_m": 1, "cluster_n": 1, **keywords}
    return [values.get(name, 0) for name in names]


RDNA = {
    "gfx1100": {
        "gemm.rdna3_f16_gemm.create_wmma_gemm_module": (
            HALF, {**HALVES, **ORDER, **APART, **changes(sched_hint=True)}, matrices,
        ),
        "gemm.rdna3_int8_gemm.create_wmma_int8_gemm_module": (
            {**INTEGER, "in_dtype": "int8"}, INTEGERS, matrices,
        ),
        "gemm.wmma_integers.create_wmma_integer_gemm_module": (
            {**INTEGER, "in_dtype": "int4"}, {**INTEGERS, **changes(in_dtype="uint4")},
            matrices,
        ),
    },
    "gfx1201": {
        "gemm.rdna_f16_gemm.create_wmma_gemm_module": (HALF, HALVES, matrices),
        "gemm.wmma_integers.create_wmma_integer_gemm_module": (
            {**INTEGER, "in_dtype": "int8"}, INTEGERS, matrices,
        ),
        "gemm.rdna_fp8_preshuffle_gemm.compile_fp8_gemm": (
            {"M": 64, "N": 128, "K": 256, "k_unroll": 1},
            {**EXTENTS, **changes(N=256, tile_m=16, tile_n=64, tile_k=64, k_unroll=2, group_m=2)},
            of_fp8,
        ),
    },
    "gfx1250": {
        "gemm.wmma_gemm_gfx1250.compile_wmma_gemm_tdm": (
            {**TDM, "tile_k": 64}, {**TDMS, **changes(in_dtype="bf16", out_dtype="f32", tile_k=128)}, moved,
        ),
        "gemm.gemm_fp8fp4_gfx1250.compile_mxscale_gemm": (
            {**TDM, "data_format": "fp8", "tile_k": 128, "use_tdm_store": False},
            {
                **TDMS,
                **changes(
                    data_format="fp4", out_dtype="bf16", split_k=2, use_tdm_store=True,
                    use_scale_opsel=Change(True, Refused("use_scale_opsel other than its default is not written")),
                    scale_load_path=Change("vgpr", Refused("scale_load_path 'vgpr' is not written")),
                ),
            },
            moved,
        ),
        "gemm.gemm_bf16_gfx1250.launch_gemm_bf16": (
            LAUNCH,
            {
                **LAUNCHES, **POINTERS,
                **changes(
                    K=Change(1024, HOST), is_f16=1,
                    tdm_balance=Change(1, Refused("tdm_balance other than its default is not written")),
                    wmma_b2b=Change(1, Refused("wmma_b2b other than its default is not written")),
                ),
            },
            by_pointers,
        ),
        "gemm.gemm_a8w4_mxscale_gfx1250.launch_gemm_a8w4_mxscale": (
            LAUNCH, {**LAUNCHES, **POINTERS, **SCALES, **changes(out_is_f16=1)}, by_pointers,
        ),
        "gemm.gemm_a8w8_gfx1250.launch_gemm_a8w8": (
            LAUNCH,
            {
                **LAUNCHES, **POINTERS, **SCALES,
                **changes(
                    out_is_f16=1, stride_ascale_k=Change(2, Refused("scales of blocks of K .* are not written")),
                    is_bsc=Change(True, Refused("scales of blocks of K .* are not written")),
                ),
            },
            by_pointers,
        ),
    },
}  # fmt: skip
TABLE = RDNA.get(get_rocm_arch().split(":")[0], {})
CASES = [(path, name) for path, (_, changed, _) in TABLE.items() for name in changed]
KNOWN: dict[tuple[str, str], dict[str, str]] = {}  # what usual keywords make, by builder
pytestmark = pytest.mark.skipif(not TABLE, reason="builders of waves of 32 lanes")


def parameters(path):
    """The names of a builder's parameters, or of a launcher's by pointers."""
    one = find(path)
    return list(inspect.signature(getattr(one, "jit", one)).parameters)


def code(path, keywords, folder):
    """Hashes of the instructions of the host and of the device."""
    arguments = TABLE[path][2]
    if arguments is by_pointers:
        names = parameters(path)
        return hashes(find(path).jit, by_pointers(keywords, names), folder)
    made = find(path)(**keywords)
    return hashes(made[0] if isinstance(made, tuple) else made, arguments(keywords), folder)


@pytest.mark.parametrize("path", TABLE)
def test_each_parameter_has_an_entry(path):
    assert sorted(name for name in TABLE[path][1] if name in parameters(path)) == sorted(parameters(path))


@pytest.mark.parametrize(("path", "name"), CASES)
def test_each_parameter_does_something(path, name, tmp_path):
    usual, changed, _ = TABLE[path]
    change = changed[name]
    before = {**usual, **change.beside}
    if change.effect is AT_RUN_TIME and change.value is None:
        return  # which `test_gfx1250_gemm` calls with other values
    if isinstance(change.effect, Refused):
        with pytest.raises(ValueError, match=change.effect.said):
            code(path, {**before, name: change.value}, tmp_path)
        return
    if (path, str(before)) not in KNOWN:
        KNOWN[path, str(before)] = code(path, before, tmp_path)
    was, now = KNOWN[path, str(before)], code(path, {**before, name: change.value}, tmp_path)
    if isinstance(change.effect, Same):
        assert now == was, f"{name}={change.value!r}: {change.effect.because}"
    else:
        assert now[change.effect] != was[change.effect], f"{name}={change.value!r} does not change {change.effect}"
