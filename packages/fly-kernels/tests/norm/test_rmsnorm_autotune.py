# SPDX-License-Identifier: Apache-2.0
"""The entry points of the tuned RMSNorm, without a tuner."""

import pytest
from rows import check, rmsnorm, row, rows

from flydsl.kernels.norm.rmsnorm_autotune import rmsnorm_autotuned, rmsnorm_direct


@pytest.mark.parametrize("threads", [128, 256, 512])
def test_direct(threads, run):
    x, gamma = rows(3, 4096, "bf16"), row(4096, "bf16")
    y = run.empty(x)
    run(rmsnorm_direct, x, gamma, y, 3, 4096, "bf16", threads, writes=[y], seeds=[0])
    check(y, rmsnorm(x, gamma)[0], "bf16")


def test_default_configuration(run, monkeypatch):
    monkeypatch.delenv("FLYDSL_AUTOTUNE", raising=False)
    x, gamma = rows(3, 300, "bf16"), row(300, "f32")
    y = run.empty(x)
    run(rmsnorm_autotuned, x, gamma, y, 3, writes=[y], seeds=[0])
    check(y, rmsnorm(x, gamma)[0], "bf16")


def test_a_search_is_refused_with_what_to_do(monkeypatch):
    monkeypatch.setenv("FLYDSL_AUTOTUNE", "1")
    x, gamma = rows(1, 64, "f32"), row(64, "f32")
    with pytest.raises(NotImplementedError, match="needs fly-autotune"):
        rmsnorm_autotuned(x, gamma, x.clone(), 1)


def test_unknown_dtype():
    x = rows(1, 64, "f32").int()
    with pytest.raises(ValueError, match=r"input is torch\.int32"):
        rmsnorm_autotuned(x, x, x, 1)
