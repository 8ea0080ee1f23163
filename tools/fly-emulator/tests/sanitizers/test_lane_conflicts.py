# SPDX-License-Identifier: Apache-2.0
"""Lanes of one store, or the two parts of one, that write different values to the same place."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

Check = Callable[..., list[dict[str, Any]]]

# Lane i at byte 4 * i (v1), and at byte 8 * i (v5).
SETUP = """
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_lshlrev_b32 v5, 3, v0
  v_mov_b32 v6, v0
  v_mov_b32 v7, 7
  v_mov_b32 v8, 7
  v_mov_b32 v9, 7
  s_waitcnt lgkmcnt(0)
"""


def parts_of_one(reports: list[dict[str, Any]]) -> bool:
    return [report["sanitizer"] for report in reports] == ["race"] and "parts of one" in reports[0]["what"]


@pytest.mark.parametrize(
    "store",
    [
        "ds_write2_b32 v1, v0, v7 offset0:0 offset1:1",  # lane i + 1 by its first part, lane i by its second
        "ds_write2_b32 v1, v0, v7 offset0:3 offset1:3",
        "ds_write2st64_b32 v1, v0, v7 offset0:1 offset1:1",
        "ds_write2_b64 v5, v[6:7], v[8:9] offset0:0 offset1:1",
        "ds_write2st64_b64 v5, v[6:7], v[8:9] offset0:2 offset1:2",
    ],
)
def test_parts_of_a_paired_store(check: Check, arch: str, store: str) -> None:
    assert parts_of_one(check(f"{SETUP}  {store}\n  s_waitcnt lgkmcnt(0)\n", arch, lds=8192))


@pytest.mark.parametrize(
    "store",
    [
        "ds_write2_b32 v1, v0, v7 offset0:0 offset1:64",
        "ds_write2_b32 v1, v8, v7 offset0:0 offset1:1",  # the same value
        "ds_write2st64_b64 v5, v[6:7], v[8:9] offset0:0 offset1:2",
        "ds_write2_b64 v5, v[8:9], v[8:9] offset0:0 offset1:0",
    ],
)
def test_parts_that_keep_apart(check: Check, arch: str, store: str) -> None:
    assert check(f"{SETUP}  {store}\n  s_waitcnt lgkmcnt(0)\n", arch, lds=8192) == []


@pytest.mark.parametrize(
    "store",
    [
        "ds_write_b64 v1, v[6:7]",
        "ds_write_b128 v5, v[6:9]",
        "global_store_dwordx2 v1, v[6:7], s[6:7]",
        "global_store_dwordx4 v5, v[6:9], s[6:7]",
    ],
)
def test_stores_wider_than_the_stride_of_the_lanes(check: Check, arch: str, store: str) -> None:
    (report,) = check(f"{SETUP}  {store}\n  s_waitcnt vmcnt(0) lgkmcnt(0)\n", arch, lds=8192)
    assert report["sanitizer"] == "race"
    assert "of one store write different values" in report["what"]


# A descriptor of `out` whose format is {format}; lane i stores i as a float, which the format rounds.
CONVERTING = (
    SETUP
    + """
  s_mov_b64 s[8:9], s[6:7]
  s_mov_b32 s10, 4096
  s_mov_b32 s11, 0x{format:08x}
  v_cvt_f32_u32 v10, v0
  v_mul_f32 v10, {scale}, v10
  v_and_b32 v11, {mask}, v1
  {store}
  s_waitcnt vmcnt(0)
"""
)
FLOAT = 0x27FAC  # one component of 32 bits
UNORM8 = 0x00FAC  # one of 8


@pytest.mark.parametrize(
    ("store", "format", "scale", "mask", "found"),
    [
        ("buffer_store_format_x v10, v11, s[8:11], 0 offen", FLOAT, "1.0", "0xff", False),
        ("buffer_store_format_x v10, v11, s[8:11], 0 offen", FLOAT, "1.0", "0x7f", True),
        ("tbuffer_store_format_x v10, v11, s[8:11], 0 offen", UNORM8, "1.0", "0x7f", True),
        ("tbuffer_store_format_x v10, v11, s[8:11], 0 offen", UNORM8, "0", "0x7f", False),
    ],
)
def test_stores_that_convert(
    check: Check, arch: str, store: str, format: int, scale: str, mask: str, found: bool
) -> None:
    code = CONVERTING.format(store=store, format=format, scale=scale, mask=mask)
    assert [report["sanitizer"] for report in check(code, arch)] == (["race"] if found else [])
