# SPDX-License-Identifier: Apache-2.0
"""Every test compiles into a cache of its own."""

import random

import numpy as np
import pytest
import torch


def pytest_configure(config):
    """Register the marker of long runs: `-m slow` runs them, without `-m` they are left out."""
    config.addinivalue_line("markers", "slow: longer runs of random tests")
    if not config.option.markexpr:
        config.option.markexpr = "not slow"


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory):
    """A cache folder that only this run uses, private as the compiler wants it."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        folder.chmod(0o700)
        patch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(folder))
        yield folder


@pytest.fixture(autouse=True)
def same_numbers():
    """Random numbers are those of the test alone, whatever ran before it."""
    random.seed(0)
    np.random.seed(0)
    torch.manual_seed(0)
