# SPDX-License-Identifier: Apache-2.0
"""Operations that every AMD target spells alike, and the target-neutral ones: the names of `fx.rocdl` in one place."""

from ..ops.atom_types import *  # noqa: F403 - a documented aggregation
from ..ops.atom_types import __all__ as _ops
from .buffer import get_buffer_rsrc as get_buffer_rsrc
from .buffer import make_buffer_ptr as make_buffer_ptr
from .buffer import make_buffer_tensor as make_buffer_tensor
from .buffer import s_buffer_load as s_buffer_load
from .copy_ops import *  # noqa: F403
from .copy_ops import __all__ as _copy_ops
from .memory import asyncmark as asyncmark
from .memory import wait_asyncmark as wait_asyncmark
from .mma_ops import MFMA as MFMA
from .mma_ops import WMMA as WMMA
from .waits import s_waitcnt as s_waitcnt

__all__ = sorted(
    {
        *(name for name in _ops if name not in ("CopyOp", "MmaOp")), *_copy_ops, "MFMA", "WMMA", "asyncmark",
        "get_buffer_rsrc", "make_buffer_ptr", "make_buffer_tensor", "s_buffer_load", "s_waitcnt", "wait_asyncmark",
    }
)  # fmt: skip
