# SPDX-License-Identifier: Apache-2.0
"""Arguments of host functions: how each kind is recognised, compiled for, and passed."""

from flydsl.compile.specs import ArgumentSpec, Dynamic, PointerSpec, ScalarSpec, StreamSpec, TensorSpec, ValueSpec

from .classify import classify
from .compile_time import constexpr_key
from .passed import Passed
from .pointer import PointerArgument, from_c_void_p
from .registry import JitArgumentRegistry
from .tensor import TensorArgument, from_dlpack, from_torch_tensor

__all__ = [
    "ArgumentSpec",
    "Dynamic",
    "JitArgumentRegistry",
    "Passed",
    "PointerArgument",
    "PointerSpec",
    "ScalarSpec",
    "StreamSpec",
    "TensorArgument",
    "TensorSpec",
    "ValueSpec",
    "classify",
    "constexpr_key",
    "from_c_void_p",
    "from_dlpack",
    "from_torch_tensor",
]
