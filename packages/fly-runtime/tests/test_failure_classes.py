# SPDX-License-Identifier: Apache-2.0
"""Each failure has a class, which says whether anything has run; and nothing is ever launched twice."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import make_doubles as build
import numpy as np
import pytest
from make_doubles import scalar, tensor

from flydsl import runtime
from flydsl.runtime import _library

Make = Callable[..., tuple[runtime.Artifact, build.Inside]]
OUT_OF_MEMORY = 2  # hipErrorOutOfMemory
ASSERTION = {"kind": "assert", "format": "x > 0", "types": [], "where": "kernel.py:7"}


def launches(hip: build.Hip) -> int:
    return sum(line.startswith("launch") for line in hip.log())


def call_directly(function: runtime.ArtifactFunction, *args: Any) -> None:
    """As the compiler's generated functions call."""
    native = function.direct(args)
    assert native is not None
    try:
        native(*args)
    except Exception as error:
        function.recover(error, args)


def test_a_failing_launch_is_not_repeated(make: Make, hip: build.Hip) -> None:
    f, _ = make("f", [tensor("a"), scalar("n")])
    a = np.zeros(4, np.float32)
    call_directly(f.entry, a, 1)
    hip.reset()
    hip.fail_next("hipModuleLaunchKernel")
    with pytest.raises(runtime.LaunchError, match="out of bounds write") as caught:
        call_directly(f.entry, a, 1)
    assert caught.value.launched
    assert launches(hip) == 1
    call_directly(f.entry, a, 1)
    assert launches(hip) == 2


AFTER_THE_KERNEL = """
import ctypes, os
import numpy as np
import make_doubles as build
from flydsl import runtime

f, a = runtime.load_artifact({path!r}).entry, np.zeros(4, np.float32)
native = f.direct((a, 1))
hip = build.Hip(os.environ["FLYDSL_HIP_LIBRARY"])

def call():
    try:
        native(a, 1)
    except Exception as error:
        f.recover(error, (a, 1))

call()
for failing, text in (("assertion", "x > 0"), ("hipDeviceSynchronize",) * 2, ("hipMemcpy",) * 2):
    hip.reset()
    if failing == "assertion":
        hip.speak(1)
    else:
        hip.fail_next(failing)
    try:
        call()
    except runtime.LaunchError as error:
        assert error.launched and text in str(error), error
    else:
        raise AssertionError(failing)
    assert sum(line.startswith("launch") for line in hip.log()) == 1, hip.log()
    call()
    assert sum(line.startswith("launch") for line in hip.log()) == 2, hip.log()
print("good")
"""


def test_a_failure_after_the_kernel_ran_is_not_repeated(
    python: Callable[..., subprocess.CompletedProcess[str]], doubles: Path, tmp_path: Path
) -> None:
    path = build.artifact(tmp_path, build.note("f", [tensor("a"), scalar("n")], messages=[ASSERTION]))
    # In a process of its own: a buffer of messages is emptied at each synchronisation from then on.
    code = AFTER_THE_KERNEL.replace("{path!r}", repr(str(path)))
    done = python(code, FLYDSL_HIP_LIBRARY=str(doubles / "libemulator.so"))
    assert done.stdout == "good\n", done.stderr


def test_memory_that_runs_out(make: Make, hip: build.Hip) -> None:
    f, _ = make("f", [tensor("a"), scalar("n")])
    a = np.zeros(4, np.float32)
    hip.fail_next("hipModuleLoadData", OUT_OF_MEMORY)
    with pytest.raises(runtime.OutOfMemoryError) as caught:
        call_directly(f.entry, a, 1)
    assert isinstance(caught.value, MemoryError)
    assert isinstance(caught.value, runtime.DeviceError)
    assert not caught.value.launched
    hip.fail_next("hipModuleLaunchKernel", OUT_OF_MEMORY)
    with pytest.raises(MemoryError) as caught:
        f(a, 1)
    assert caught.value.launched
    assert launches(hip) == 1
    hip.fail_next("hipMalloc", OUT_OF_MEMORY)
    with pytest.raises(MemoryError, match="hipMalloc failed"):
        runtime.DeviceBuffer(64)
    call_directly(f.entry, a, 1)


def test_statuses_of_other_functions() -> None:
    """Of those that are no calls: synchronising, copying."""
    for status, kind in ((1, TypeError), (2, ValueError), (3, runtime.DeviceError), (4, MemoryError)):
        with pytest.raises(kind):
            _library.check(status)
    with pytest.raises(runtime.LaunchError):
        _library.check(5)


@pytest.mark.parametrize(
    ("error", "args"),
    [
        # A signal's handler may raise when the native call has returned.
        (TimeoutError("f(): alarm"), (np.float64(1.5),)),
        (TypeError("handler() takes 0 positional arguments but 2 were given"), (np.float64(1.5),)),
        (ValueError("f: no error of ours"), (1.5,)),
    ],
)
def test_what_is_not_known_to_be_a_refusal_is_not_repeated(
    make: Make, hip: build.Hip, error: Exception, args: tuple[Any, ...]
) -> None:
    f, _ = make("f", [scalar("x", "float32")])
    with pytest.raises(type(error)) as caught:
        f.entry.recover(error, args)
    assert caught.value is error
    assert hip.log() == []


def test_what_tvm_ffi_refuses_is_converted(make: Make, hip: build.Hip) -> None:
    f, _ = make("f", [tensor("a", access="read")])
    a = np.zeros(4, np.float32)
    call_directly(f.entry, a)
    a.setflags(write=False)
    hip.reset()
    call_directly(f.entry, a)
    assert launches(hip) == 1


def test_refusals_say_that_nothing_ran(make: Make, hip: build.Hip) -> None:
    f, inside = make("f", [tensor("a"), scalar("n")])
    a = np.zeros(4, np.float32)
    for args in ((a,), (a, "x"), (a.astype(np.float64), 1), (a.reshape(2, 2), 1), (object(), 1)):
        with pytest.raises((TypeError, ValueError)) as caught:
            f(*args)
        assert caught.value.launched is False  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match=r"argument 1 \('a'\).*got an object of type object$"):
        f(object(), 1)
    assert hip.log() == []
    inside.request.block[:] = (2048, 1, 1)
    with pytest.raises(ValueError, match="beyond the device's limit") as caught:
        f(a, 1)
    assert caught.value.launched is False  # type: ignore[attr-defined]
    assert hip.log() == []


def test_classes_of_the_c_interface(make: Make, hip: build.Hip) -> None:
    """What a C++ program sees: a status, and whether anything had been launched."""
    _, inside = make("f", [scalar("n")])
    library = _library.load()
    values = [ctypes.c_uint64(1), ctypes.c_uint64(0)]
    slots = (ctypes.c_void_p * 2)(*(ctypes.addressof(value) for value in values))
    hip.fail_next("hipModuleLoadData", 1)
    assert (inside.call_slots("f", slots), library.flydsl_last_error_launched()) == (3, 0)
    hip.fail_next("hipModuleLoadData", OUT_OF_MEMORY)
    assert (inside.call_slots("f", slots), library.flydsl_last_error_launched()) == (4, 0)
    inside.request.block[:] = (2048, 1, 1)
    assert (inside.call_slots("f", slots), library.flydsl_last_error_launched()) == (2, 0)
    inside.request.block[:] = (64, 1, 1)
    hip.fail_next("hipModuleLaunchKernel")
    assert (inside.call_slots("f", slots), library.flydsl_last_error_launched()) == (5, 1)
    hip.fail_next("hipModuleLaunchKernel", OUT_OF_MEMORY)
    assert (inside.call_slots("f", slots), library.flydsl_last_error_launched()) == (4, 1)
    hip.fail_next("hipStreamSynchronize")
    assert (library.flydsl_synchronize(None), library.flydsl_last_error_launched()) == (5, 1)
    assert inside.call_slots("f", None) == 2
    assert (library.flydsl_last_error_launched(), library.flydsl_last_error_argument()) == (0, -1)
    assert inside.call_slots("f", slots) == 0
