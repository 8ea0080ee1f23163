# SPDX-License-Identifier: Apache-2.0
"""Every test compiles into a cache of its own."""

import pytest


@pytest.fixture(scope="session", autouse=True)
def private_cache(tmp_path_factory):
    """A cache folder that only this run uses, private as the compiler wants it."""
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("cache")
        folder.chmod(0o700)
        patch.setenv("FLYDSL_RUNTIME_CACHE_DIR", str(folder))
        yield folder
