# SPDX-License-Identifier: Apache-2.0
"""Loading artifacts, and refusing what cannot work."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import make_doubles as build
import pytest

from flydsl.runtime import ArtifactError, load_artifact


def test_loaded_artifact_shows_what_it_is(make: Callable[..., Any]) -> None:
    artifact, _ = make("add", [build.tensor("a"), build.scalar("n")], archs=("gfx942", "gfx950"))
    assert list(artifact.functions) == ["add"]
    assert artifact.functions["add"].note is artifact.note
    assert repr(artifact.entry) == "<ArtifactFunction add(a, n) for gfx942, gfx950>"
    assert artifact.path.name in repr(artifact)


def test_loading_needs_no_device(python: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path) -> None:
    path = build.artifact(tmp_path, build.note("add", [build.scalar("n")]))
    code = f"""
from flydsl import runtime
add = runtime.load_artifact({str(path)!r})
try:
    add(1)
except runtime.DeviceError as error:
    print(error)
"""
    done = python(code, FLYDSL_DEVICE="hip")
    assert done.returncode == 0, done.stderr
    assert "none of these places has a library with a device" in done.stdout


def test_room_for_descriptors_is_made_ahead(
    python: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """The table of descriptors has then the size that it has when an artifact was opened; none of them stays open."""
    path = build.artifact(tmp_path, build.note("add", [build.scalar("n")]))
    code = f"""
import os, re
from flydsl import runtime

def size():
    with open("/proc/self/status") as file:
        return int(re.search(r"FDSize:\\s*(\\d+)", file.read())[1])

runtime.load_artifact  # which opens files of modules
before, opened = size(), os.listdir("/proc/self/fd")
runtime.prepare_loading()
grown = size()
assert os.listdir("/proc/self/fd") == opened
runtime.load_artifact({str(path)!r})
print(before < grown, grown == size())
"""
    done = python(code)
    assert done.stdout == "True True\n", done.stderr


def test_the_loaders_name_of_a_library_is_no_other_file_later(
    python: Callable[..., subprocess.CompletedProcess[str]], tmp_path: Path
) -> None:
    """tvm-ffi looks for debug information when it makes an error; a shorter file would end the process (SIGBUS)."""
    path = build.artifact(tmp_path, build.note("add", [build.tensor("a")]))
    code = f"""
import tempfile
import numpy as np
from flydsl import runtime
add = runtime.load_artifact({str(path)!r})
files = [tempfile.TemporaryFile() for _ in range(20)]
for wrong in (np.zeros(4, np.int32), "text"):
    try:
        add(wrong)
    except (TypeError, ValueError) as error:
        print(type(error).__name__)
"""
    done = python(code)
    assert done.returncode == 0, done.stderr
    assert "Error" in done.stdout


def test_abi_version(tmp_path: Path) -> None:
    path = build.artifact(tmp_path, build.note("add", []), "-DABI=7")
    with pytest.raises(
        ArtifactError, match=r"add\.so: the artifact was built for artifact ABI 7, this fly-runtime has 1"
    ):
        load_artifact(path)


def test_other_host_architecture(tmp_path: Path) -> None:
    path = build.artifact(tmp_path, build.note("add", []))
    content = bytearray(path.read_bytes())
    content[18:20] = (243).to_bytes(2, "little")  # e_machine: RISC-V
    path.write_bytes(content)
    with pytest.raises(ArtifactError, match="built for a riscv64 host"):
        load_artifact(path)


def test_undefined_symbol(tmp_path: Path) -> None:
    path = build.artifact(tmp_path, build.note("add", []), "-Dflydsl_launch=flydsl_launch_of_the_future")
    with pytest.raises(ArtifactError, match=r"cannot be loaded: .*flydsl_launch_of_the_future"):
        load_artifact(path)


def test_entry_that_is_not_exported(tmp_path: Path) -> None:
    written = build.note("add", [])
    path = build.artifact(tmp_path, written, "-UENTRY", "-DENTRY=other")
    with pytest.raises(ArtifactError, match="it exports no __tvm_ffi_add"):
        load_artifact(path)


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ({"kernels": [{"name": "x"}, {"name": "y"}]}, None),
        ({"arguments": [{"name": "a", "kind": "matrix"}]}, r"arguments\[0\]\.kind is not tensor, scalar"),
        ({"arguments": [{"name": "a", "kind": "scalar", "dtype": "int7"}]}, r"arguments\[0\]\.dtype is not a dtype"),
        ({"arguments": [{"kind": "stream"}]}, r"the note has no arguments\[0\]\.name"),
        ({"arguments": [{"name": "s", "kind": "stream"}], "hidden_stream": True}, "without streams"),
        ({"arguments": 3}, "arguments is not an array"),
        ({"kernels": [{"name": "x", "lds_bytes": -1}]}, r"kernels\[0\]\.lds_bytes is not an integer from 0"),
        ({"arguments": [{**build.tensor("a"), "shape": [-1]}]}, "shape is not without negative extents"),
        ({"arguments": [{**build.tensor("a"), "stride": []}]}, "stride is not as long as its shape"),
        ({"arguments": [{**build.tensor("a"), "align": 3}]}, "align is not a power of two"),
        ({"arguments": [{**build.tensor("a"), "access": "none"}]}, "access is not read, write or readwrite"),
        ({"arguments": [{**build.tensor("a"), "shape": [{"dynamic": True, "divisibility": 0}]}]}, "divisibility"),
        ({"arguments": [{**build.tensor("a"), "shape": [{"dynamic": False}]}]}, "dynamic is not true"),
        ({"arguments": [{**build.tensor("a"), "stride_bits": 16}]}, "stride_bits is not 32 or 64"),
        ({"messages": [{"kind": "shout", "format": "", "types": []}]}, r"messages\[0\]\.kind is not print, assert"),
        ({"messages": [{"kind": "print", "format": "", "types": ["i8"]}]}, "types is not a list of i32"),
        ({"messages": [{"kind": "print", "format": "%d %d", "types": ["i32"]}]}, "does not fit the types"),
        ({"messages": [{"kind": "print", "format": "%s", "types": ["i64"]}]}, "does not fit the types"),
        ({"messages": [{"kind": "print", "format": "%f", "types": ["i32"]}]}, "does not fit the types"),
        ({"messages": [{"kind": "print", "format": "%n", "types": ["i32"]}]}, "does not fit the types"),
        ({"messages": [{"kind": "print", "format": "100%", "types": []}]}, "does not fit the types"),
        ({"messages": [{"kind": "print", "format": "%%", "types": ["f64"]}]}, "fewer conversions than values"),
    ],
)
def test_damaged_notes(tmp_path: Path, members: dict[str, Any], message: str | None) -> None:
    import json

    written = {**build.note("add", []), **members}
    base = build.note("add", [], kernels=written["kernels"])
    path = build.artifact(
        tmp_path, base, text=json.dumps({**written, "hidden_stream": members.get("hidden_stream", False)})
    )
    if message is None:
        assert load_artifact(path).note["kernels"] == members["kernels"]
        return
    with pytest.raises(ArtifactError, match=message):
        load_artifact(path)


def test_note_of_other_kernels(tmp_path: Path) -> None:
    import json

    other = build.note("add", [], kernels=[{"name": "elsewhere"}])
    path = build.artifact(tmp_path, build.note("add", []), text=json.dumps(other))
    with pytest.raises(ArtifactError, match="kernel 0 is 'add_kernel_0', the note calls it 'elsewhere'"):
        load_artifact(path)


def test_tvm_ffi_loads_it_too(make: Callable[..., Any], hip: build.Hip) -> None:
    """An artifact is a tvm-ffi module like any other, once the runtime's library is there."""
    import tvm_ffi

    artifact, _ = make("f", [build.scalar("n")])
    tvm_ffi.load_module(str(artifact.path)).f(3)
    assert len([line for line in hip.log() if line.startswith("launch")]) == 1


def test_replaced_file_is_loaded_anew(tmp_path: Path, hip: build.Hip) -> None:
    first = load_artifact(build.artifact(tmp_path, build.note("add", [build.scalar("n")])))
    scratch = tmp_path / "new"
    scratch.mkdir()
    build.artifact(scratch, build.note("add", [build.scalar("n"), build.scalar("m")])).rename(tmp_path / "add.so")
    second = load_artifact(tmp_path / "add.so")
    first(1)
    second(1, 2)
    assert len([line for line in hip.log() if line.startswith("launch")]) == 2
