# SPDX-License-Identifier: Apache-2.0
"""Row and pointwise kernels of random shapes, types, divisions among threads and orders of waves."""

import functools

import pytest
from test_awkward_shapes import BUILDERS, POINTWISE, launch

from flydsl.kernels.common.row_plan import RowConfig

pytestmark = pytest.mark.fuzz


def some_config(choose):
    """None, mostly, or any division of rows."""
    if choose.random() < 0.6:
        return None
    return RowConfig(
        elements=choose.choice([4, 8, 16, 32]),
        held=choose.choice([8, 16, 32]),
        wave_aim=choose.choice([None, 16, 64]),
        wave_limit=choose.choice([None, 32, 128]),
        unroll=choose.choice([1, 4]),
        single=choose.random() < 0.3,
        block=choose.choice([None, None, 64, 256, 1024]),
    )


def test_rows(run, draws, monkeypatch):
    import test_awkward_shapes

    names, find = sorted(BUILDERS), test_awkward_shapes.find
    for seed, choose in draws:
        name, dtype = choose.choice(names), choose.choice(["f32", "f16", "bf16"])
        m, n = choose.randrange(1, 9), draws.length(choose, 20_000)
        config = None if name in POINTWISE or "per_block" in name else some_config(choose)
        monkeypatch.setattr(test_awkward_shapes, "find", lambda *of, config=config: with_config(find(*of), config))
        orders = draws.orders(choose)
        try:
            case = BUILDERS[name](name, m, n, dtype, lambda tensors: tensors)
            launch(case, functools.partial(run, seeds=orders))
        except Exception as error:
            raise AssertionError(f"seed {seed}: {name} {m} x {n} {dtype}, {config}, orders {orders}") from error


def with_config(build, config):
    return build if config is None else functools.partial(build, config=config)
