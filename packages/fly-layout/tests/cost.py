# SPDX-License-Identifier: Apache-2.0
"""What a call costs, as a number that no other load of the machine changes."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def lines(call: Callable[[], Any], most: int) -> int:
    """The lines of Python that a call runs, those of comprehensions each time.

    Raises:
        AssertionError: they are more than `most`; the call is ended there.
    """
    count = 0

    def see(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal count
        if event == "line":
            count += 1
            assert count <= most, f"more than {most} lines: {frame.f_code.co_filename}:{frame.f_lineno}"
        return see

    before = sys.gettrace()
    sys.settrace(see)
    try:
        call()
    finally:
        sys.settrace(before)
    return count
