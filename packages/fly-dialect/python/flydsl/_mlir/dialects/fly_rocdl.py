# SPDX-License-Identifier: Apache-2.0
"""The `fly_rocdl` dialect: op classes and the types of AMD's copy and matrix operations.

The types also have the names that kernels in use give them (`CopyOpCDNA3BufferCopyType` is `CDNA3BufferCopyType`), and
their `get` takes the keywords of either spelling.
"""

from __future__ import annotations

from .. import ir
from .._aliases import aliases
from .._mlir_libs import _flyROCDLDialect as _types
from .._mlir_libs._flyROCDLDialect import *  # noqa: F403 (a documented aggregation)
from ._fly_rocdl_ops_gen import *  # noqa: F403 (a documented aggregation)
from ._fly_rocdl_ops_gen import _Dialect as _Dialect


class _TargetAddressSpace:
    """The address spaces that only AMD GPUs have, as attributes of the current context."""

    @property
    def BufferDesc(self) -> ir.Attribute:  # the name that existing kernels use
        """Buffer resources."""
        return ir.Attribute.parse("#fly_rocdl.buffer_desc")


TargetAddressSpace = _TargetAddressSpace()

_BITS = {"bit_size": "bits"}
_TENSOR = {"tile_shape": "shape", "data_type": "elem", "tensor2tdm": "tensor_to_tdm"}
_ALIASES = {
    "CopyOpCDNA3BufferAtomicType": ("CDNA3BufferAtomicType", {"atomic_op": "op", "val_type": "value_type"}),
    "CopyOpCDNA3BufferCopyLDSType": ("CDNA3BufferCopyLDSType", _BITS),
    "CopyOpCDNA3BufferCopyType": ("CDNA3BufferCopyType", {**_BITS, "cache_modifier": "cache"}),
    "CopyOpCDNA4BufferLoadAsyncLDSType": ("CDNA4BufferLoadAsyncLDSType", _BITS),
    "CopyOpCDNA4GlobalLoadAsyncLDSType": ("CDNA4GlobalLoadAsyncLDSType", _BITS),
    "CopyOpCDNA4LdsReadTransposeType": ("CDNA4LdsReadTransType", {**_BITS, "trans_granularity": "granularity"}),
    "CopyOpCDNA5TensorLoadType": ("CDNA5TensorLoadType", _TENSOR),
    "CopyOpCDNA5TensorStoreType": ("CDNA5TensorStoreType", _TENSOR),
    "CopyOpGFX1250TDMType": (
        "GFX1250TDMType",
        {"cache_modifier": "cache", "atomic_barrier": "barrier", "early_timeout": "timeout"},
    ),
    "MmaOpCDNA3_MFMAType": ("CDNA3MFMAType", {}),
    "MmaOpCDNA4_MFMAScaleType": ("CDNA4MFMAScaleType", {}),
    "MmaOpGFX11_WMMAType": ("GFX11WMMAType", {}),
    "MmaOpGFX120X_WMMAType": ("GFX120XWMMAType", {}),
    "MmaOpGFX1250_WMMAScaleType": ("GFX1250WMMAScaleType", {}),
    "MmaOpGFX1250_WMMAType": ("GFX1250WMMAType", {}),
}

globals().update(aliases(_types, _ALIASES))
