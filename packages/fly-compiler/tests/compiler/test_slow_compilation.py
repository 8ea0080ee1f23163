# SPDX-License-Identifier: Apache-2.0
"""A compilation that takes long says so in the log, once, while it lasts."""

import time

import pytest

from flydsl.compile import compilation


@pytest.mark.parametrize(("seconds", "said"), [(0.4, 1), (0.0, 0)])
def test_what_takes_long_is_said(caplog, monkeypatch, seconds, said):
    monkeypatch.setattr(compilation, "_SLOW_AFTER", 0.1)
    with compilation._said_when_slow("f"):
        time.sleep(seconds)
    time.sleep(0.2)
    assert caplog.text.count("still compiling f after 0 s") == said
