# SPDX-License-Identifier: Apache-2.0
"""How a flash attention kernel divides its work."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from flydsl.runtime.device import get_rocm_arch

from ..common.arch import COMPUTE_UNITS, LDS_BYTES, MATRIX_CHIPS
from ..common.defaults import defaults
from .matrix import geometry

_USUAL_WAVES = 2  # of a SIMD
_LDS_OF_MORE = 128 * 1024  # bytes of LDS that hold two tiles of keys and values for more waves than that
_DUAL_WAVES = 8  # of a workgroup: two on a SIMD
_COPIES_OF_PATH = {"N128": 2, "N32": 1}
_TUNED_HEADS = (64, 128, 256)
_FEW_QUERIES, _SHORT_KEYS, _LONG_KEYS = 64, 1024, 2048


@dataclass(frozen=True)
class FlashConfig:
    """The shape of a workgroup's work.

    Attributes:
        waves: waves of a workgroup; each has query rows of its own, all share the tiles of keys and values.
        query_blocks: blocks of query rows that a wave computes side by side, of 32 rows on waves of 64 lanes, of 16 on
            waves of 32.
        kv_tile: keys in a tile, a multiple of 32.
        waves_per_eu: waves of a SIMD that the register allocation has to leave room for.
        stages: tiles of keys and values in LDS, 1 or 2. With one, waves wait until all have read it.
        stagger: the second half of the waves is a barrier behind the first, so that on each SIMD one wave computes
            weights while another adds weighted values. Needs two stages and an even number of waves.
        pipelined: a wave computes the weights of 32 keys while it multiplies for the scores of the 32 that follow and
            for the output of the 32 before. Needs waves of 64 lanes, two stages of 64 keys, and no stagger.
        setprio: a wave that computes scores goes before one that adds weighted values.
        lazy_rescale: references of rows are renewed where weights grow too large; else for every tile.
        reload_queries: the queries are read from memory (from its caches) again for each tile of keys, which leaves
            their registers to the output of large heads; values are then loaded behind the scores of the turn before
            theirs, since a wait for queries is one for all loads before them. Else queries stay in registers. Needs
            waves of 32 lanes.
        copies: of the body of the loop over tiles without masks, 1 or 2; not of the one that is `pipelined`.
        xcd_swizzle: each die gets a contiguous run of heads with all of their query rows, so that its L2 holds keys and
            values which it alone reads; else workgroups come in the order of the grid.

    Raises:
        ValueError: a number that the kernel has no variant for.
    """

    waves: int = 8
    query_blocks: int = 1
    kv_tile: int = 64
    waves_per_eu: int = 2
    stages: int = 1
    stagger: bool = False
    pipelined: bool = False
    setprio: bool = False
    lazy_rescale: bool = True
    xcd_swizzle: bool = False
    copies: int = 2
    reload_queries: bool = False

    def __post_init__(self) -> None:
        if not 1 <= self.waves <= 16:
            raise ValueError(f"flash attention: waves must be 1 to 16, got {self.waves!r}")
        if self.query_blocks not in (1, 2):
            raise ValueError(f"flash attention: query_blocks must be 1 or 2, got {self.query_blocks!r}")
        if self.kv_tile not in (32, 64):
            raise ValueError(f"flash attention: kv_tile must be 32 or 64, got {self.kv_tile!r}")
        if self.stages not in (1, 2):
            raise ValueError(f"flash attention: stages must be 1 or 2, got {self.stages!r}")
        if self.copies not in (1, 2):
            raise ValueError(f"flash attention: copies must be 1 or 2, got {self.copies!r}")
        if self.stagger and (self.stages < 2 or self.waves % 2):
            raise ValueError(
                "flash attention: stagger needs stages=2 and an even number of waves, "
                f"got stages={self.stages!r} and waves={self.waves!r}"
            )

        if self.pipelined and (self.stages, self.kv_tile, self.stagger) != (2, 64, False):
            raise ValueError(
                "flash attention: pipelined needs stages=2, kv_tile=64 and stagger=False, "
                f"got stages={self.stages!r}, kv_tile={self.kv_tile!r} and stagger={self.stagger!r}"
            )
        if self.pipelined and geometry().lanes != 64:
            raise ValueError("flash attention: pipelined is for waves of 64 lanes")
        if self.reload_queries and geometry().lanes != 32:
            raise ValueError("flash attention: reload_queries is for waves of 32 lanes")

    @property
    def threads(self) -> int:
        """Threads of a workgroup."""
        return self.waves * geometry().lanes

    @property
    def rows_per_wave(self) -> int:
        """Query rows of a wave."""
        return self.query_blocks * geometry().tile

    @property
    def block_m(self) -> int:
        """Query rows of a workgroup."""
        return self.waves * self.rows_per_wave


def check_head_dim(head_dim: Any) -> None:
    """Raise ValueError for a head size that the kernel has no variant for."""
    if isinstance(head_dim, bool) or not isinstance(head_dim, int) or head_dim not in range(64, 257, 32):
        raise ValueError(f"flash attention: head_dim must be a multiple of 32 from 64 to 256, got {head_dim!r}")


def usual_rows(head_dim: int = 128) -> int:
    """Query rows of eight waves with a block each; of large heads on waves of 32 lanes, of a wave for each block.

    Such a head has D / 16 blocks. With as many waves all threads have an equal part of each tile of keys and values,
    and a small one, which takes few registers.
    """
    tile = geometry().tile
    return head_dim if geometry().lanes == 32 and head_dim > 128 else 8 * tile


def default_config(head_dim: int, block_m: int | None = None) -> FlashConfig:
    """The configuration for a head size and a number of query rows of a workgroup.

    `block_m` is a block (32 rows; 16 where waves have 32 lanes) to `usual_rows`, which it is by default, and twice as
    many for heads of 64. The numbers are those of "attention" in `defaults.json`.

    On waves of 64: two waves on a SIMD with 32 rows each, since one computes weights while the other multiplies. One
    wave of 64 rows issues 4 to 5 % less, but does one after the other.

    From 4 waves and up to heads of 128 they are `pipelined`: two tiles in LDS, and one wave computes weights while it
    multiplies.

    Heads of 64 leave room for two blocks a wave and still two waves on a SIMD; a key or value read from LDS then serves
    both. That issues 10 % (gfx942) and 14 % (gfx950) less than one block a wave.

    From 160 on the registers of one wave (a block of output, queries, a tile's scores) leave no room for a second one
    on the SIMD: tiles of 32 keys. Few waves also take tiles of 32, since a thread's share of a tile of keys and values
    passes through its registers.

    A wave of 32 has 256 registers: 16 rows of 128 elements and tiles of 64 keys, or two blocks of 64 elements, fill
    them on gfx1201. Operands take twice as many on gfx1100: tiles of 32 keys. Heads from 160 on have their output in
    registers and read the queries again for each tile (`reload_queries`).
    """
    table = defaults("attention", "wave64" if geometry().lanes == 64 else get_rocm_arch().split(":")[0])
    usual, large, few = table["usual"], table["large_heads"], table["few_waves"]
    block_m = usual_rows(head_dim) if block_m is None else block_m
    if head_dim == 64 and block_m == 2 * usual_rows():
        return FlashConfig(**{**usual, **table["small_heads"]})
    waves = max(1, block_m // geometry().tile)
    if head_dim > 128:
        return FlashConfig(**{**large, "waves": min(waves, large["waves"])})
    waves = min(waves, usual["waves"])
    if waves <= few["waves"]:
        return FlashConfig(**{**usual, "waves": waves, "kv_tile": few["kv_tile"]})
    mixed = table["pipelined"] if geometry().lanes == 64 and usual["kv_tile"] == 64 else {}
    return FlashConfig(**{**usual, "waves": waves, **mixed})


def block_rows(arch: str, batch: int, num_heads: int, seq_len: int, head_dim: int = 128, bias: bool = False) -> int:
    """Query rows of a workgroup for a shape: `usual_rows`, which read keys and values least often, if there is work.

    Twice as many for heads of 64 without a bias, whose values would not fit the registers, if there is twice as much.
    Half as many where twice as many workgroups still find a compute unit each; fewer only where a sequence has not
    more rows. One wave of 64 lanes alone brings keys and values so slowly that a second one without rows is worth it.
    Of 32 lanes there are never less than half of the usual waves: what each brings of a tile passes through its
    registers, and these have no room for more.
    """
    units, usual = COMPUTE_UNITS.get(arch.split(":")[0], 256), usual_rows(head_dim)
    rows = usual if batch * num_heads * -(-seq_len // (usual // 2)) > units else usual // 2
    if head_dim == 64 and not bias and batch * num_heads * -(-seq_len // usual) > units:
        rows = 2 * usual
    least = 2 * geometry().tile if geometry().lanes == 64 else usual // 2
    while rows > least and seq_len <= rows // 2:
        rows //= 2
    return rows


def work_class(arch: str, heads: int, queries: int, keys: int) -> tuple[str, str]:
    """The class of a problem in the table of defaults: how much work there is, and how long each piece of it is.

    Args:
        arch: the architecture.
        heads: of all sequences, times the parts of the keys.
        queries, keys: of a sequence.

    Returns "rows" for sequences of up to 64 queries, else "few", "some" or "many" blocks of 32 query rows (up to half a
    block for each SIMD, up to two, more); and "short" or "long" for up to 1024 keys and more. Much work with more than
    2048 keys is "longest", which the table has nothing for: there keys and values come from beyond the caches, and more
    rows that share them count for more.
    """
    simds = 4 * COMPUTE_UNITS[arch]
    blocks = heads * -(-queries // 32)
    load = "few" if 2 * blocks <= simds else "some" if blocks <= 2 * simds else "many"
    load = "rows" if queries <= _FEW_QUERIES else load
    if load == "many" and keys > _LONG_KEYS:
        return load, "longest"
    return load, "short" if keys <= _SHORT_KEYS else "long"


def found_class(arch: str, found: dict[str, Any]) -> tuple[str, str]:
    """The class of a row of "attention_shapes": that of the first of the shapes that were looked at."""
    batch, heads, queries, keys = found["shapes"][0]
    return work_class(arch, batch * heads, queries, keys)


@lru_cache(maxsize=1024)
def shape_config(
    arch: str, heads: int, queries: int, keys: int, head_dim: int, causal: bool, bias: bool = False
) -> FlashConfig:
    """The configuration for a shape: what `defaults.json` has for its class, else that of the rules.

    Found were those of "attention_shapes" by predicted time (`tools/bench/attention_defaults.py`), for heads of 64, 128
    and 256; heads between them have what the next larger ones have. The rules (`default_config` with `block_rows`)
    choose where there is a `bias`, which takes registers that these need, on waves of 32, and where a sequence of more
    than 64 rows would fill less than half of a workgroup.

    Args:
        arch: the architecture.
        heads: of all sequences, times the parts of the keys.
        queries, keys: of a sequence.
        head_dim, causal, bias: as in `flydsl_flash_attn_func`.
    """
    name = arch.split(":")[0]
    if bias or name not in MATRIX_CHIPS:
        return default_config(head_dim, block_rows(arch, 1, heads, queries, head_dim, bias))
    wanted = next(one for one in _TUNED_HEADS if head_dim <= one), causal, work_class(name, heads, queries, keys)
    for found in defaults("attention_shapes", name):
        if (found["head_dim"], found["causal"], found_class(name, found)) == wanted:
            config = FlashConfig(**found["config"])
            if queries > config.block_m // 2 or queries <= _FEW_QUERIES:
                return config
    return default_config(head_dim, block_rows(arch, 1, heads, queries, head_dim))


def dual_wave(
    config: FlashConfig,
    *,
    setprio: bool = True,
    stagger: bool = True,
    lazy_rescale: bool = True,
    xcd_swizzle: bool = False,
) -> FlashConfig:
    """The configuration with the schedule of two groups of waves, as far as asked for (`FlashConfig`).

    It is for two tiles in LDS, so for gfx950, and for two waves of 32 rows on a SIMD, so for eight; others have none of
    it but `lazy_rescale` and `xcd_swizzle`. With all of it each wave mixes weights and products (`pipelined`), so that
    both fill the other's gaps however they stand to each other: neither stagger nor priorities are needed then.
    """
    if config.waves != _DUAL_WAVES or config.query_blocks != 1:
        return eager(replace(config, xcd_swizzle=xcd_swizzle), lazy_rescale)
    pipelined = setprio and stagger and lazy_rescale
    return replace(
        config,
        stages=2 if setprio or stagger else 1,
        stagger=stagger and not pipelined,
        pipelined=pipelined,
        setprio=setprio and not pipelined,
        lazy_rescale=lazy_rescale,
        xcd_swizzle=xcd_swizzle,
    )


def eager(config: FlashConfig, lazy_rescale: bool) -> FlashConfig:
    """The configuration with or without lazy rescaling; without it there is no loop to pipeline."""
    if lazy_rescale or not config.pipelined:
        return replace(config, lazy_rescale=lazy_rescale)
    return replace(config, lazy_rescale=False, pipelined=False, stages=1)


def configuration(head_dim: int, num_heads: int, block_m: int | None, waves_per_eu: int | None) -> FlashConfig:
    """The configuration that a builder's caller asks for.

    `block_m`: query rows of a workgroup; None for `usual_rows` of the head size from 32 heads on, else half as many.
    `waves_per_eu`: None and 2, the default of callers, stand for that of the head size, which is 1 from 160 on, where
    two waves would not fit.

    Raises ValueError for numbers that there is no configuration for.
    """
    check_head_dim(head_dim)
    usual = usual_rows(head_dim) // (1 if num_heads >= 32 else 2)
    config = default_config(head_dim, usual if block_m is None else block_m)
    if block_m is not None and config.block_m != block_m:
        raise ValueError(f"flash attention: block_m {block_m!r} is not supported for head_dim {head_dim}")
    return with_waves(config, waves_per_eu)


def with_waves(config: FlashConfig, waves_per_eu: int | None) -> FlashConfig:
    """The configuration for which registers are allocated for so many waves of a SIMD, see `configuration`.

    More than two are not `pipelined` where LDS has no room for two tiles of so many.

    Raises ValueError for what is no number of waves.
    """
    if waves_per_eu is None or waves_per_eu == _USUAL_WAVES:
        return config
    if isinstance(waves_per_eu, bool) or not isinstance(waves_per_eu, int) or waves_per_eu < 1:
        raise ValueError(f"flash attention: waves_per_eu must be a number of waves, got {waves_per_eu!r}")
    config = replace(config, waves_per_eu=waves_per_eu)
    if config.pipelined and waves_per_eu > _USUAL_WAVES and LDS_BYTES[get_rocm_arch().split(":")[0]] < _LDS_OF_MORE:
        return replace(config, pipelined=False, stages=1)  # two tiles leave no room in LDS for more waves
    return config


def check_daz(daz: bool) -> None:
    """Refuse what no variant has: weights below 2^-126, which the instruction for 2^x gives as zero."""
    if not daz:
        raise ValueError("flash attention: daz=False is not supported: weights below 2^-126 are always zero")


def check_math(unsafe_fp_math: bool, fast_fp_math: bool) -> None:
    """Refuse what no variant has: another arithmetic than the one that there is."""
    for name, allowed in (("unsafe_fp_math", unsafe_fp_math), ("fast_fp_math", fast_fp_math)):
        if not allowed:
            raise ValueError(
                f"flash attention: {name}=False is not supported: 2^x, log2 and reciprocals are always the "
                "instructions of the device, and rows of several tiles are added up in the order of the tiles"
            )


def by_path(config: FlashConfig, path_tag: str) -> FlashConfig:
    """The configuration with the loop of a name: "auto" for that of `config`.

    "N32" is a loop of one tile a turn and "N128" one of two, neither of them pipelined.

    Raises ValueError for another name.
    """
    if path_tag == "auto":
        return config
    if path_tag not in _COPIES_OF_PATH:
        named = ", ".join(("auto", *_COPIES_OF_PATH))
        raise ValueError(f"flash attention: path_tag is one of {named}, got {path_tag!r}")
    return replace(config, copies=_COPIES_OF_PATH[path_tag], pipelined=False, stages=1)
