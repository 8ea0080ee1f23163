# SPDX-License-Identifier: Apache-2.0
"""`flyc.compile`: compile and run for these arguments, and get what calls the result with the least overhead."""

from __future__ import annotations

import functools
import math
import operator
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from flydsl.compile.compilation import Compiled
from flydsl.compile.report import CompilationReport
from flydsl.runtime import DeviceError, current_device, is_seen_to_write
from flydsl.trace.hints import validated
from flydsl.utils.file import atomic_write

from .arguments.passed import refuse_immutable, unwrapped
from .arguments.pointer import PointerArgument
from .arguments.tensor_kinds import is_tensor_type
from .arguments.written import check_written
from .dispatch import make_method
from .jit_function import BoundJitFunction, JitFunction, register_compile
from .kernel_function import KernelFunction

__all__ = ["CompiledFunction", "compile"]


class CompiledFunction:
    """A host function compiled for the types of example arguments.

    Calling it takes the parameters of the function by position; compile-time ones keep the values that it was compiled
    with, whatever is passed. It checks its arguments natively and compiles nothing.

    Attributes:
        note: the artifact's note (docs/artifact.md).
        path: the artifact's file.
    """

    __slots__ = ("_compiled", "_name")

    def __init__(self, name: str, compiled: Compiled) -> None:
        self._name = name
        self._compiled = compiled

    def __call__(self, *args: Any) -> None:
        """Run the function."""
        raise AssertionError("every compiled function has a class of its own, whose __call__ is generated")

    @property
    def note(self) -> dict[str, Any]:
        """The JSON note of the artifact."""
        assert self._compiled.artifact is not None
        return self._compiled.artifact.note

    @property
    def path(self) -> Path:
        """The artifact's file."""
        return self._compiled.path

    def export(self, path: str | os.PathLike[str], targets: Sequence[str] | None = None) -> Path:
        """Write the artifact to a file: one shared object that fly-runtime alone loads, and that C++ programs link.

        The file appears whole or not at all. An artifact that the cache has lost meanwhile is compiled again.

        With targets, `("gfx942", "gfx950", "sm_90a")`, the function is compiled for each of these, and the file has the
        kernels of all and one host function, whose grids, blocks and arguments are the same on all of them.

        Returns:
            The file's path.

        Raises:
            OSError: the folder is missing or cannot be written.
            RuntimeError: the cache has lost the artifact, and the function would be another one now; the host function
                depends on the target.
            TypeError: targets are no names.
            ValueError: no targets, one twice, or one that lacks what the function asks for.
            DSLCompileError: it cannot be compiled for one of them.
        """
        target = Path(path)
        made = self._compiled.private_copy() if targets is None else _for_targets(self._compiled, targets)
        with (
            made as copy,
            open(copy, "rb") as source,
            atomic_write(target, mode="wb") as file,
        ):
            shutil.copyfileobj(source, file)
        return target

    def export_to_c(self, file_path: str | os.PathLike[str], file_name: str, function_prefix: str = "") -> None:
        """Write `<file_name>.o` and `<file_name>.h` for C and C++ programs into the existing folder `file_path`.

        With P the prefix, by default the file's name, the object exports `int32_t P(void **args)`,
        `P__module_init(void)`, `P__module_load(int32_t device)`, `P__module_unload(void)` and the JSON text
        `P__metadata`; the header also has `P_call(...)` and `P_call_auto(...)` with typed parameters.

        Raises:
            FileNotFoundError: the folder does not exist.
            ValueError: the prefix is no C identifier that a program may define.
            NotImplementedError: the function needs a callback of Python after it was loaded, records events, or takes
                several streams.
            RuntimeError: there is no C compiler; or as `export`.
        """
        from flydsl.compile.c_export import export_to_c

        streams = sum(one["kind"] == "stream" for one in self.note["arguments"])
        if streams > 1:
            raise NotImplementedError(f"{self._name} takes {streams} streams, and a function for C has one")
        if "ktrace" in self.note:
            raise NotImplementedError(f"{self._name} records events (fx.ktrace) into a buffer of Python's: not for C")
        if self._compiled.callbacks:
            raise NotImplementedError(
                f"{self._name} calls module_init_fn when it is loaded, which is Python: not for C"
            )
        with self._compiled.private_copy() as copy:
            backend = self._compiled.request.settings.backend
            export_to_c(copy, self.note, file_path, file_name, function_prefix, backend=backend)

    def max_blocks_per_cu(self) -> int:
        """Return how many workgroups of the kernel a compute unit of the current device holds at a time.

        Raises:
            RuntimeError: not exactly one launch, or its block or LDS is computed at run time; no device.
        """
        kernels = self.note["kernels"]
        launches = [(number, one) for number, kernel in enumerate(kernels) for one in kernel["launches"]]
        if len(launches) != 1:
            raise RuntimeError(f"{self._name} has {len(launches)} launches; max_blocks_per_cu() needs exactly one")
        number, launch = launches[0]
        if launch["block"] is None or launch["shared_bytes"] is None:
            raise RuntimeError(
                f"{self._name} computes the block or the dynamic LDS of its launch at run time; max_blocks_per_cu() "
                "needs constants"
            )
        assert self._compiled.artifact is not None
        return self._compiled.artifact.max_active_blocks(number, math.prod(launch["block"]), launch["shared_bytes"])

    def ir(self, stage: str = "origin") -> str:
        """Return the program after a stage; see `JitFunction.ir`."""
        from flydsl.compile.stage_ir import ir_after

        return ir_after(self._compiled.request, stage)

    @property
    def report(self) -> CompilationReport:
        """What was compiled, from where it came, how long each stage took, what its kernels use."""
        return self._compiled.report()

    @property
    def origin(self) -> str:
        """`compiled`, or `disk` when the artifact was there already."""
        return self._compiled.origin

    @property
    def times(self) -> dict[str, float]:
        """Seconds that each stage of the compilation took; `trace` and `key` alone when it came from disk."""
        return self._compiled.times.seconds

    def __repr__(self) -> str:
        return f"<CompiledFunction {self._name} from {self._compiled.path}>"


@contextmanager
def _for_targets(compiled: Compiled, targets: Sequence[str]) -> Iterator[Path]:
    """Give a block the artifact for several targets; it goes at its end."""
    from flydsl.compile.targets import build_for

    with tempfile.TemporaryDirectory(prefix="flydsl-") as folder:
        path = Path(folder, "artifact.so")
        build_for(compiled.request, targets, path)
        yield path


def _made(
    jit: JitFunction[Any, Any], compiled: Compiled, call: Callable[..., None], values: tuple[Any, ...]
) -> CompiledFunction:
    """Return the compiled function: an object of a class of its own, so that a call is one Python call."""

    def recover(error: Exception, args: tuple[Any, ...]) -> None:
        # Whether values are wrapped may differ from the example arguments.
        plain = tuple(map(unwrapped, args))
        if not isinstance(error, TypeError) or getattr(error, "launched", True) or all(map(operator.is_, plain, args)):
            raise error
        call(*plain)

    made = make_method(jit, call, recover, _written(jit, compiled, values))
    own_class = type("CompiledFunction", (CompiledFunction,), {"__slots__": (), "__call__": made})
    own_class.__module__ = CompiledFunction.__module__
    found: CompiledFunction = own_class(jit.original.__name__, compiled)
    return found


def _written(
    jit: JitFunction[Any, Any], compiled: Compiled, values: tuple[Any, ...]
) -> dict[str, tuple[type, Callable[[Any], None]]]:
    """Return what `make_method` takes of the tensors that a program writes: those of JAX must be refused."""
    entries = {one["name"]: one for one in compiled.note["arguments"] if one["kind"] == "tensor"}
    found: dict[str, tuple[type, Callable[[Any], None]]] = {}
    for parameter, value in zip(jit.parameters, values, strict=True):
        entry = entries.get(parameter.name)
        if entry is not None and entry["access"] != "read":
            where = f"{jit.original.__qualname__}(): argument '{parameter.name}'"
            # What a wrapper holds is looked at in each call.
            kind = type(value) if unwrapped(value) is value else object
            check = check_written if is_seen_to_write(entry) else refuse_immutable
            found[parameter.name] = (kind, functools.partial(check, where))
    return found


class _Compile:
    """`compile(fn, *args)` and `compile[hints](fn, *args)`, which also run once; `compile.only(fn, *args)` does not."""

    def __init__(self, hints: Mapping[str, Any] | None = None) -> None:
        self._hints = hints

    def __getitem__(self, hints: Mapping[str, Any]) -> _Compile:
        """Return a compiler that adds hints to the function's own, for good.

        Raises:
            TypeError: no dict.
        """
        if not isinstance(hints, Mapping):
            raise TypeError(f"flyc.compile[...] takes a dict of compile hints, not {type(hints).__name__}")
        return _Compile(validated(hints))

    def __call__(self, fn: Any, *args: Any, **kwargs: Any) -> Any:
        """Compile `fn` for the types of these arguments, and run it once with them.

        It is not run where none of its tensors and pointers is memory of the current device: CPU tensors beside a GPU,
        `meta` tensors, null pointers. On the emulated device CPU tensors and arrays are device memory. Without
        arguments `fn` itself is returned, with the hints added to its own.

        Returns:
            A `CompiledFunction`; `None` under `COMPILE_ONLY`.

        Raises:
            TypeError: `fn` is no jit function; arguments that do not fit its parameters.
            DSLCompileError: it cannot be compiled.
        """
        return self._compile(fn, args, kwargs, run=True)

    def only(self, fn: Any, *args: Any, **kwargs: Any) -> Any:
        """Compile `fn` for the types of example arguments, and run nothing; else as a call of this object."""
        return self._compile(fn, args, kwargs, run=False)

    def _compile(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any], run: bool) -> Any:
        jit = fn.jit if isinstance(fn, BoundJitFunction) else fn
        if not isinstance(jit, JitFunction):
            hint = ": pass the one that launches this kernel" if isinstance(fn, KernelFunction) else ""
            raise TypeError(f"flyc.compile takes a @flyc.jit function, not {type(fn).__name__}{hint}")
        if self._hints:
            jit.compile_hints.update(self._hints)
        if not args and not kwargs and jit.parameters:
            return fn
        if isinstance(fn, BoundJitFunction):
            args = (fn.__self__, *args)
        values = jit.bind(args, kwargs)
        call = jit.specialise(values, runs=run)
        compiled = jit.compiled_for(values)
        if compiled.artifact is None:
            return None
        made = _made(jit, compiled, call, values)
        if run and _on_the_device(values):
            call(*values)
        return made


def _on_the_device(values: tuple[Any, ...]) -> bool:
    """Whether some tensor or pointer among arguments is memory of the current device, or there is none among them."""
    try:
        emulated = current_device().emulated
    except DeviceError:
        return False
    found = [_is_of_the_device(one, emulated) for one in values]
    memory = [one for one in found if one is not None]
    return any(memory) or not memory


def _is_of_the_device(value: Any, emulated: bool) -> bool | None:
    """Whether an argument is memory of the current device; `None` for what is no memory."""
    if isinstance(value, PointerArgument):
        return value.address != 0
    tensor = unwrapped(value)
    if not is_tensor_type(type(tensor)):
        return None
    try:
        kind, _ = tensor.__dlpack_device__()
    except (BufferError, RuntimeError, TypeError, ValueError):  # a `meta` tensor is nowhere
        return False
    return (int(kind) == _ON_CPU) == emulated


_ON_CPU = 1  # kDLCPU of DLPack


compile = _Compile()


register_compile(compile)
