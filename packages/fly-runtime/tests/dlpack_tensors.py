# SPDX-License-Identifier: Apache-2.0
"""DLPack tensors made by hand: of any device, any pointer, with or without strides."""

from __future__ import annotations

import ctypes
from typing import Any

CPU, CUDA, CUDA_HOST, HIP, HIP_HOST, MANAGED = 1, 2, 3, 10, 11, 13


class _DLTensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_type", ctypes.c_int32),
        ("device_id", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _DLTensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class Tensor:
    """A producer of a DLManagedTensor; it must outlive every use of it."""

    def __init__(
        self,
        data: int,
        shape: tuple[int, ...],
        *,
        device: tuple[int, int] = (HIP, 0),
        strides: tuple[int, ...] | None = None,
        byte_offset: int = 0,
        code: int = 2,
        bits: int = 32,
        lanes: int = 1,
    ) -> None:
        self._shape = (ctypes.c_int64 * len(shape))(*shape)
        self._strides = (ctypes.c_int64 * len(shape))(*strides) if strides is not None else None
        self.device = device
        self._managed = _Managed()
        view = self._managed.tensor
        view.data, view.device_type, view.device_id, view.ndim = data, *device, len(shape)
        view.code, view.bits, view.lanes, view.byte_offset = code, bits, lanes, byte_offset
        view.shape = ctypes.cast(self._shape, ctypes.POINTER(ctypes.c_int64))
        if self._strides is not None:
            view.strides = ctypes.cast(self._strides, ctypes.POINTER(ctypes.c_int64))

    def __dlpack__(self, **_options: Any) -> Any:
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        return new(ctypes.addressof(self._managed), b"dltensor", None)

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device
