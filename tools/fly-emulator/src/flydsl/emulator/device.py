# SPDX-License-Identifier: Apache-2.0
"""The shared library from Python: load code objects, run kernels on numpy arrays, read reports.

This is what the tests and the command line use. Programs that launch kernels should go through the HIP C API (or
``flydsl.runtime``), which is the same on hardware.
"""

from __future__ import annotations

import contextlib
import ctypes
import json
from collections.abc import Iterator, Sequence
from typing import Any

from flydsl.emulator._library import library_path

_ARCH_NAME_OFFSET = 1160  # of gcnArchName in hipDeviceProp_t (ROCm 6)
_PROPERTIES_SIZE = 1472


class EmulatorError(RuntimeError):
    """A call failed; `code` is the hipError_t, the message the full report."""

    def __init__(self, code: int, name: str, report: str) -> None:
        super().__init__(f"{name}: {report}" if report else name)
        self.code = code
        self.name = name
        self.report = report


class Kernel:
    """A kernel of a loaded module."""

    def __init__(self, emulator: Emulator, handle: ctypes.c_void_p, name: str) -> None:
        self._emulator = emulator
        self._handle = handle
        self.name = name

    def __call__(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        *arguments: Any,
        lds: int = 0,
        names: Sequence[str] | None = None,
    ) -> None:
        """Run the kernel to its end.

        `grid` counts blocks, `block` threads (one to three extents). Arguments are numpy arrays (passed by pointer,
        in place; read-only ones may only be read), ctypes scalars, numpy scalars, or bytes (passed by value).
        `lds`: dynamic LDS in bytes. `names`: one for each argument, used in reports.
        """
        self._emulator._launch(self._handle, _extents(grid), _extents(block), arguments, lds, names)

    def launch_packed(
        self,
        grid: int | Sequence[int],
        block: int | Sequence[int],
        arguments: bytes,
        *,
        lds: int = 0,
        cooperative_offsets: Sequence[int] | None = None,
    ) -> None:
        """Run the kernel on a packed argument buffer, laid out as the kernel's metadata says.

        Pointers in it have to lead into registered or allocated memory. `cooperative_offsets`: a cooperative launch,
        whose arguments begin at these offsets of the buffer.
        """
        buffer = ctypes.create_string_buffer(arguments, max(1, len(arguments)))
        common = (self._handle, *_extents(grid), *_extents(block), lds, None)
        if cooperative_offsets is not None:
            addresses = [ctypes.addressof(buffer) + offset for offset in cooperative_offsets]
            parameters = (ctypes.c_void_p * max(1, len(addresses)))(*addresses)
            self._emulator.call("hipModuleLaunchCooperativeKernel", *common, parameters)
            return
        size = ctypes.c_size_t(len(arguments))
        extra = (ctypes.c_void_p * 5)(1, ctypes.addressof(buffer), 2, ctypes.addressof(size), 3)
        self._emulator.call("hipModuleLaunchKernel", *common, None, extra)


class Module:
    """A loaded code object."""

    def __init__(self, emulator: Emulator, handle: ctypes.c_void_p) -> None:
        self._emulator = emulator
        self._handle = handle

    def kernel(self, name: str) -> Kernel:
        """The kernel of that name; `EmulatorError` lists those that there are."""
        handle = ctypes.c_void_p()
        self._emulator.call("hipModuleGetFunction", ctypes.byref(handle), self._handle, name.encode())
        return Kernel(self._emulator, handle, name)

    def memory(self) -> tuple[int, int, tuple[int, int]]:
        """Its address, its size in bytes, and where in there its code begins and ends; the rest are variables."""
        base, size, begin, end = ctypes.c_void_p(), ctypes.c_size_t(), ctypes.c_size_t(), ctypes.c_size_t()
        pointers = (ctypes.byref(one) for one in (base, size, begin, end))
        self._emulator.call("flyemu_module_memory", self._handle, *pointers)
        return int(base.value or 0), size.value, (begin.value, end.value)

    def unload(self) -> None:
        """Free the module; its kernels are invalid afterwards."""
        self._emulator.call("hipModuleUnload", self._handle)


class Emulator:
    """The emulator's library, loaded."""

    def __init__(self) -> None:
        self.library = ctypes.CDLL(library_path())
        for function in (
            "flyemu_version",
            "flyemu_last_error",
            "flyemu_reports_json",
            "flyemu_profile_json",
            "flyemu_profiles_json",
            "flyemu_trace_json",
            "flyemu_fidelity_json",
            "flyemu_sanitizers",
            "flyemu_save_folder",
            "flyemu_reports_json_after",
            "flyemu_disassemble",
            "flyemu_check_json",
            "flyemu_code_object_json",
            "flyemu_opcodes_json",
            "flyemu_prediction_json",
            "flyemu_predict_again",
            "flyemu_predictions_json",
            "flyemu_prediction_trace_json",
            "flyemu_device_models_json",
            "hipGetErrorName",
        ):
            with contextlib.suppress(AttributeError):
                getattr(self.library, function).restype = ctypes.c_char_p
        self.library.flyemu_profile_count.restype = ctypes.c_ulonglong
        self.library.flyemu_prediction_count.restype = ctypes.c_ulonglong
        self.library.flyemu_seed.restype = ctypes.c_ulonglong
        self.library.flyemu_report_count.restype = ctypes.c_ulonglong

    @property
    def version(self) -> str:
        """The library's version."""
        return self._text("flyemu_version")

    def call(self, function: str, *arguments: Any) -> None:
        """Call a function that returns hipError_t; `EmulatorError` unless it succeeds."""
        code = getattr(self.library, function)(*arguments)
        if code != 0:
            report = self._text("flyemu_last_error")
            name = self.library.hipGetErrorName(code).decode()
            # Who gets the exception knows; the next launch may be a better one.
            self.library.flyemu_forget_failures()
            raise EmulatorError(code, name, report)

    def set_devices(self, *architectures: str) -> None:
        """Present one device for each architecture."""
        self.call("flyemu_set_devices", ",".join(architectures).encode())

    def set_seed(self, seed: int) -> None:
        """Choose the interleaving of waves (0: program order)."""
        self.call("flyemu_set_seed", ctypes.c_ulonglong(seed))

    def seed(self) -> int:
        """The interleaving that launches use now (see `set_seed`)."""
        return int(self.library.flyemu_seed())

    def set_save_folder(self, folder: str) -> None:
        """Save each later launch as a file of this folder; "" to stop."""
        self.call("flyemu_set_save_folder", folder.encode())

    def save_folder(self) -> str:
        """Where launches are saved; "" for nowhere."""
        return self._text("flyemu_save_folder")

    def set_instruction_limit(self, limit: int) -> None:
        """The most instructions a wave may execute (0: the default)."""
        self.call("flyemu_set_instruction_limit", ctypes.c_ulonglong(limit))

    def set_time_limit(self, seconds: int) -> None:
        """The longest that a launch may take (300 by default; 0: no limit)."""
        self.call("flyemu_set_time_limit", ctypes.c_ulonglong(seconds))

    def set_read_granularity(self, bytes_: int) -> None:
        """Let kernels read up to the next multiple of `bytes_` (a power of two) beyond an array; 1: not a byte."""
        self.call("flyemu_set_read_granularity", ctypes.c_uint(bytes_))

    def set_sanitizers(self, *sanitizers: str) -> None:
        """Switch sanitizers on: memory, race, init, wait, barrier, hazard, lint, or all (all but lint); none: off."""
        self.call("flyemu_set_sanitizers", (",".join(sanitizers) or "none").encode())

    def sanitizers(self) -> list[str]:
        """What is switched on now."""
        names = self._text("flyemu_sanitizers")
        return names.split(",") if names else []

    def set_report_options(self, *, stop_at_first: bool = False, most_reports: int = 100, raises: bool = True) -> None:
        """End a launch at its first finding or not; how many different findings are kept; do findings make it fail."""
        self.call("flyemu_set_report_options", int(stop_at_first), ctypes.c_uint(most_reports), int(raises))

    def report_options(self) -> dict[str, Any]:
        """The arguments of `set_report_options` that are in force."""
        stop, most, raises = ctypes.c_int(), ctypes.c_uint(), ctypes.c_int()
        self.call("flyemu_report_options", ctypes.byref(stop), ctypes.byref(most), ctypes.byref(raises))
        return {"stop_at_first": bool(stop.value), "most_reports": most.value, "raises": bool(raises.value)}

    def report_count(self) -> int:
        """How many findings there were in this process."""
        return int(self.library.flyemu_report_count())

    def reports_after(self, number: int) -> list[dict[str, Any]]:
        """The findings of this process after the first `number`, of all threads."""
        text = self._answer("flyemu_reports_json_after", ctypes.c_ulonglong(number))
        value: list[dict[str, Any]] = json.loads(text)
        return value

    def set_profiling(self, level: bool | int) -> None:
        """What later launches record: nothing (0), counters (1), counters and the waves over time (2)."""
        self.call("flyemu_set_profiling", int(level))

    def profiling(self) -> int:
        """What launches record now (see `set_profiling`)."""
        return int(self.library.flyemu_profiling())

    def profile_count(self) -> int:
        """How many launches of this process were profiled."""
        return int(self.library.flyemu_profile_count())

    def profiles(self, after: int = 0) -> list[dict[str, Any]]:
        """The profiles of launches after the first `after` of this process (the last 1024 are kept)."""
        value: list[dict[str, Any]] = json.loads(self._answer("flyemu_profiles_json", ctypes.c_ulonglong(after)))
        return value

    def trace(self, launch: int = 0) -> str:
        """The waves of a launch over time, as trace events; 0 is the last launch of this thread."""
        return self._answer("flyemu_trace_json", ctypes.c_ulonglong(launch))

    def set_prediction(
        self, device: str | None, *, sampled: bool = False, warm: bool = False, trace: bool = False
    ) -> None:
        """Predict the time of later launches on a device ("MI300X", "gfx942"); None switches it off.

        `sampled`: execute only the workgroups that the model wants, so that what kernels compute is incomplete.
        `warm`: their data are in the Infinity Cache as far as they fit. `trace`: keep the waves over time.
        """
        name = None if device is None else device.encode()
        self.call("flyemu_set_prediction", name, int(sampled), int(warm), int(trace))

    def set_prediction_parameter(self, name: str, value: float) -> None:
        """Change a constant of the model that `set_prediction` chose, for calibration."""
        self.call("flyemu_set_prediction_parameter", name.encode(), ctypes.c_double(value))

    def prediction(self) -> dict[str, Any]:
        """The prediction of the last launch of this thread; empty if it was not predicted."""
        value: dict[str, Any] = json.loads(self._text("flyemu_prediction_json"))
        return value

    def prediction_count(self) -> int:
        """How many launches of this process were predicted."""
        return int(self.library.flyemu_prediction_count())

    def predictions(self, after: int = 0) -> list[dict[str, Any]]:
        """The predictions of launches after the first `after` of this process (the last 1024 are kept)."""
        value: list[dict[str, Any]] = json.loads(self._answer("flyemu_predictions_json", ctypes.c_ulonglong(after)))
        return value

    def prediction_trace(self, number: int = 0) -> str:
        """The waves of a prediction's busiest compute unit over time, as trace events; 0: the last of this thread."""
        return self._answer("flyemu_prediction_trace_json", ctypes.c_ulonglong(number))

    def device_models(self) -> dict[str, dict[str, Any]]:
        """The devices of the time model: architecture, published facts with their sources, fitted constants."""
        value: dict[str, dict[str, Any]] = json.loads(self._answer("flyemu_device_models_json"))
        return value

    def predict_again(self, module: Module) -> dict[str, Any]:
        """The last prediction of a module's launch, made again with the constants of now."""
        value: dict[str, Any] = json.loads(self._answer("flyemu_predict_again", module._handle))
        return value

    def reports(self) -> list[dict[str, Any]]:
        """What the sanitizers found in the last launch of this thread."""
        value: list[dict[str, Any]] = json.loads(self._text("flyemu_reports_json"))
        return value

    def profile(self) -> dict[str, Any]:
        """The counters of the last profiled launch of this thread (estimates, emulated)."""
        value: dict[str, Any] = json.loads(self._text("flyemu_profile_json"))
        return value

    def fidelity(self) -> dict[str, Any]:
        """What the last launch of this thread executed exactly, within an error, and by assumption."""
        value: dict[str, Any] = json.loads(self._text("flyemu_fidelity_json"))
        return value

    def device_count(self) -> int:
        """How many devices there are."""
        count = ctypes.c_int()
        self.call("hipGetDeviceCount", ctypes.byref(count))
        return count.value

    def device_name(self, ordinal: int) -> tuple[str, str]:
        """The name and the architecture of a device."""
        properties = ctypes.create_string_buffer(_PROPERTIES_SIZE)
        self.call("hipGetDevicePropertiesR0600", properties, ordinal)
        name = properties.raw[:256].split(b"\0")[0].decode()
        arch = properties.raw[_ARCH_NAME_OFFSET : _ARCH_NAME_OFFSET + 256].split(b"\0")[0].decode()
        return name, arch

    def describe(self, image: bytes) -> dict[str, Any]:
        """Architecture, version and kernels (resources, arguments) of a code object."""
        value: dict[str, Any] = json.loads(self._answer("flyemu_code_object_json", image, ctypes.c_size_t(len(image))))
        return value

    def check(self, image: bytes, arch: str = "") -> dict[str, Any]:
        """What some path through the code of each kernel does wrong, without running it (see `checking`)."""
        size = ctypes.c_size_t(len(image))
        value: dict[str, Any] = json.loads(self._answer("flyemu_check_json", image, size, arch.encode()))
        return value

    def set_code_check(self, enabled: bool) -> None:
        """Check code whenever it is loaded (see `check`), and refuse it with what was found."""
        self.call("flyemu_set_code_check", int(enabled))

    def load(self, image: bytes, device: int = 0) -> Module:
        """Load a code object (or an offload bundle) for a device."""
        if len(image) < 64:
            raise EmulatorError(200, "hipErrorInvalidImage", "too short for a code object")
        self.call("hipSetDevice", device)
        handle = ctypes.c_void_p()
        self.call("hipModuleLoadData", ctypes.byref(handle), image)
        return Module(self, handle)

    def _answer(self, function: str, *arguments: Any) -> str:
        """The text that a function gives; `EmulatorError` if it gives none."""
        value = getattr(self.library, function)(*arguments)
        if value is None:
            raise EmulatorError(1, "hipErrorInvalidValue", self._text("flyemu_last_error"))
        return str(value.decode())

    def _text(self, function: str, *arguments: Any) -> str:
        value = getattr(self.library, function)(*arguments)
        return value.decode() if value else ""

    def _launch(
        self,
        function: ctypes.c_void_p,
        grid: tuple[int, int, int],
        block: tuple[int, int, int],
        arguments: Sequence[Any],
        lds: int,
        names: Sequence[str] | None,
    ) -> None:
        values = [_argument(value) for value in arguments]
        pointers = (ctypes.c_void_p * max(1, len(values)))(
            *[ctypes.cast(ctypes.pointer(value), ctypes.c_void_p) for value in values]
        )
        with self._registered(arguments, names):
            self.call("hipModuleLaunchKernel", function, *grid, *block, lds, None, pointers, None)

    @contextlib.contextmanager
    def _registered(self, arguments: Sequence[Any], names: Sequence[str] | None) -> Iterator[None]:
        done: list[int] = []
        try:
            for index, value in enumerate(arguments):
                if not _is_array(value):
                    continue
                name = names[index] if names is not None else f"argument {index}"
                first, bytes_ = _extent(value)
                writable = bool(value.flags.writeable)
                rank = len(value.shape)
                self.call(
                    "flyemu_register_tensor",
                    ctypes.c_void_p(first),
                    ctypes.c_size_t(bytes_),
                    int(not writable),
                    name.encode(),
                    ctypes.c_void_p(int(value.__array_interface__["data"][0])),
                    ctypes.c_uint(int(value.itemsize)),
                    rank,
                    (ctypes.c_longlong * max(1, rank))(*value.shape),
                    (ctypes.c_longlong * max(1, rank))(*value.strides),
                )
                done.append(first)
            yield
        finally:
            for first in done:
                self.library.flyemu_unregister_memory(ctypes.c_void_p(first))


def _is_array(value: Any) -> bool:
    return hasattr(value, "__array_interface__") and hasattr(value, "flags") and getattr(value, "ndim", 0) > 0


def _extent(array: Any) -> tuple[int, int]:
    """First address and number of bytes between the lowest and the highest element."""
    address = int(array.__array_interface__["data"][0])
    low = high = 0
    for extent, stride in zip(array.shape, array.strides, strict=True):
        if extent == 0:
            return address, 0
        low += min(0, (extent - 1) * stride)
        high += max(0, (extent - 1) * stride)
    return address + low, high - low + int(array.itemsize)


def _argument(value: Any) -> Any:
    """A ctypes object that holds the argument's bytes."""
    if _is_array(value):
        return ctypes.c_void_p(int(value.__array_interface__["data"][0]))
    if isinstance(value, ctypes._SimpleCData):
        return value
    if isinstance(value, bytes):
        return (ctypes.c_char * len(value)).from_buffer_copy(value)
    if hasattr(value, "tobytes") and hasattr(value, "dtype"):
        data = value.tobytes()
        return (ctypes.c_char * len(data)).from_buffer_copy(data)
    if isinstance(value, bool):
        return ctypes.c_bool(value)
    if isinstance(value, int):
        return ctypes.c_int64(value) if not -(2**31) <= value < 2**32 else ctypes.c_uint32(value & 0xFFFFFFFF)
    if isinstance(value, float):
        return ctypes.c_float(value)
    raise TypeError(f"cannot pass {type(value).__name__} to a kernel: use an array, a ctypes or numpy scalar, or bytes")


def _extents(value: int | Sequence[int]) -> tuple[int, int, int]:
    values = (value,) if isinstance(value, int) else tuple(value)
    if not 1 <= len(values) <= 3 or any(extent < 0 for extent in values):
        raise ValueError(f"expected one to three extents, got {value!r}")
    x, y, z = (*values, 1, 1)[:3]
    return x, y, z
