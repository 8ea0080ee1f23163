# SPDX-License-Identifier: Apache-2.0
"""How the tests of this folder look at an error: as a reader who has the message alone.

A message says what is wrong, in which file and line, shows the line with a caret under the place, and says what to do.
It does not quote MLIR.
"""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest

import flydsl.compiler as flyc
import flydsl.expr as fx

MARK = "# here"
_MLIR = re.compile(r"see current operation|builtin\.module|gpu\.module|!fly\b|#fly|!llvm|%\d+ ?=|scf\.if|arith\.")


def complaint(kind, call):
    """Return the message of the exception that a call raises."""
    with pytest.raises(kind) as caught:
        call()
    text = str(caught.value)
    assert not _MLIR.search(text), text
    return text


def check_place(text, function):
    """See that a message names file and line of the one line with the mark, and shows it with a caret."""
    lines, first = inspect.getsourcelines(function)
    (offset,) = [number for number, line in enumerate(lines) if line.rstrip().endswith(MARK)]
    file = inspect.getsourcefile(function)
    place = rf'File "{re.escape(file)}", line {first + offset}\n\s*{re.escape(lines[offset].strip())}\n\s*\^'
    assert re.search(place, text), text


def launched(body, **launch_options):
    """Run a function of (tensor, integer) as a kernel of one workgroup."""
    kernel = flyc.kernel(body)

    @flyc.jit
    def launch(x: fx.Tensor, n: fx.Int32):
        kernel(x, n).launch(**{"block": (64,), **launch_options})

    launch(np.zeros(64, np.float32), 5)


def teaches(kind, *phrases):
    """Make a kernel body with a mistake a test: of the exception, of phrases in its message, and of the marked line."""

    def decorate(body):
        def test():
            text = complaint(kind, lambda: launched(body))
            check_place(text, body)
            for phrase in phrases:
                assert phrase in text, text

        test.__name__, test.__doc__ = body.__name__, body.__doc__
        return test

    return decorate


def in_host(body, kind, *phrases):
    """Trace a host function with a mistake, and look at its message and at the line with the mark."""
    text = complaint(kind, lambda: flyc.jit(body)(np.zeros(64, np.float32), 5))
    check_place(text, body)
    for phrase in phrases:
        assert phrase in text, text
