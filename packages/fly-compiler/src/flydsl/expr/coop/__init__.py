# SPDX-License-Identifier: Apache-2.0
"""Cooperation of the lanes of a wave and the threads of a workgroup: reductions, scans, exchanges, sorts.

`fx.coop.universal` always holds the portable version of a name; the names here are the ones for the target: on gfx9
reductions and scans of 32-bit scalars go by DPP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import universal as universal
from .lanes import for_target
from .specialise import Collective
from .universal import __all__ as _portable

if TYPE_CHECKING:
    from .universal import *  # noqa: F403 - a documented aggregation

__all__ = ["universal", *_portable]

_OF_LANES = ("BlockReduce", "BlockScan", "WarpReduce", "WarpReduceBatched", "WarpScan", "tiled_reduce")


def _for_target(portable: Any) -> Any:
    if not (isinstance(portable, type) and issubclass(portable, Collective)):
        return for_target(portable)
    called = {
        name: classmethod(for_target(one.__func__))
        for name, one in vars(portable).items()
        if isinstance(one, classmethod) and (name == "_call" or not name.startswith(("_", "storage", "make")))
    }
    doc = {"__doc__": portable.__doc__, "__module__": portable.__module__, "__qualname__": portable.__qualname__}
    made: Any = type(portable)
    return made(portable.__name__, (portable,), {**doc, **called})


if not TYPE_CHECKING:
    tiled_reduce = _for_target(universal.tiled_reduce)  # now: its file has the same name

    def __getattr__(name: str) -> Any:
        if name not in _portable:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        found = getattr(universal, name)
        if name in _OF_LANES or name.startswith("warp_"):
            found = _for_target(found)
        globals()[name] = found
        return found


def __dir__() -> list[str]:
    return [*__all__]
