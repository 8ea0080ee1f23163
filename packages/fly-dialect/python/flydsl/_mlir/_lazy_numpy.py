# SPDX-License-Identifier: Apache-2.0
"""numpy for MLIR's `ir` module, which needs it for four attribute builders: imported when one of them runs."""

from typing import Any


class _LazyNumpy:
    def __getattr__(self, name: str) -> Any:
        import numpy

        return getattr(numpy, name)


np = _LazyNumpy()
