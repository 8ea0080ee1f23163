# SPDX-License-Identifier: Apache-2.0
"""Builds the test doubles: fake HIP libraries and hand-written artifacts, with the machine's C compiler."""

from __future__ import annotations

import ctypes
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

from flydsl import runtime

DOUBLES = Path(__file__).parent / "doubles"
EXAMPLE = Path(__file__).parent.parent / "examples" / "call_from_cpp.cpp"


def compiler(*names: str) -> str:
    """The first of some compilers that is installed."""
    for name in names:
        if shutil.which(name):
            return name
    raise RuntimeError(f"the tests need a C compiler; none of {', '.join(names)} is installed")


def run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}\n{done.stderr}"


def shared_object(source: Path, output: Path, *flags: str) -> Path:
    cc = compiler("gcc", "clang-22", "clang", "cc")
    run([cc, "-O1", "-std=gnu11", "-Wall", "-Werror", "-shared", "-fPIC", str(source), "-o", str(output), *flags])
    return output


def fake_hip(output: Path, *flags: str) -> Path:
    """A recording HIP library; see doubles/fake_hip.c for the flags."""
    return shared_object(DOUBLES / "fake_hip.c", output, "-pthread", *flags)


def fake_cuda(output: Path, *flags: str) -> Path:
    """A recording library of CUDA's driver; see doubles/fake_cuda.c for the flags."""
    return shared_object(DOUBLES / "fake_cuda.c", output, "-pthread", *flags)


def tensor(
    name: str, dtype: str = "float32", shape: Any = ("?",), stride: Any = None, **members: Any
) -> dict[str, Any]:
    """A note's entry for a tensor; "?" is a dynamic leaf, ("?", 4) one that 4 divides."""

    def leaf(value: Any) -> Any:
        if value == "?":
            return {"dynamic": True, "divisibility": 1}
        if isinstance(value, tuple):
            return {"dynamic": True, "divisibility": value[1]}
        return value

    if stride is None:
        stride = ["?"] * (len(shape) - 1) + [1] * bool(shape)
    return {
        "name": name,
        "kind": "tensor",
        "dtype": dtype,
        "access": "readwrite",
        "stride_bits": 64,
        "shape": [leaf(value) for value in shape],
        "stride": [leaf(value) for value in stride],
        **members,
    }


def scalar(name: str, dtype: str = "int32") -> dict[str, Any]:
    return {"name": name, "kind": "scalar", "dtype": dtype}


def pointer(name: str, dtype: str = "float32") -> dict[str, Any]:
    return {"name": name, "kind": "pointer", "dtype": dtype, "align": 4}


def stream(name: str = "stream") -> dict[str, Any]:
    return {"name": name, "kind": "stream"}


def note(
    name: str, arguments: list[dict[str, Any]], archs: tuple[str, ...] = ("gfx942",), **members: Any
) -> dict[str, Any]:
    return {
        "schema": 1,
        "name": name,
        "entry": name,
        "arguments": arguments,
        "hidden_stream": not any(argument["kind"] == "stream" for argument in arguments),
        "kernels": [{"name": f"{name}_kernel_0", "block": [64, 1, 1], "lds_bytes": 1024}],
        "architectures": list(archs),
        "host_triple": "x86_64-unknown-linux-gnu",
        "toolchain": {},
        "source_hash": "sha256:0",
        **members,
    }


def _slot_bytes(written: dict[str, Any]) -> list[int]:
    sizes = []
    for argument in written["arguments"]:
        sizes.append(8)
        if argument["kind"] == "tensor":
            stride_bytes = argument["stride_bits"] // 8
            packed = 4 * sum(isinstance(leaf, dict) for leaf in argument["shape"])
            packed += stride_bytes * sum(isinstance(leaf, dict) for leaf in argument["stride"])
            sizes += [packed] if packed else []
    return [*sizes, *([8] if written["hidden_stream"] else [])]


def c_string(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def artifact(folder: Path, written: dict[str, Any], *flags: str, text: str | None = None) -> Path:
    """Compile an artifact whose note is `written` (or the text `text`); more macros in `flags`."""
    output = folder / f"{written['name']}.so"
    arrays = "".join(f'{{{c_string(arch)}, "object:{arch}", {len(arch) + 8}}}, ' for arch in written["architectures"])
    names = "".join(f"{c_string(kernel['name'])}, " for kernel in written["kernels"])
    library = runtime.library_path()
    return shared_object(
        DOUBLES / "artifact.c",
        output,
        f"-I{runtime.include_dir()}",
        f"-DENTRY={written['entry']}",
        f"-DNOTE={c_string(json.dumps(written) if text is None else text)}",
        f"-DKERNEL_NAMES={names}",
        *(() if any(flag.startswith("-DCODE_OBJECTS=") for flag in flags) else (f"-DCODE_OBJECTS={arrays}",)),
        f"-DSLOT_BYTES={''.join(f'{size}, ' for size in _slot_bytes(written))}",
        *flags,
        f"-L{library.parent}",
        f"-l:{library.name}",
    )


def ptx(folder: Path) -> Path:
    """doubles/cuda_kernels.c as PTX for Hopper."""
    output = folder / "kernels.ptx"
    source = str(DOUBLES / "cuda_kernels.c")
    target = ["--target=nvptx64-nvidia-cuda", "-march=sm_90a", "-nogpulib", "-O2", "-Wall", "-Werror"]
    run([compiler("clang-22", "clang"), *target, "-S", source, "-o", str(output)])
    return output


def cuda_artifacts(folder: Path) -> dict[str, Path]:
    """Artifacts with PTX, by name; what each does stands in doubles/cuda_kernels.c and doubles/tensor_map.ptx."""
    a, b, c = (tensor(name, shape=(1000,), stride=(1,)) for name in "abc")
    floats = tensor("a", shape=(4, 50_000), stride=(50_000, 1))
    said = [
        {"kind": "print", "format": "block %d thread %d\n", "types": ["i32", "i32"]},
        {"kind": "assert", "format": "a[%d] >= 0", "types": ["i32"], "where": "kernel.py:7"},
    ]
    compiled = ptx(folder)
    broken = folder / "broken.ptx"
    broken.write_text(compiled.read_text().replace("ld.param.b32", "ld.parameter.b32"))
    boxes = [tensor("out", shape=(8, 8), stride=(8, 1)), tensor("a", shape=(64, 32), stride=(32, 1))]
    notes = {
        "add": (compiled, note("add", [a, b, c, scalar("n")], ("sm_90a",)), ()),
        "broken": (broken, note("add", [a, b, c, scalar("n")], ("sm_90a",)), ()),
        "reverse": (compiled, note("reverse", [floats, scalar("words")], ("sm_90a",)), ()),
        "cluster": (compiled, note("cluster", [tensor("seen", "int32", shape=(64,))], ("sm_90a",)), ()),
        "speak": (compiled, note("speak", [a, scalar("n")], ("sm_90a",), messages=said), ()),
        "wild": (compiled, note("wild", [a], ("sm_90a",)), ()),
        "map": (DOUBLES / "tensor_map.ptx", note("map", boxes, ("sm_90a",)), ("-DTENSOR_MAP",)),
    }
    made = {}
    for name, (code, written, flags) in notes.items():
        for kernel in written["kernels"]:
            kernel["lds_bytes"] = 0
        place = folder / name
        place.mkdir(exist_ok=True)
        embedded = f"-DCODE=EMBED(code, {c_string(str(code))})"
        objects = f'-DCODE_OBJECTS={{"sm_90a", code, {code.stat().st_size}}}, '
        made[name] = artifact(place, written, embedded, objects, *flags)
    return made


def vector_add(folder: Path, archs: tuple[str, ...] = ("gfx942", "gfx950")) -> Path:
    """An artifact with real code objects: c[:n] = a[:n] + b[:n], made by clang for amdgcn."""
    objects = [folder / f"vector_add_{arch}.hsaco" for arch in archs]
    for arch, output in zip(archs, objects, strict=True):
        run(
            [
                compiler("clang-22", "clang"),
                "--target=amdgcn-amd-amdhsa",
                f"-mcpu={arch}",
                "-nogpulib",
                "-O2",
                "-g",
                "-fuse-ld=lld",
                str(DOUBLES / "vector_add_kernel.c"),
                "-o",
                str(output),
            ]
        )
    arguments = [tensor("a", access="read"), tensor("b", access="read"), tensor("c", access="write"), scalar("n")]
    kernels = [{"name": "vector_add_kernel_0", "block": [64, 1, 1], "lds_bytes": 0}]
    written = note("vector_add", arguments, archs, kernels=kernels)
    library = runtime.library_path()
    embedded = " ".join(f"EMBED(code_{arch}, {c_string(str(path))})" for arch, path in zip(archs, objects, strict=True))
    table = ", ".join(
        f"{{{c_string(arch)}, code_{arch}, {path.stat().st_size}}}" for arch, path in zip(archs, objects, strict=True)
    )
    return shared_object(
        DOUBLES / "vector_add.c",
        folder / "vector_add.so",
        f"-I{runtime.include_dir()}",
        f"-DNOTE={c_string(json.dumps(written))}",
        f"-DCODE={embedded}",
        f"-DCODE_OBJECTS={table}",
        f"-L{library.parent}",
        f"-l:{library.name}",
    )


def cpp_program(folder: Path, artifact: Path) -> Path:
    """Compile and link the example against an artifact."""
    library = runtime.library_path()
    program = folder / "call_from_cpp"
    cxx = compiler("g++", "clang++-22", "c++")
    run(
        [
            cxx,
            "-O1",
            "-std=c++17",
            "-Wall",
            "-Wextra",
            "-Werror",
            str(EXAMPLE),
            f"-I{runtime.include_dir()}",
            str(artifact),
            f"-L{library.parent}",
            f"-l:{library.name}",
            f"-Wl,-rpath,{folder}:{library.parent}",
            "-o",
            str(program),
        ]
    )
    return program


class Request(ctypes.Structure):
    """What the hand-written artifact launches (doubles/artifact.c)."""

    _fields_ = (
        ("launches", ctypes.c_int32),
        ("kernel", ctypes.c_uint32),
        ("grid", ctypes.c_int64 * 3),
        ("block", ctypes.c_int64 * 3),
        ("cluster", ctypes.c_int64 * 3),
        ("shared", ctypes.c_int64),
        ("stream_slot", ctypes.c_int32),
        ("status", ctypes.c_int32),
    )


class Inside:
    """The exported variables of a loaded hand-written artifact."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._library.seen_slot.restype = ctypes.c_void_p
        self.request = Request.in_dll(self._library, "request")

    def slot(self, index: int, size: int = 8) -> bytes:
        """The bytes of a slot as the host function last saw it on this thread."""
        return ctypes.string_at(self._library.seen_slot(index), size)

    def call_slots(self, name: str, slots: Any) -> int:
        """The plain C convention."""
        return int(getattr(self._library, name)(slots))


class Hip:
    """The recording device library of this process: HIP's, or CUDA's."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._library.fake_log.restype = ctypes.c_char_p

    def log(self) -> list[str]:
        return self._library.fake_log().decode().splitlines()

    def reset(self) -> None:
        self._library.fake_reset()

    def hold(self, hold: bool) -> None:
        """While held, launches on other streams than the default one don't return."""
        self._library.fake_hold(int(hold))

    def speak(self, message: int) -> None:
        """The kernel that runs next prints, or asserts, message number `message` of the note, which has no values."""
        self._library.fake_speak(message)

    def fail_nth(self, number: int, error: int = 1) -> bool:
        """The n-th call of the library from now on fails (0: none); whether the call that was to fail before did."""
        return bool(self._library.fake_fail_nth(number, error))

    def current(self) -> int:
        """CUDA: the device whose primary context this thread has; -1: none, -2: another context."""
        return int(self._library.fake_current())

    def __getattr__(self, name: str) -> Any:
        return getattr(self._library, name)

    def fail_next(self, function: str, error: int = 719) -> None:
        self._library.fake_fail_next(function.encode(), error)
