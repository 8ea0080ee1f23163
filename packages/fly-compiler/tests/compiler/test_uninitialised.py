# SPDX-License-Identifier: Apache-2.0
"""Register memory that is read before it is written: seen under FLYDSL_EMU_SANITIZE, unchanged code without."""

from __future__ import annotations

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx

TYPES = {
    torch.float32: fx.Float32, torch.float16: fx.Float16, torch.bfloat16: fx.BFloat16, torch.float64: fx.Float64,
    torch.int8: fx.Int8, torch.int16: fx.Int16, torch.int64: fx.Int64,
}  # fmt: skip


def launcher(element, count, fill):
    @flyc.kernel
    def store_fragment(out: fx.Tensor):
        fragment = fx.make_rmem_tensor(count, element)
        if fx.const_expr(fill):
            fragment.fill(1)
        values = fragment.load()
        for i in fx.range_constexpr(count):
            out[fx.thread_idx.x * count + i] = values[i]

    @flyc.jit
    def launch(out: fx.Tensor):
        store_fragment(out).launch(grid=(1,), block=(64,))

    return launch


@pytest.mark.parametrize("count", [1, 3, 4])
@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_a_fragment_that_nobody_filled(monkeypatch, dtype, count):
    monkeypatch.delenv("FLYDSL_EMU_SANITIZE", raising=False)  # the block says it
    sanitize = pytest.importorskip("flydsl.emulator").sanitize
    out = torch.zeros(64 * count, dtype=dtype)
    with sanitize("all") as found, pytest.raises(RuntimeError, match="was never written"):
        launcher(TYPES[dtype], count, False)(out)
    assert {report.sanitizer for report in found.reports} == {"init"}
    assert all(report.source.rpartition(":")[0] == __file__ for report in found.reports)
    with sanitize("all") as found:
        launcher(TYPES[dtype], count, True)(out)
    assert found.reports == []
    assert (out == 1).all()


def test_the_code_is_another_only_under_the_sanitizer(monkeypatch, tmp_path):
    """One call of one function under both: two artifacts, and a mark in one of them."""
    launch = launcher(fx.Float32, 4, False)
    monkeypatch.setenv("COMPILE_ONLY", "1")
    monkeypatch.setenv("FLYDSL_DEBUG_DUMP_ASM", "1")
    texts = {}
    for sanitizers in ("none", "init", "memory,race"):
        monkeypatch.setenv("FLYDSL_EMU_SANITIZE", sanitizers)
        monkeypatch.setenv("FLYDSL_DUMP_DIR", str(tmp_path / sanitizers))
        launch(torch.zeros(256))
        texts[sanitizers] = "".join(path.read_text() for path in (tmp_path / sanitizers).rglob("*.s"))
    mark = "ttmp14"
    assert mark in texts["init"]
    assert mark not in texts["none"]
    assert texts["memory,race"] in ("", texts["none"])  # the same specialisation: compiled once
