# SPDX-License-Identifier: Apache-2.0
from collections.abc import Iterator

import pytest

from flydsl._mlir import ir


@pytest.fixture
def context() -> Iterator[ir.Context]:
    """A context that is current, with an unknown location."""
    with ir.Context() as context, ir.Location.unknown():
        yield context
