# SPDX-License-Identifier: Apache-2.0
"""Launches that are kept while programs run, to be repeated in other processes: artifact, arguments, results.

`Recorder(folder).install()` keeps the first call of every artifact that wrote something. `Launch.load(path).run()`
repeats it with nothing but copies of the host's memory around it: no kernel of anybody else runs, each piece of memory
is an allocation of its own, and what the call only writes is left as the device gives it. So a sanitizer that looks at
such a process has only our kernels to look at, sees what lies behind the end of a tensor, and which bytes were never
written.

    recorder = Recorder(Path("launches"))
    recorder.install()          # before the first artifact is loaded; then tests, benchmarks, anything
    Launch.load(Path("launches/softmax-0123456789ab")).run("cuda")

torch is imported where it is used; recording takes memory of the device by the runtime that is there, so the emulator's
tests record and repeat, too.
"""

from __future__ import annotations

import contextlib
import ctypes
import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MOST_BYTES = 96 << 20  # of one call's memory; larger calls are not kept
POISON = 0x7F  # of floats a large number or NaN, that no sum hides
ARTIFACT, DATA, NOTE = "artifact.so", "launch.pt", "launch.json"
_LEFT = "left"  # the folder of what was called and not kept, a file each, with the reason
_SOURCES = "kernels"  # the folder of what kernels are called and where their functions stand, a file a process


def bytes_of(storage: Any) -> Any:
    """A storage of torch as a tensor of bytes."""
    import torch

    return torch.empty(0, dtype=torch.uint8, device=storage.device).set_(storage)


def _synchronize() -> None:
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def _host(storage: Any) -> Any:
    """A copy of a storage's bytes in the host's memory."""
    return bytes_of(storage).cpu().clone()


def _behind(address: int) -> tuple[Any, int]:
    """The storage of torch's allocator that an address of the GPU lies in, and the offset there."""
    import torch

    for segment in torch.cuda.memory_snapshot() if torch.cuda.is_available() else ():
        if not segment["address"] <= address < segment["address"] + segment["total_size"]:
            continue
        for block in segment["blocks"]:
            size = block.get("requested_size") or block["size"]
            if block["state"] == "active_allocated" and block["address"] <= address < block["address"] + size:
                device = torch.device("cuda", segment["device"])
                made = torch._C._construct_storage_from_data_pointer(block["address"], device, size)
                return made, address - block["address"]
    raise TypeError("an address that torch's allocator has not given")


class Call:
    """The arguments of one call: their storages, each once, and how the arguments lie in them.

    Attributes:
        written: the numbers of the storages of which the artifact's note says that they are written.
    """

    def __init__(self, entries: Sequence[dict[str, Any]], arguments: Sequence[Any]) -> None:
        self.storages: list[Any] = []
        self.arguments = [self._described(one["kind"], value) for one, value in zip(entries, arguments, strict=True)]
        self.written = sorted(
            {
                one[1]
                for one, entry in zip(self.arguments, entries, strict=True)
                if one[0] in ("tensor", "pointer") and entry.get("written")
            }
        )

    def _described(self, role: str, value: Any) -> list[Any]:
        import torch

        if role == "stream":
            return ["stream"]
        if role == "tensor":
            tensor = value if isinstance(value, torch.Tensor) else torch.from_dlpack(value)
            tensor = tensor.detach()
            at = self._index(tensor.untyped_storage())
            kind = str(tensor.dtype).removeprefix("torch.")
            return ["tensor", at, kind, list(tensor.shape), list(tensor.stride()), tensor.storage_offset()]
        if role == "pointer":
            address = value.value if isinstance(value, ctypes.c_void_p) else value
            if not address:
                return ["value", None]
            storage, offset = _behind(int(address))
            return ["pointer", self._index(storage), offset]
        if not isinstance(value, (bool, int, float)):
            raise TypeError(f"a {role} of type {type(value).__name__}")
        return ["value", value]

    def _index(self, storage: Any) -> int:
        for at, known in enumerate(self.storages):
            if known.data_ptr() == storage.data_ptr() and known.nbytes() == storage.nbytes() and storage.nbytes():
                return at
        self.storages.append(storage)
        return len(self.storages) - 1

    @property
    def nbytes(self) -> int:
        """Of all storages."""
        return sum(one.nbytes() for one in self.storages)


class Recorder:
    """Keeps launches of this process in a folder, which several processes may share.

    Args:
        folder: where to; each launch is a folder there.
        most: calls of one artifact that are kept, of different shapes.
    """

    def __init__(self, folder: Path, most: int = 1) -> None:
        self.folder, self.most = folder, most
        self.kept: dict[str, set[str]] = {}
        self._paths: dict[int, tuple[Any, Path]] = {}
        for name in ("", _LEFT, _SOURCES):
            (folder / name).mkdir(parents=True, exist_ok=True)

    def install(self) -> None:
        """Watch all artifacts that this process loads from here on, and where the functions of kernels stand."""
        from flydsl.runtime import artifact

        paths, watched = self._paths, self._watched
        init, get = artifact.Artifact.__init__, artifact.ArtifactFunction.__getattr__

        def begin(one: Any, path: Path, note: dict[str, Any], functions: Any, *rest: Any) -> None:
            init(one, path, note, functions, *rest)
            paths.update({id(function): (function, path) for function in functions.values()})

        def get_call(function: Any, name: str) -> Any:
            native = get(function, name)
            if name == "_call" and id(function) in paths:
                function._call = watched(function, paths[id(function)][1], native)
                return function._call
            return native

        artifact.Artifact.__init__ = begin  # type: ignore[method-assign,assignment]
        artifact.ArtifactFunction.__getattr__ = get_call  # type: ignore[method-assign]

    def install_sources(self) -> None:
        """Note which function each kernel is made of; needs the compiler."""
        from flydsl.call import kernel_function

        path = self.folder / _SOURCES / f"{os.getpid()}.txt"
        init = kernel_function.KernelFunction.__init__
        known: set[tuple[str, str]] = set()

        def begin(kernel: Any, function: Any, *arguments: Any, **options: Any) -> None:
            init(kernel, function, *arguments, **options)
            place = f"{function.__module__}:{function.__name__}"
            name = kernel.fixed_name or f"{function.__name__}_*"
            if place.startswith("flydsl.kernels.") and (place, name) not in known:
                known.add((place, name))
                with path.open("a") as file:
                    file.write(f"{name} {place}\n")

        kernel_function.KernelFunction.__init__ = begin  # type: ignore[method-assign]

    def _watched(self, function: Any, path: Path, native: Callable[..., Any]) -> Callable[..., Any]:
        digest = hashlib.sha256(str(function.note.get("source_hash") or path).encode()).hexdigest()[:12]
        key = f"{function.note['name']}-{digest}"

        def call(*arguments: Any) -> Any:
            kept = self.kept.setdefault(key, set())
            if len(kept) >= self.most or _is_capturing():
                return native(*arguments)
            try:
                given = Call(function.note["arguments"], arguments)
            except Exception as error:
                self._leave(key, f"{type(error).__name__}: {error}")
                return native(*arguments)
            shapes = json.dumps(given.arguments)
            name = key if self.most == 1 else f"{key}-{hashlib.sha256(shapes.encode()).hexdigest()[:6]}"
            if shapes in kept or (self.folder / name).exists():
                kept.add(shapes)
                return native(*arguments)
            if given.nbytes > MOST_BYTES:
                self._leave(key, f"{given.nbytes} bytes")
                return native(*arguments)
            if self._keep(name, function.note, path, given, lambda: native(*arguments)):
                kept.add(shapes)
                (self.folder / _LEFT / key).unlink(missing_ok=True)
            else:
                self._leave(key, "wrote nothing")
            return None

        return call

    def _leave(self, key: str, reason: str) -> None:
        (self.folder / _LEFT / key).write_text(reason)

    def _keep(self, name: str, note: dict[str, Any], path: Path, given: Call, run: Callable[[], Any]) -> bool:
        """Run a call, and keep it if it wrote something; leaves memory as one run leaves it."""
        import torch

        _synchronize()
        before = [_host(one) for one in given.storages]
        run()
        _synchronize()
        after = [_host(one) for one in given.storages]
        # What has the same bytes behind a run on other bytes is only written. A run that changes no byte may have
        # written them all the same: memory that torch gives again may hold an earlier result.
        changed = [at for at, (one, other) in enumerate(zip(before, after, strict=True)) if not torch.equal(one, other)]
        written = sorted({*changed, *given.written})
        for at in written:
            bytes_of(given.storages[at]).fill_(POISON)
        run()
        _synchronize()
        same: dict[int, Any] = {}  # of what is written, the bytes that are the same each time: none that are added to
        pure = set()
        for at in written:
            again = _host(given.storages[at])
            touched = (again != POISON) | (after[at] != before[at])
            if not touched.any():
                continue
            if torch.equal(again[touched], after[at][touched]):
                pure.add(at)
            same[at] = touched if at in pure else torch.zeros_like(touched)
        for at in written:
            bytes_of(given.storages[at]).copy_(before[at])
        if not same:
            return False
        run()
        _synchronize()
        # Sums that are added to memory come in any order.
        exact = all(torch.equal(_host(given.storages[at]), after[at]) for at in pure)
        for at in same:
            bytes_of(given.storages[at]).copy_(after[at])
        storages = [
            Storage(len(one), None if at in pure else one, (after[at], same[at]) if at in same else None)
            for at, one in enumerate(before)
        ]
        write(self.folder / name, path, note, given.arguments, storages, exact)
        return True


def _is_capturing() -> bool:
    import torch

    return torch.cuda.is_available() and torch.cuda.is_current_stream_capturing()


@dataclass
class Storage:
    """Memory of a launch: its size, its bytes ahead of it (none: only written), what is written and where."""

    size: int
    before: Any
    after: tuple[Any, Any] | None


def write(
    folder: Path, artifact: Path, note: dict[str, Any], arguments: list[list[Any]], storages: list[Storage], exact: bool
) -> None:
    """Put a launch into a folder, whole or not at all."""
    import torch

    made = folder.with_name(f".{folder.name}.{os.getpid()}")
    made.mkdir(parents=True)
    shutil.copyfile(artifact, made / ARTIFACT)
    (made / ARTIFACT).chmod(0o644)
    kept = [(one.size, one.before, one.after) for one in storages]
    torch.save({"arguments": arguments, "storages": kept, "exact": exact}, made / DATA)
    about = {"name": note["name"], "kernels": [one["name"] for one in note["kernels"]], "exact": exact}
    (made / NOTE).write_text(json.dumps(about | {"bytes": sum(one.size for one in storages)}))
    with contextlib.suppress(OSError):  # another process was first
        made.rename(folder)
    shutil.rmtree(made, ignore_errors=True)


class Launch:
    """A launch that was kept."""

    def __init__(self, path: Path, kept: dict[str, Any]) -> None:
        self.path = path
        self.arguments: list[list[Any]] = kept["arguments"]
        self.storages = [Storage(*one) for one in kept["storages"]]
        self.exact: bool = kept["exact"]

    @staticmethod
    def load(path: Path) -> Launch:
        """Read a launch's folder."""
        import torch

        return Launch(path, torch.load(path / DATA, weights_only=True))

    def run(self, device: str, compare: bool = True) -> str | None:
        """Repeat it; returns what is not as it was, if that is wanted and the launch always gives the same."""
        import torch

        from flydsl import runtime

        function = runtime.load_artifact(self.path / ARTIFACT)
        pieces = []
        for one in self.storages:
            piece = torch.empty(one.size, dtype=torch.uint8, device=device)
            if one.before is not None and one.size:
                piece.copy_(one.before)
            pieces.append(piece)
        function(*self._passed(pieces))
        _synchronize()
        if not compare or not self.exact:
            return None
        for at, (one, piece) in enumerate(zip(self.storages, pieces, strict=True)):
            got = piece.cpu()
            where, wanted = (slice(None), one.before) if one.after is None else (one.after[1], one.after[0])
            wrong = int((got[where] != wanted[where]).sum())
            if wrong:
                return f"{wrong} bytes of piece {at}, of {one.size}, are not as they were"
        return None

    def _passed(self, pieces: Sequence[Any]) -> Iterator[Any]:
        import torch

        for role, *rest in self.arguments:
            if role == "tensor":
                at, kind, shape, stride, offset = rest
                made = torch.empty(0, dtype=getattr(torch, kind), device=pieces[at].device)
                yield made.set_(pieces[at].untyped_storage(), offset, shape, stride)
            elif role == "pointer":
                yield pieces[rest[0]].data_ptr() + rest[1]
            elif role == "stream":
                yield _stream(pieces)
            else:
                yield rest[0]


def _stream(pieces: Sequence[Any]) -> int | None:
    import torch

    on_a_gpu = any(one.device.type == "cuda" for one in pieces)
    return int(torch.cuda.current_stream().cuda_stream) if on_a_gpu else None


# -- what lies in a folder ---------------------------------------------------------------------------------------------


def launches(folder: Path) -> list[Path]:
    """The launches of a folder, small and large ones mixed always alike."""
    found = [path.parent for path in folder.glob(f"*/{NOTE}") if not path.parent.name.startswith(".")]
    return sorted(found, key=lambda path: hashlib.sha256(path.name.encode()).hexdigest())


def left_out(folder: Path) -> dict[str, str]:
    """What was called and not kept in any process, and why."""
    names = [path.name for path in launches(folder)]
    found = {path.name: path.read_text() for path in (folder / _LEFT).iterdir()}
    return {key: why for key, why in sorted(found.items()) if not any(name.startswith(key) for name in names)}


def kernel_functions(folder: Path) -> dict[str, set[str]]:
    """Of each function that a kernel was made of, "module:name", the launches that run it."""
    import fnmatch

    places = {
        tuple(line.split(" ")) for path in (folder / _SOURCES).iterdir() for line in path.read_text().splitlines()
    }
    found: dict[str, set[str]] = {}
    for path in launches(folder):
        for kernel in json.loads((path / NOTE).read_text())["kernels"]:
            for name, place in places:
                if kernel == name or ("*" in name and fnmatch.fnmatchcase(kernel, name)):
                    found.setdefault(place, set()).add(path.name)
    return found
