# SPDX-License-Identifier: Apache-2.0
"""Host functions that launch what they are given."""

import flydsl.compiler as flyc


def launcher(kernel, block=64, grid=1):
    """Return a host function that launches `kernel` with whatever it is given."""

    @flyc.jit
    def launch(a, b):
        kernel(a, b).launch(grid=(grid,), block=(block,))

    return launch
