# SPDX-License-Identifier: Apache-2.0
"""Kernel launches: limits, failures, and what comes after a failure."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import make_doubles as build
import numpy as np
import pytest
from make_doubles import scalar, tensor

from flydsl import runtime
from flydsl.runtime.chips import CHIPS, FAMILIES, family_of

Make = Callable[..., Any]


def launches(hip: build.Hip) -> list[str]:
    return [line for line in hip.log() if line.startswith("launch")]


def test_extents_arrive(make: Make, hip: build.Hip) -> None:
    f, inside = make("f", [scalar("n")])
    inside.request.grid[:] = (5, 6, 7)
    inside.request.block[:] = (64, 2, 4)
    inside.request.shared = 4096
    f(1)
    assert launches(hip) == ["launch f_kernel_0 on 0: grid 5 6 7 block 64 2 4 shared 4096 stream 0"]


def test_module_is_loaded_once(make: Make, hip: build.Hip) -> None:
    f, inside = make("f", [scalar("n")], archs=("gfx950", "gfx942"))
    inside.request.launches = 3
    f(1)
    f(1)
    loads = [line for line in hip.log() if line.startswith("hipModuleLoadData")]
    assert loads == ["hipModuleLoadData on 0: object:g"]
    assert len(launches(hip)) == 6


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_empty_grid_launches_nothing(make: Make, hip: build.Hip, axis: int) -> None:
    f, inside = make("f", [scalar("n")])
    inside.request.grid[axis] = 0
    f(0)
    assert hip.log() == []


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"grid": (-1, 1, 1)}, "grid (-1, 1, 1) has a negative extent"),
        ({"grid": (1, 65537, 1)}, "grid (1, 65537, 1) of blocks (64, 1, 1) is beyond the device's limits of "),
        ({"grid": (2**26, 1, 1)}, "grid (67108864, 1, 1) of blocks (64, 1, 1) is beyond"),
        ({"block": (0, 1, 1)}, "block (0, 1, 1) has an extent that is not positive"),
        ({"block": (64, -1, 1)}, "block (64, -1, 1) has an extent that is not positive"),
        ({"block": (2048, 1, 1)}, "block (2048, 1, 1) is beyond the device's limit of (1024, 1024, 1024) threads"),
        ({"block": (64, 32, 1)}, "block (64, 32, 1) has more threads than the 1024 that a workgroup may have"),
        ({"shared": 64513}, "LDS of 1024 static and 64513 dynamic bytes is more than the 65536 "),
        ({"shared": -4}, "dynamic LDS of -4 bytes is negative"),
        (
            {"cluster": (2, 1, 1)},
            " has no clusters of workgroups, but the kernel asks for (2, 1, 1)",
        ),
    ],
)
def test_refused_launches(make: Make, hip: build.Hip, members: dict[str, Any], message: str) -> None:
    f, inside = make("f", [scalar("n")])
    for name, value in members.items():
        before = getattr(inside.request, name)
        saved = list(before) if isinstance(value, tuple) else before
        if isinstance(value, tuple):
            before[:] = value
        else:
            setattr(inside.request, name, value)
        with pytest.raises(ValueError, match=r"^f: kernel 'f_kernel_0': ") as caught:
            f(1)
        assert message in str(caught.value)
        if isinstance(value, tuple):
            before[:] = saved
        else:
            setattr(inside.request, name, saved)
    assert launches(hip) == []
    f(1)
    assert len(launches(hip)) == 1


def test_largest_launch_is_accepted(make: Make, hip: build.Hip) -> None:
    f, inside = make("f", [scalar("n")])
    inside.request.grid[:] = (2**26 - 1, 65536, 1)
    inside.request.shared = 64512
    f(1)
    assert len(launches(hip)) == 1


def test_failing_kernel(make: Make, hip: build.Hip) -> None:
    """The kernel's name and the emulator's whole report; all memory is taken back; the next call works."""
    f, _ = make("f", [tensor("a"), tensor("b", access="read")])
    a, b = np.zeros(4, np.float32), np.zeros(4, np.float32)
    hip.fail_next("hipModuleLaunchKernel")
    with pytest.raises(RuntimeError) as caught:
        f(a, b)
    assert str(caught.value) == (
        "f: kernel 'f_kernel_0' on device 0 (gfx942, emulated): hipModuleLaunchKernel failed: hipErrorLaunchFailure "
        "(719): kernel.py:17: out of bounds write by block (3, 0, 0), lane 5"
    )
    assert sorted(line.split()[0] for line in hip.log()).count("unregister") == 2
    f(a, b)
    assert len(launches(hip)) == 2


@pytest.mark.parametrize("function", ["hipModuleLoadData", "hipModuleGetFunction"])
def test_failing_module_is_tried_again(make: Make, hip: build.Hip, function: str) -> None:
    f, _ = make("f", [scalar("n")])
    hip.fail_next(function, 1)
    with pytest.raises(RuntimeError, match=rf"^f: loading the gfx942 code object on device 0 .*: {function} failed"):
        f(1)
    f(1)
    assert len(launches(hip)) == 1


def test_no_code_for_the_architecture(make: Make) -> None:
    f, _ = make("f", [scalar("n")], archs=("gfx950", "gfx1250"))
    with pytest.raises(
        RuntimeError,
        match=r"^f: the artifact has code for gfx950, gfx1250, but device 0 is gfx942:sramecc\+:xnack-; compile it for",
    ):
        f(1)


@pytest.mark.parametrize(
    ("code_object", "device", "fits"),
    [
        ("gfx942", "gfx942:sramecc+:xnack-", True),
        ("gfx942:xnack-", "gfx942:sramecc+:xnack-", True),
        ("gfx942:xnack+", "gfx942:sramecc+:xnack-", False),
        ("gfx942:sramecc+:xnack-", "gfx942:sramecc+:xnack-", True),
        ("gfx942", "gfx942", True),
        ("gfx94", "gfx942", False),
        ("gfx942", "gfx94", False),
        ("gfx1250-strict", "gfx1250", True),
    ],
)
def test_architectures(
    python: Callable[..., subprocess.CompletedProcess[str]],
    tmp_path: Path,
    doubles: Path,
    code_object: str,
    device: str,
    fits: bool,
) -> None:
    path = build.artifact(tmp_path, build.note("f", [scalar("n")], archs=(code_object,)))
    code = f"""
import ctypes
from make_doubles import Inside
from flydsl.runtime import _library
_library.load()
word = ctypes.c_uint64()
slots = (ctypes.c_void_p * 2)(ctypes.addressof(word), ctypes.addressof(word))
print(Inside({str(path)!r}).call_slots("f", slots), _library.last_error())
"""
    done = python(code, FLYDSL_HIP_LIBRARY=str(doubles / "libhip.so"), FAKE_ARCHS=device)
    assert done.stdout.startswith("0 " if fits else "3 f: the artifact has code for"), done.stdout + done.stderr


AMD = [one.prefix for one in FAMILIES if one.prefix.startswith("gfx")]


@pytest.mark.parametrize(
    "device", sorted({*(name for name in CHIPS if name.startswith("gfx")), *AMD, *(one + "9" for one in AMD)})
)
def test_clusters_are_those_of_the_table_of_chips(
    python: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, doubles: Path, device: str
) -> None:
    path = build.artifact(tmp_path, build.note("f", [scalar("n")], archs=(device,)))
    code = f"""
import ctypes
from make_doubles import Inside
from flydsl.runtime import _library
_library.load()
word = ctypes.c_uint64()
slots = (ctypes.c_void_p * 2)(ctypes.addressof(word), ctypes.addressof(word))
inside = Inside({str(path)!r})
inside.request.grid[0] = inside.request.cluster[0] = 2
print(inside.call_slots("f", slots), _library.last_error())
"""
    done = python(code, FLYDSL_HIP_LIBRARY=str(doubles / "libhip.so"), FAKE_ARCHS=device)
    family = family_of(device)
    assert family is not None
    if family.clusters:
        assert done.stdout.startswith("0 "), done.stdout + done.stderr
    else:
        assert f"{device} has no clusters of workgroups" in done.stdout, done.stdout + done.stderr


def test_status_of_the_host_function(make: Make) -> None:
    f, inside = make("f", [scalar("n")])
    inside.request.status = 3
    with pytest.raises(RuntimeError, match=r"^f: the host function failed with status 3$"):
        f(1)


def test_plain_c_convention(make: Make, hip: build.Hip) -> None:
    import ctypes

    _, inside = make("f", [scalar("n"), tensor("a")])
    values = [ctypes.c_uint64(value) for value in (1, 4096, 7, 0)]
    slots = (ctypes.c_void_p * 4)(*(ctypes.addressof(value) for value in values))
    assert inside.call_slots("f", slots) == 0
    assert inside.slot(1) == bytes(values[1])
    assert len(launches(hip)) == 1
    slots[2] = None
    assert inside.call_slots("f", slots) == 2
    assert inside.call_slots("f", None) == 2


def test_library_without_a_function(
    python: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path, doubles: Path
) -> None:
    path = build.artifact(tmp_path, build.note("f", [scalar("n")]))
    library = doubles / "libhip_without_launch.so"
    done = python(
        f"from flydsl import runtime; runtime.load_artifact({str(path)!r})(1)", FLYDSL_HIP_LIBRARY=str(library)
    )
    assert f"{library} has no function hipModuleLaunchKernel; HIP 6 or newer is needed" in done.stderr


def test_device_calls(hip: build.Hip) -> None:
    runtime.synchronize()
    runtime.synchronize(5)
    assert hip.log() == ["synchronize 0", "synchronize 5"]
    hip.fail_next("hipStreamSynchronize")
    with pytest.raises(runtime.DeviceError, match="hipStreamSynchronize failed: hipErrorLaunchFailure"):
        runtime.synchronize()
    with pytest.raises(ValueError, match=r"there is no device 3; .*libemulator\.so has 1"):
        runtime.set_current_device(3)
