# SPDX-License-Identifier: Apache-2.0
"""`@flyc.kernel`, and the compilation that a traced kernel or host function belongs to."""

from __future__ import annotations

import functools
import inspect
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from types import FunctionType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, Protocol, TypeVar, overload

from flydsl.compile.tracing import Compilation, active
from flydsl.frontend.rewrite import is_rewrite_of, rewrite_function
from flydsl.trace import context as _trace
from flydsl.trace import hints as _hints
from flydsl.trace.diagnostics import where_text
from flydsl.trace.hints import effective_fastmath_hint, merge_compile_hints

from .launch import Launcher, block_size_of
from .signature import resolve_annotations
from .typed import Typed

if TYPE_CHECKING:
    from flydsl.compile.compilation import Request

__all__ = [
    "CompilationContext",
    "KernelFunction",
    "KernelLauncher",
    "effective_fastmath_hint",
    "kernel",
    "merge_compile_hints",
]

KernelLauncher = Launcher

_SYMBOL = re.compile(r"[A-Za-z_.$][\w.$]*", re.ASCII)

P = ParamSpec("P")
S = TypeVar("S")
Rest = ParamSpec("Rest")


class _Uses:
    """The last specialisation that reaches a kernel; shared by the kernel and its bound forms."""

    last: Request | None = None


class KernelFunction(Typed[P, Launcher]):
    """A device entry. Calling it inside a `@flyc.jit` function gives a launcher; `.launch(...)` emits code.

    Attributes:
        func: the function as it was written.
        known_block_size: the block size that every launch has, when it was declared.
        fixed_name: the symbol, when it was given.
    """

    def __init__(
        self,
        func: FunctionType,
        name: str | None,
        known_block_size: Any,
        receiver: tuple[Any, ...] = (),
        annotations: dict[str, Any] | None = None,
    ) -> None:
        functools.update_wrapper(self, func)
        self.__name__ = func.__name__
        self.func = func
        self.fixed_name = name
        self.known_block_size = block_size_of(known_block_size)
        self.receiver = receiver
        self.annotations: dict[str, Any] = resolve_annotations(func) if annotations is None else annotations
        self._traced: FunctionType | None = None
        self._uses = _Uses()

    @property
    def _func(self) -> FunctionType:
        """The function under the name by which existing code sets its `__name__`: the symbol of kernels to come."""
        return self.func

    @functools.cached_property
    def signature(self) -> inspect.Signature:
        """The signature without `self`."""
        signature = inspect.signature(self.func)
        if self.receiver:
            signature = signature.replace(parameters=list(signature.parameters.values())[1:])
        return signature

    @property
    def traced(self) -> FunctionType:
        """The rewritten body."""
        if self._traced is None or not is_rewrite_of(self._traced, self.func):
            self._traced = rewrite_function(self.func, decorated=True, keep_value=False)
        return self._traced

    def ir(self, stage: str = "origin") -> str:
        """Return this kernel's program after a stage, as it was last compiled or loaded in this process.

        Args:
            stage: `origin` (as traced), a pass of the pipeline such as `fly-layout-lowering`, `llvm` or `isa`.

        Raises:
            RuntimeError: no host function that launches it was called or compiled yet.
            ValueError: there is no such stage; the text lists them.
        """
        if self._uses.last is None:
            raise RuntimeError(
                f"kernel '{self.__name__}' was not compiled in this process yet, so there is no program to show: call "
                "or flyc.compile the @flyc.jit function that launches it"
            )
        from flydsl.compile.stage_ir import ir_after

        return ir_after(self._uses.last, stage, (self.func.__qualname__,))

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> KernelFunction[P]: ...
    @overload
    def __get__(
        self: KernelFunction[Concatenate[S, Rest]], instance: S, owner: type | None = None
    ) -> KernelFunction[Rest]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        if instance is None:
            return self
        bound: KernelFunction[Any] = KernelFunction(
            self.func, self.fixed_name, self.known_block_size, (instance,), self.annotations
        )
        bound._traced, bound._uses = self._traced, self._uses
        return bound

    def used_by(self, request: Request) -> None:
        """Remember the specialisation that reaches this kernel, for `ir`."""
        self._uses.last = request

    if not TYPE_CHECKING:  # checkers see `Typed`'s

        def __call__(self, *args, unit_attrs=(), value_attrs=None, **kwargs):
            """Bind arguments; `unit_attrs` and `value_attrs` become attributes of the device function.

            Raises:
                RuntimeError: outside a `@flyc.jit` function that is being traced, or inside a kernel.
                TypeError: arguments that do not fit the parameters.
            """
            if active() is None:
                raise RuntimeError(
                    f"@kernel can only be called inside @jit function: call '{self.__name__}' from a function "
                    "decorated with @flyc.jit, and call that one"
                )
            scope = _trace.current().kernel
            if scope is not None:
                raise RuntimeError(
                    f"kernel '{self.__name__}' is called inside kernel '{scope.name}': a kernel starts on the host, "
                    "from a @flyc.jit function. What kernels share is a plain function, which they call"
                )
            try:
                bound = self.signature.bind(*args, **kwargs)
            except TypeError as error:
                raise TypeError(
                    f"kernel '{self.__name__}': {error}; it takes ({', '.join(self.signature.parameters)})"
                ) from None
            bound.apply_defaults()
            for name, parameter in self.signature.parameters.items():
                if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                    raise TypeError(
                        f"kernel '{self.__name__}': '*{name}' cannot be a kernel parameter; pass a tuple or dict"
                    )
            return Launcher(self, bound, unit_attrs, dict(value_attrs or {}))

    def launch(self, **_: Any) -> Any:
        """Refuse a launch without arguments."""
        raise TypeError(
            f"a kernel gets its arguments first: {self.__name__}({', '.join(self.signature.parameters)})"
            ".launch(grid=..., block=...)" + where_text()
        )

    def __getitem__(self, grid: Any) -> Any:
        """Refuse the launch syntax of other languages."""
        raise TypeError(
            f"a kernel is launched with {self.__name__}(...).launch(grid=..., block=...) inside a @flyc.jit function, "
            f"not with {self.__name__}[...](...)"
        )

    def __repr__(self) -> str:
        return f"<@flyc.kernel {self.func.__qualname__}>"


class _KernelDecorator(Protocol):
    def __call__(self, func: Callable[P, Any], /) -> KernelFunction[P]: ...


@overload
def kernel(func: Callable[P, Any], *, name: str | None = None, known_block_size: Any = None) -> KernelFunction[P]: ...
@overload
def kernel(func: None = None, *, name: str | None = None, known_block_size: Any = None) -> _KernelDecorator: ...
def kernel(func: Any = None, *, name: str | None = None, known_block_size: Any = None) -> Any:
    """Make a function a kernel; bare or with keywords.

    Args:
        func: the function, or a method: its first parameter is `self`.
        name: the symbol in the code object; by default the function's name and a number.
        known_block_size: the three extents of the workgroup, when every launch has the same.

    Raises:
        TypeError: no Python function; `name` is no text; `known_block_size` is no sequence of ints.
        ValueError: `known_block_size` has not three positive extents; `name` is no symbol.
    """

    if name is not None and (not isinstance(name, str) or not name):
        raise TypeError(f"@flyc.kernel(name=...) is the symbol of the kernel, a text, not {name!r}")
    if name is not None and not _SYMBOL.fullmatch(name):
        raise ValueError(
            f"@flyc.kernel(name={name!r}): the symbol of a kernel is made of letters, digits and '_.$', and does "
            "not begin with a digit"
        )

    def decorate(function: Callable[..., Any]) -> KernelFunction[Any]:
        if isinstance(function, staticmethod):
            function = function.__func__
        if not isinstance(function, FunctionType):
            raise TypeError(f"@flyc.kernel decorates a Python function, not {type(function).__name__}")
        return KernelFunction(function, name, known_block_size)

    return decorate if func is None else decorate(func)


class CompilationContext:
    """The compilation that is being traced, and the hints for compilations to come."""

    @staticmethod
    def get_current() -> Compilation:
        """Return the compilation being traced; its `gpu_module_body` is the block of the device module.

        Raises:
            RuntimeError: nothing is being traced.
        """
        compilation = active()
        if compilation is None:
            raise RuntimeError("no @flyc.jit function is being traced")
        return compilation

    @staticmethod
    def compile_hints(hints: Mapping[str, Any]) -> AbstractContextManager[None]:
        """Apply compile hints to the calls inside a `with` block."""
        return _hints.compile_hints(hints)

    @staticmethod
    def get_compile_hints() -> dict[str, Any]:
        """Return the hints in effect: those of the compilation being traced, else the ambient ones."""
        compilation = active()
        return dict(compilation.hints) if compilation is not None else _hints.ambient_hints()
