# SPDX-License-Identifier: Apache-2.0
"""gfx1250's tensor data mover: boxes of tensors against slices of arrays, and what sanitizers say of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from flydsl.emulator import sanitize
from flydsl.emulator.device import EmulatorError
from rdna.harness import Runner

RNG = np.random.default_rng(77)
ARCH = "gfx1250"
LDS_BYTES = 4096


def descriptor(
    size: Sequence[int],
    strides: Sequence[int],
    tile: Sequence[int],
    item: int,
    *,
    lds: int = 0,
    padding: tuple[int, int] = (0, 0),
    base: str = "s4",
    rows: Sequence[int] = (),
    index_bits: int = 32,
    mask: int = 0,
    offset: int = 0,
    enabled: int = 1,
) -> str:
    """Code that puts a descriptor into s[20:39]; all sequences are innermost first, strides those of dimension 1 on."""
    size, tile = [*size, 0, 0, 0, 0][:5], [*tile, 0, 0, 0, 0][:5]
    strides = [*strides, 0, 0, 0, 0][:4]
    interval, amount = padding  # dwords
    mode = mask | (item.bit_length() - 1) << 16
    if interval:
        mode |= 1 << 20 | (interval.bit_length() - 2) << 22 | (amount - 1) << 25
    first = enabled | (1 << 31 if rows else 0) | (1 << 30 if rows and index_bits == 32 else 0)
    words: list[int | str] = [
        first,
        lds,
        "low",
        "high",
        mode,
        size[0] << 16,
        size[0] >> 16 | size[1] << 16,
        size[1] >> 16 | tile[0] << 16,
        tile[1] | tile[2] << 16,
        strides[0],
        strides[0] >> 32 & 0xFFFF | strides[1] << 16,
        strides[1] >> 16,
        size[2],
        size[3],
        strides[2],
        strides[2] >> 32 & 0xFFFF | tile[3] << 16,
        strides[3],
        strides[3] >> 32 & 0xFFFF | size[4] << 16,
        size[4] >> 16 | tile[4] << 16,
        0,
    ]
    if rows:
        numbers = [*rows, *[0] * 16]
        if index_bits == 16:
            numbers = [low | high << 16 for low, high in zip(numbers[::2], numbers[1::2], strict=False)]
        words[12:20] = numbers[:8] if index_bits == 32 else [*numbers, *[0] * 8][:8]
    number = int(base[1:])
    lines = [
        f"s_add_co_u32 s22, s{number}, {offset}",
        f"s_add_co_ci_u32 s23, s{number + 1}, 0",
        "s_or_b32 s23, s23, 0x80000000",
    ]
    lines += [
        f"s_mov_b32 s{20 + i}, {word & 0xFFFFFFFF:#x}" for i, word in enumerate(words) if not isinstance(word, str)
    ]
    return "\n".join(lines)


TWO = "s[20:23], s[24:31]"
FOUR = "s[20:23], s[24:31], s[32:35], s[36:39]"
#: every lane reads its share of LDS, 32 words each
READ = "\n".join(f"v_mov_b32 v90, {128 * i}\nv_add_nc_u32 v90, v90, v1\nds_load_b32 v{40 + i}, v90" for i in range(32))
#: and fills it with a pattern before
FILL = "\n".join(f"v_mov_b32 v90, {128 * i}\nv_add_nc_u32 v90, v90, v1\nds_store_b32 v90, v91" for i in range(32))
POISON = 0x5A5A5A5A


def load(run: Runner, text: str, groups: str, tensor: np.ndarray) -> np.ndarray:
    """The bytes of LDS after a load of a box of `tensor`."""
    padded = np.zeros(-(-tensor.nbytes // 128) * 32, np.uint32)
    padded.view(np.uint8)[: tensor.nbytes] = tensor.reshape(-1).view(np.uint8)
    code = (
        f"v_mov_b32 v91, {POISON:#x}\n{FILL}\ns_wait_dscnt 0\n{text}\ntensor_load_to_lds {groups}\ns_wait_tensorcnt 0\n"
    )
    out = run(code + READ + "\ns_wait_dscnt 0", ARCH, 32, padded.reshape(-1, 32), 32)
    return np.ascontiguousarray(out.reshape(-1)).view(np.uint8)


def expected(box: np.ndarray, lds: int = 0, padding: tuple[int, int] = (0, 0)) -> np.ndarray:
    """LDS with the bytes of a box in it, padding left as it was."""
    out = np.full(LDS_BYTES // 4, POISON, np.uint32).view(np.uint8)
    raw = np.ascontiguousarray(box).reshape(-1).view(np.uint8)
    interval, amount = 4 * padding[0], 4 * padding[1]
    for at, byte in enumerate(raw):
        out[lds + at + (at // interval * amount if interval else 0)] = byte
    return out


def cut(tensor: np.ndarray, tile: Sequence[int], at: Sequence[int], size: Sequence[int]) -> np.ndarray:
    """A box of a tensor, outermost first, with zeros beyond `size`."""
    whole = np.zeros([a + t for a, t in zip(at, tile, strict=True)], tensor.dtype)
    inside = tuple(slice(0, min(n, a + t)) for n, a, t in zip(size, at, tile, strict=True))
    known = tensor[inside]
    whole[tuple(slice(0, n) for n in known.shape)] = known
    return whole[tuple(slice(a, None) for a in at)]


@pytest.mark.parametrize(
    ("shape", "tile", "at", "kind", "padding"),
    [
        ((12, 20), (8, 16), (2, 3), np.uint16, (0, 0)),
        ((12, 20), (8, 16), (9, 12), np.uint16, (8, 4)),  # beyond both ends
        ((6, 40), (4, 32), (1, 8), np.uint8, (8, 1)),
        ((9, 10), (5, 8), (3, 2), np.uint64, (16, 3)),
        ((3, 5, 8), (2, 3, 4), (1, 2, 4), np.uint32, (0, 0)),
        ((2, 3, 4, 6), (2, 2, 3, 4), (0, 1, 2, 1), np.uint16, (2, 2)),
        ((2, 2, 3, 3, 4), (2, 1, 2, 2, 4), (0, 1, 1, 1, 0), np.uint16, (0, 0)),
        ((30,), (16,), (10,), np.uint32, (4, 1)),
    ],
)
def test_loads(
    run: Runner,
    shape: tuple[int, ...],
    tile: tuple[int, ...],
    at: tuple[int, ...],
    kind: type,
    padding: tuple[int, int],
) -> None:
    tensor = RNG.integers(0, 2**8, shape).astype(kind) * kind(3)
    item = tensor.itemsize
    strides = [stride // item for stride in tensor.strides]
    start = sum(a * s for a, s in zip(at, strides, strict=True)) * item
    left = [n - a for n, a in zip(shape, at, strict=True)]
    text = descriptor(left[::-1], strides[:-1][::-1], tile[::-1], item, lds=64, padding=padding, offset=start)
    with sanitize():
        got = load(run, text, TWO if len(shape) <= 2 else FOUR, tensor)
    np.testing.assert_array_equal(got, expected(cut(tensor, tile, at, shape), 64, padding))


@pytest.mark.parametrize(("rows", "bits"), [((5, 0, 7, 5), 32), ((1, 9, 3, 2, 2, 8, 11, 4, 6, 0), 16)])
def test_gathers(run: Runner, rows: tuple[int, ...], bits: int) -> None:
    tensor = RNG.integers(0, 2**16, (10, 12)).astype(np.uint16)
    text = descriptor((12, 10), (12,), (8, len(rows)), 2, padding=(4, 2), rows=rows, index_bits=bits)
    with sanitize():
        got = load(run, text, FOUR, tensor)
    box = np.array([tensor[row, :8] if row < 10 else np.zeros(8, np.uint16) for row in rows])
    np.testing.assert_array_equal(got, expected(box, 0, (4, 2)))


def test_a_transfer_that_is_switched_off(run: Runner) -> None:
    text = descriptor((8, 8), (8,), (8, 8), 4, enabled=0)
    got = load(run, text, TWO, np.zeros((8, 8), np.uint32))
    np.testing.assert_array_equal(got.view(np.uint32), POISON)


STORE = """
  v_mov_b32 v50, v0
  v_lshlrev_b32 v51, 2, v0
  ds_store_b32 v51, v50
  s_wait_dscnt 0
"""


def test_stores(run: Runner) -> None:
    """Four rows of eight words, of which the tensor has three by six; the rest of memory stays."""
    text = descriptor((6, 3), (8,), (8, 4), 4, base="s6")
    code = f"{STORE}{text}\ntensor_store_from_lds {TWO}\ns_wait_tensorcnt 0\ns_mov_b32 exec_lo, 0\ns_endpgm"
    with sanitize():
        out = run(code, ARCH, 32)[0].reshape(4, 8)
    want = np.zeros((4, 8))
    want[:3, :6] = np.arange(32).reshape(4, 8)[:3, :6]
    np.testing.assert_array_equal(out, want)


def test_a_store_takes_no_padding_off(run: Runner) -> None:
    """What compilers do: the box has rows that are as wide as the padded ones, which the tensor's size cuts."""
    text = descriptor((6, 4), (8,), (8, 4), 4, padding=(2, 2), base="s6")
    code = f"{STORE}{text}\ntensor_store_from_lds {TWO}\ns_wait_tensorcnt 0\ns_mov_b32 exec_lo, 0\ns_endpgm"
    want = np.zeros((4, 8))
    want[:, :6] = np.arange(32).reshape(4, 8)[:, :6]
    np.testing.assert_array_equal(run(code, ARCH, 32)[0].reshape(4, 8), want)


def test_memory_outside_of_the_allocation(run: Runner) -> None:
    text = descriptor((64, 64), (64,), (16, 16), 4)
    with pytest.raises(EmulatorError, match=r"reads 64 bytes at .* outside of all registered memory"):
        load(run, text, TWO, np.zeros((4, 8), np.uint32))


def test_lds_outside_of_the_allocation(run: Runner) -> None:
    text = descriptor((8, 8), (8,), (8, 8), 4, lds=4000)
    with sanitize("memory"), pytest.raises(EmulatorError, match="LDS at offset 4096"):
        load(run, text, TWO, np.zeros((8, 8), np.uint32))


@pytest.mark.parametrize(
    ("text", "what"),
    [
        (descriptor((8, 8), (8,), (8, 8), 4, mask=2), "that the one that asks is not among"),
        (descriptor((8, 8), (8,), (8, 8), 4) + "\ns_or_b32 s24, s24, 0x40000", "that signals a barrier in LDS"),
        (descriptor((8, 8), (8,), (8, 8), 4) + "\ns_or_b32 s24, s24, 0x80000", "with iterations"),
        (descriptor((8, 8), (8,), (8, 8), 4) + "\ns_and_b32 s23, s23, 0xffff", "has type 0"),
    ],
)
def test_what_is_refused(run: Runner, text: str, what: str) -> None:
    with pytest.raises(EmulatorError, match=what):
        load(run, text, TWO, np.zeros((8, 8), np.uint32))


@pytest.mark.parametrize("wait", [0, 1])
def test_missing_waits(run: Runner, wait: int) -> None:
    """Of two boxes, the second one's words are read: that needs both transfers to be done."""
    boxes = [descriptor((8, 4), (8,), (8, 4), 4, lds=lds) + f"\ntensor_load_to_lds {TWO}" for lds in (0, 128)]
    code = "\n".join(
        [*boxes, f"s_wait_tensorcnt {wait}", "v_add_nc_u32 v50, 128, v1", "ds_load_b32 v40, v50", "s_wait_dscnt 0"]
    )
    with sanitize("wait", raises=False) as found:
        run(code, ARCH, 32, RNG.integers(0, 9, (1, 32), np.uint32))
    assert ["s_wait_tensorcnt" in report.what for report in found.reports] == [True] * wait


@pytest.mark.parametrize("waits", [True, False])
def test_missing_waits_of_lanes(run: Runner, waits: bool) -> None:
    code = "global_load_async_to_lds_b32 v1, v1, s[4:5]\n" + ("s_wait_asynccnt 0\n" if waits else "")
    with sanitize("wait", raises=False) as found:
        run(code + "ds_load_b32 v40, v1\ns_wait_dscnt 0", ARCH, 32, RNG.integers(0, 9, (1, 32), np.uint32))
    assert ["s_wait_asynccnt" in report.what for report in found.reports] == [True] * (not waits)


def test_what_a_box_defines(run: Runner) -> None:
    """The words of a box are written, those behind it are not."""
    box = descriptor((8, 4), (8,), (8, 2), 4) + f"\ntensor_load_to_lds {TWO}\ns_wait_tensorcnt 0\n"
    read = "v_and_b32 v50, {mask:#x}, v1\nds_load_b32 v40, v50\ns_wait_dscnt 0"
    given = RNG.integers(0, 9, (1, 32), np.uint32)
    with sanitize("init"):
        run(box + read.format(mask=0x3F), ARCH, 32, given)
    with sanitize("init", raises=False) as found:
        run(box + read.format(mask=0x7F), ARCH, 32, given)
    assert "LDS" in found.reports[0].what


def test_a_store_of_what_was_never_written(run: Runner) -> None:
    text = descriptor((8, 4), (8,), (8, 4), 4, base="s6")
    code = f"{text}\ntensor_store_from_lds {TWO}\ns_wait_tensorcnt 0\ns_mov_b32 exec_lo, 0\ns_endpgm"
    with sanitize("init", raises=False) as found:
        run(code, ARCH, 32)
    assert "copied to memory" in found.reports[0].what
