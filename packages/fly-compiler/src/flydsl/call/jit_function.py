# SPDX-License-Identifier: Apache-2.0
"""`@flyc.jit`: a host function that is compiled for the types of its arguments at the first call with them."""

from __future__ import annotations

import functools
import inspect
from collections import namedtuple
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar, overload

from flydsl.compile.compilation import Compiled, Request, compile_request
from flydsl.compile.report import CompilationReport
from flydsl.compile.target import settings
from flydsl.compile.tracing import Receiver, Static
from flydsl.expr.values.typing import Stream
from flydsl.frontend.rewrite import is_rewrite_of, rewrite_function
from flydsl.runtime import load_driver_compiler, load_ptx_ahead, prepare_calls
from flydsl.runtime.forks import new_lock, undivided
from flydsl.runtime.imports import without_collections
from flydsl.trace.hints import effective_hints, has_ambient, hints_key, validated
from flydsl.utils import env, log

from .arguments.classify import classify
from .arguments.markers import is_compile_time, is_static_type
from .arguments.passed import Passed, refuse_written
from .arguments.registry import warn_foreign_annotations
from .dispatch import make_dispatch
from .fast_call import make_fast_call
from .signature import resolve_annotations, split_optional
from .typed import Typed
from .watch import Reach, Watch, state_of
from .watch.foreign import is_foreign_class
from .watch.watch import same_value

__all__ = ["CacheInfo", "JitFunction", "Parameter", "jit"]

P = ParamSpec("P")
R = TypeVar("R")
S = TypeVar("S")
Rest = ParamSpec("Rest")

CacheInfo = namedtuple("CacheInfo", ["hits", "misses", "currsize", "disk_size"])
"""`hits` and `misses` of the disk cache, specialisations in memory, artifacts on disk."""


class Parameter:
    """One parameter of the host function."""

    __slots__ = (
        "annotation",
        "compile_time",
        "default",
        "has_default",
        "is_keyword_only",
        "is_optional",
        "is_positional_only",
        "is_receiver",
        "name",
    )

    def __init__(self, one: inspect.Parameter, annotation: Any, is_receiver: bool) -> None:
        self.name = one.name
        self.is_keyword_only = one.kind is one.KEYWORD_ONLY
        self.is_positional_only = one.kind is one.POSITIONAL_ONLY
        self.default = one.default
        self.has_default = one.default is not one.empty
        self.annotation, declared = split_optional(annotation)
        self.is_optional = declared or self.default is None
        self.is_receiver = is_receiver
        self.compile_time = is_receiver or is_compile_time(self.annotation)

    def is_absent(self, value: Any) -> bool:
        """Tell whether an argument is not there: `None` for a parameter that says that it may be."""
        return value is None and self.is_optional and not self.compile_time and self.annotation is not Stream


_compile_ahead: list[Callable[..., Any]] = []


def register_compile(function: Callable[..., Any]) -> None:
    """Say what compiles a jit function ahead of its first call: `flyc.compile`, which stands above this module."""
    _compile_ahead[:] = [function]


class JitFunction(Typed[P, R]):
    """A host function that launches kernels.

    Calling it outside a trace binds the arguments, compiles for their types unless that was done before, and runs.
    Inside a trace the (rewritten) function is called in place, and its result is returned.

    Attributes:
        compile_hints: default hints of every compilation; change them at any time.
        func: the rewritten function.
    """

    def __init__(self, function: FunctionType) -> None:
        functools.update_wrapper(self, function)
        self.original = function
        self.compile_hints: dict[str, Any] = {}
        self.hits = 0
        self.misses = 0
        self._lock = new_lock()
        self._rewritten: FunctionType | None = None
        self._watch: Watch | None = None
        self._roots: list[Any] = [function]
        self._files: dict[str, Any] = {}
        self._names: set[str] = set()
        self._asked: set[tuple[str, str]] = set()
        self._unwatched = ""
        self._is_too_much = False
        self._said: set[str] = set()
        self._held: list[Any] = []  # by receivers
        self._entries: dict[Any, Callable[..., None]] = {}
        self._compiled: dict[Any, Compiled] = {}
        self._hint_tokens: dict[Any, tuple[Any, ...]] = {}
        self._renew_call()

    # -- facts ---------------------------------------------------------------------------------------------------------

    @property
    def func(self) -> Callable[..., Any]:
        """The rewritten function."""
        if self._rewritten is None or not is_rewrite_of(self._rewritten, self.original):
            self._rewritten = rewrite_function(self.original, decorated=True)
        return self._rewritten

    @functools.cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters with their resolved annotations.

        Raises:
            TypeError: the function takes `*args` or `**kwargs`.
        """
        annotations = resolve_annotations(self.original)
        found = []
        for index, one in enumerate(inspect.signature(self.original).parameters.values()):
            if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD):
                raise TypeError(
                    f"{self.original.__qualname__}(): a host function cannot take '*{one.name}'; name its parameters"
                )
            found.append(Parameter(one, annotations.get(one.name), index == 0 and one.name in ("self", "cls")))
        return tuple(found)

    def cache_info(self) -> CacheInfo | None:
        """Return how the disk cache served this function, `None` when it is off."""
        if not env.runtime.enable_cache:
            return None
        stores = {one.store.folder: one.store for one in self._compiled.values() if one.store is not None}
        disk = sum(map(len, stores.values()))
        return CacheInfo(self.hits, self.misses, len(self._compiled), disk)

    @property
    def traced_at_each_call(self) -> str | None:
        """Why this function is traced at each call; `None` where it is not, as nearly always.

        That takes milliseconds. It is so where code reads something of which nothing tells whether it changed (see
        "In a process" of docs/cache.md). It is known once the function was compiled.
        """
        return f"{self.original.__qualname__}() {self._unwatched}" if self._unwatched else None

    # -- calls ---------------------------------------------------------------------------------------------------------

    if not TYPE_CHECKING:  # checkers see `Typed`'s

        def __call__(self, *args, **kwargs):
            """Run the function; see the class."""
            raise AssertionError("every jit function has a class of its own, whose __call__ is generated")

    def inline(self, *args: Any) -> Any:
        """Run the rewritten function as a part of the trace that is going on, and return its result."""
        positional = [value for one, value in zip(self.parameters, args, strict=True) if not one.is_keyword_only]
        keywords = {one.name: value for one, value in zip(self.parameters, args, strict=True) if one.is_keyword_only}
        return self.func(*positional, **keywords)

    def _renew_call(self) -> None:
        """Generate `__call__` for what is known now."""
        call, key_of = make_fast_call(self, self._watch)
        type(self).__call__ = call  # type: ignore[method-assign]
        type(self).key_of = key_of  # type: ignore[method-assign]

    @overload
    def __get__(self, instance: None, owner: type | None = None) -> JitFunction[P, R]: ...
    @overload
    def __get__(
        self: JitFunction[Concatenate[S, Rest], R], instance: S, owner: type | None = None
    ) -> BoundJitFunction[Rest, R]: ...
    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else BoundJitFunction(self, instance)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """Return the value of each parameter; `TypeError` as Python's when they do not fit."""
        bound = inspect.signature(self.original).bind(*args, **kwargs)
        bound.apply_defaults()
        return tuple(bound.arguments.values())

    def key_of(self, values: tuple[Any, ...]) -> tuple[Any, ...]:
        """Return the key under which the specialisation for some argument values is kept in memory."""
        raise AssertionError("every jit function has a class of its own, whose key_of is generated (fast_call)")

    def receiver_key(self, value: Any) -> Any:
        """Return what stands in the key for the object or class that a method belongs to."""
        if isinstance(value, type):
            self._watch_too([value])
            return value
        while True:
            found: list[Any] = []
            names = set() if self._watch is None else self._watch.names
            key = state_of(value, names, found)
            if not self._watch_too(found):
                return key

    def _watch_too(self, found: Sequence[Any]) -> bool:
        """Watch more of what receivers hold; tell whether any was new."""
        watch = self._watch
        new = [one for one in found if watch is None or not watch.reach.covers(one)]
        if not new or self._unwatched:
            return False
        with self._lock:
            self._held += new
            self._watch = self._watched()
            self._renew_call()
        return True

    def hints_token(self) -> Any:
        """Return the effective hints as a part of the key."""
        if has_ambient():
            return hints_key(validated(effective_hints(self.compile_hints)))
        if not self.compile_hints:
            return ()
        try:
            # With the types: 1 and True are equal, but ask for different things.
            items = tuple(self.compile_hints.items()), tuple(map(type, self.compile_hints.values()))
            known = self._hint_tokens.get(items)
        except TypeError:  # a value that is a dict or list
            return hints_key(validated(effective_hints(self.compile_hints)))
        if known is None:
            known = self._hint_tokens[items] = hints_key(validated(effective_hints(self.compile_hints)))
        return known

    def specialise(self, values: tuple[Any, ...], *, runs: bool = False) -> Callable[..., None]:
        """Return what runs the function for values like these, compiling it if need be; it takes all parameters.

        Who `runs` it then has a CUDA driver compile while Python goes on.
        """
        with undivided(), self._lock:
            self._check_watch()
            key = self.key_of(values)
            known = self._entries.get(key)
            if known is None:
                with without_collections():
                    known = self._entries[key] = self._compile(key, values, runs)
            return known

    def compiled_for(self, values: tuple[Any, ...]) -> Compiled:
        """Return the compilation for values like these."""
        self.specialise(values)
        return self._compiled[self.key_of(values)]

    def ir(self, stage: str = "origin", *args: Any, **kwargs: Any) -> str:
        """Return the whole program after a stage.

        Args:
            stage: `origin` (as traced), a pass of the pipeline such as `fly-layout-lowering`, `llvm` or `isa`.
            args: example arguments, to say which specialisation; by default the last one that was compiled or loaded.
            kwargs: the same by name.

        Raises:
            RuntimeError: without arguments, and nothing was compiled yet.
            ValueError: there is no such stage; the text lists them.
        """
        from flydsl.compile.stage_ir import ir_after

        if args or kwargs or not self.parameters:
            return ir_after(self.compiled_for(self.bind(args, kwargs)).request, stage)
        if not self._compiled:
            raise RuntimeError(
                f"{self.original.__qualname__}() was not compiled in this process yet; pass example arguments: "
                f"{self.original.__name__}.ir({stage!r}, ...)"
            )
        return ir_after(next(reversed(self._compiled.values())).request, stage)

    def report(self, *args: Any, **kwargs: Any) -> CompilationReport:
        """Compile for these arguments unless that was done, launch nothing, and say where the code came from.

        The report's origin is `memory` when an earlier call in this process made or loaded it, `disk` or `compiled`
        when this one did.
        """
        values = self.bind(args, kwargs)
        before = set(self._compiled)
        compiled = self.compiled_for(values)
        return compiled.report("memory" if self.key_of(values) in before else None)

    def compile(self, *args: Any, **kwargs: Any) -> Any:
        """Compile for example arguments, `flyc.compile(self, *args, **kwargs)`: a method of existing launchers."""
        return _compile_ahead[0](self, *args, **kwargs)

    def _compile(self, key: Any, values: tuple[Any, ...], runs: bool) -> Callable[..., None]:
        arguments: list[tuple[str, Any]] = []
        passed: list[tuple[int, Passed]] = []
        for index, (parameter, value) in enumerate(zip(self.parameters, values, strict=True)):
            if parameter.compile_time or parameter.is_absent(value):
                arguments.append((parameter.name, Receiver(value) if parameter.is_receiver else Static(value)))
            else:
                where = f"{self.original.__qualname__}(): argument '{parameter.name}'"
                one = classify(where, value, parameter.annotation)
                arguments.append((parameter.name, one.spec))
                passed.append((index, one))
        known = [one.value for _, one in arguments if isinstance(one, Static)]
        outside = _Outside(self, known)
        request = Request(
            function=self.inline,
            name=self.original.__name__,
            arguments=arguments,
            qualified_name=f"{self.original.__module__}.{self.original.__qualname__}",
            settings=settings(),
            hints=validated(effective_hints(self.compile_hints)),
            is_from_outside=outside,
        )
        if runs and not request.settings.compile_only:
            load_driver_compiler()
            request.meanwhile, request.ahead = prepare_calls, load_ptx_ahead
        try:
            compiled = compile_request(request)
        finally:
            outside.forget()  # what keeps all alive that it found
            request.meanwhile = request.ahead = None  # who compiles it again does not run it
        if runs and compiled.artifact is not None:
            compiled.artifact.load_ahead()
        for kernel in compiled.kernels:
            kernel.used_by(request)
        compiled.kernels = ()  # that of a method has its object
        self.hits += compiled.origin == "disk"
        self.misses += compiled.origin == "compiled" and compiled.store is not None
        entries = compiled.note["arguments"] if any(one.immutable for _, one in passed) else []
        for index, one in passed:
            name = self.parameters[index].name
            where = f"{self.original.__qualname__}(): argument '{name}'"
            refuse_written(where, one, [entry for entry in entries if entry["name"] == name])
        self._compiled[key] = compiled
        self._files.update(compiled.files)
        self._names.update(compiled.names)
        self._asked.update(compiled.asked)
        self._watch_all(values)
        return make_dispatch(self, compiled, passed, values)

    # -- what the traced code reads ------------------------------------------------------------------------------------

    def _check_watch(self) -> None:
        """See whether all that was traced from still is the same; forget what was compiled from anything else.

        Raises:
            RuntimeError: data of a module that was compiled in has another value now, or a parameter another default.
        """
        if self._watch is None:
            return
        changed = self._watch.changed()
        if not changed:
            return
        self._check_defaults()
        text = self._watch.error([one for one in changed if not same_value(one)])
        if text is not None:
            raise RuntimeError(
                f"{self.original.__qualname__}() was compiled with {text}. Compiled code keeps the value it saw: pass "
                "it as an fx.Constexpr argument instead"
            )
        if not all(map(same_value, changed)):
            labels = ", ".join(dict.fromkeys(one.label for one in changed))
            log().info("%s is traced anew: %s changed", self.original.__qualname__, labels)
            self._entries.clear()
            self._compiled.clear()
            self._files.clear()
            self._names.clear()
            self._held.clear()
            self._asked.clear()
            if not self._is_too_much:
                self._unwatched = ""
        self._watch = self._watched()
        self._renew_call()

    def _check_defaults(self) -> None:
        """Refuse other defaults of the host function itself: they are those of its parameters, read once."""
        now = {one.name: one.default for one in inspect.signature(self.original).parameters.values()}
        for one in self.parameters:
            if now.get(one.name) is not one.default:
                raise RuntimeError(
                    f"{self.original.__qualname__}(): the default of '{one.name}' was {one.default!r} when the "
                    f"function was decorated, and now is {now.get(one.name)!r}: pass the argument, or decorate the "
                    "function anew"
                )

    def _watched(self) -> Watch:
        """Return a watch of all that can have been read, as it is now."""
        watch = Watch([*self._roots, *self._held], self._files, self._names, self._asked, unwatched=self._unwatched)
        self._is_too_much |= watch.is_too_much
        self._unwatched = watch.unwatched
        if watch.unwatched and watch.unwatched not in self._said:
            self._said.add(watch.unwatched)
            log().warning(
                "%s() %s: it is traced at each call, which takes milliseconds. Compute what it needs of that before "
                "the call, and pass it as an argument",
                self.original.__qualname__,
                watch.unwatched,
            )
        return watch

    def _watch_all(self, values: tuple[Any, ...]) -> None:
        """Watch all that a trace for these arguments, and those before it, can have read."""
        found = [value for one, value in zip(self.parameters, values, strict=True) if is_static_type(one.annotation)]
        found += [type(value) for one, value in zip(self.parameters, values, strict=True) if not one.compile_time]
        found += [one.annotation for one in self.parameters]
        self._roots += [one for one in found if _is_user_class(one) and one not in self._roots]
        # Anew each time: names may be bound, and modules imported, since the last one.
        self._watch = self._watched()
        self._renew_call()

    def __repr__(self) -> str:
        return f"<@flyc.jit {self.original.__qualname__}>"


class _Outside:
    """Whether an object is there without a trace: a function or its arguments lead to it. Looked for when asked."""

    def __init__(self, jit: JitFunction[Any, Any], arguments: list[Any]) -> None:
        self.jit = jit
        self.arguments = arguments
        self.reach: Reach | None = None

    def __call__(self, value: object) -> bool:
        if self.reach is None:
            self.reach = Reach([*self.jit._roots, *self.jit._held, *self.arguments])
        return self.reach.covers(value)

    def forget(self) -> None:
        """Let go what was found, and the arguments; a trace to look at the program again asks for nothing of them."""
        self.reach = None
        self.arguments = []


def _is_user_class(value: Any) -> bool:
    return isinstance(value, type) and not is_foreign_class(value)


class BoundJitFunction(Typed[P, R]):
    """A jit method with its instance."""

    __slots__ = ("__self__", "jit")

    def __init__(self, function: JitFunction[Any, R], instance: Any) -> None:
        self.jit = function
        self.__self__ = instance

    if not TYPE_CHECKING:

        def __call__(self, *args, **kwargs):
            return self.jit(self.__self__, *args, **kwargs)

    def compile(self, *args: Any, **kwargs: Any) -> Any:
        """Compile for example arguments; see `JitFunction.compile`."""
        return self.jit.compile(self.__self__, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.jit, name)


@overload
def jit(func: Callable[P, R]) -> JitFunction[P, R]: ...
@overload
def jit(func: None = None) -> Callable[[Callable[P, R]], JitFunction[P, R]]: ...
def jit(func: Any = None) -> Any:
    """Make a function the host side of kernels: it computes grids and launches. See `JitFunction`.

    Raises:
        TypeError: no Python function.
    """
    if func is None:
        return jit
    if isinstance(func, (staticmethod, classmethod)):
        return type(func)(jit(func.__func__))
    if not isinstance(func, FunctionType):
        raise TypeError(f"@flyc.jit decorates a Python function, not {type(func).__name__}")
    own_class = type("JitFunction", (JitFunction,), {"__module__": JitFunction.__module__, "__doc__": func.__doc__})
    made: JitFunction[Any, Any] = own_class(func)
    warn_foreign_annotations(func)
    return made
