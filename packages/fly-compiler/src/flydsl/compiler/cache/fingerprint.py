# SPDX-License-Identifier: Apache-2.0
"""Everything in Python that the result of tracing a function depends on.

From the function the walk follows what its code names: globals, closure variables, attributes of the user's modules and
classes; and from there on into every function, kernel and class of the user's. It gives

- a hash of all sources and values, which is part of the disk key, and
- the list of what was found where, so that a later call can see in a microsecond whether anything is different.
"""

from __future__ import annotations

import copy
import dataclasses
import dis
import enum
import hashlib
import sys
from types import BuiltinFunctionType, CellType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

from ..rewrite import SourceUnavailableError, find_source

__all__ = ["Drift", "Fingerprint", "fingerprint", "state_key"]

_FOREIGN = frozenset(sys.stdlib_module_names) - {"__main__"} | {
    "numpy",
    "torch",
    "jax",
    "ml_dtypes",
    "tvm_ffi",
    "pytest",
    "_pytest",
}
_LIBRARY = ("flydsl.compiler", "flydsl.expr", "flydsl._mlir", "flydsl.layout", "flydsl.runtime", "flydsl.utils")
_SCALARS = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_MISSING = object()


class Drift:
    """One name that the traced code reads: where it is, and what was found."""

    __slots__ = ("code", "compared", "name", "namespace", "value")

    def __init__(self, namespace: dict[str, Any], name: str, value: Any) -> None:
        self.namespace = namespace
        self.name = name
        self.value = value
        self.code = isinstance(value, (FunctionType, MethodType, ModuleType, type)) or hasattr(value, "func")
        """A function, class or module: when it is another one now, what was compiled is out of date."""
        self.compared = _kept(value) if isinstance(value, (list, dict, set)) else value

    def changed(self) -> bool:
        """Tell whether the name now means something else."""
        now = self.namespace.get(self.name, _MISSING)
        if now is self.compared:
            return False
        if self.code or type(now) is not type(self.compared):
            return True
        try:
            return not bool(now == self.compared)
        except Exception:
            return True


def _kept(container: Any) -> Any:
    """Return a copy to compare with later; of elements that have no copies, the elements themselves."""
    try:
        return copy.deepcopy(container)
    except Exception:  # whatever the classes of elements raise
        return copy.copy(container)


class Fingerprint:
    """The hash, and what it was made from.

    Attributes:
        digest: hexadecimal.
        names: globals and module attributes.
        cells: closure cells with their content.
        kernels: the kernels that are reached.
        opaque: values that have no stable hash; a result that depends on one stays in this process.
    """

    def __init__(self) -> None:
        self._hash = hashlib.sha256()
        self._seen: dict[int, Any] = {}
        self.names: list[Drift] = []
        self.cells: list[tuple[CellType, Any]] = []
        self.opaque: list[str] = []
        self.kernels: list[Any] = []

    @property
    def digest(self) -> str:
        """The hash so far."""
        return self._hash.hexdigest()

    @staticmethod
    def digest_of(*texts: str) -> str:
        """Return the hash of some texts."""
        made = Fingerprint()
        for text in texts:
            made.add(text)
        return made.digest

    def add(self, text: str) -> None:
        """Add a text, set off from what comes next."""
        self._hash.update(text.encode("utf-8", "surrogatepass") + b"\0")

    # -- values --------------------------------------------------------------------------------------------------------

    def value(self, value: Any, where: str) -> None:
        """Add a value of any kind; `where` names it in the list of opaque ones."""
        if isinstance(value, _SCALARS):
            self.add(f"{type(value).__name__} {value!r}")
            return
        known = self._seen.get(id(value))
        if known is not None:
            self.add("seen")
            return
        self._seen[id(value)] = value
        if isinstance(value, (list, tuple)):
            self.add(f"{type(value).__name__} {len(value)}")
            for index, one in enumerate(value):
                self.value(one, f"{where}[{index}]")
        elif isinstance(value, dict):
            self.add(f"dict {len(value)}")
            for key, one in value.items():
                self.value(key, where)
                self.value(one, f"{where}[{key!r}]")
        elif isinstance(value, (set, frozenset)):
            self.add(f"{type(value).__name__} {sorted(map(repr, value))}")
        elif isinstance(value, enum.Enum):
            self.add(f"enum {type(value).__module__}.{type(value).__qualname__}.{value.name} {value.value!r}")
        elif isinstance(value, FunctionType):
            self.function(value)
        elif isinstance(value, MethodType):
            self.value(value.__func__, where)
            self.value(value.__self__, where)
        elif isinstance(value, ModuleType):
            self.add(f"module {value.__name__}")
        elif isinstance(value, type):
            self._class(value, where)
        elif isinstance(value, BuiltinFunctionType):
            self.add(f"builtin {value.__module__}.{value.__qualname__}")
        elif isinstance(getattr(value, "func", None), FunctionType):  # a kernel, a jit function, a partial
            self.add(type(value).__qualname__)
            if hasattr(value, "used_by"):
                self.kernels.append(value)
            self.function(value.func)
            for name in ("known_block_size", "fixed_name", "compile_hints", "args", "keywords", "receiver"):
                self.value(getattr(value, name, None), f"{where}.{name}")
        else:
            self._instance(value, where)

    def _class(self, cls: type, where: str) -> None:
        self.add(f"class {cls.__module__}.{cls.__qualname__}")
        if _is_foreign(cls.__module__):
            return
        for base in cls.__bases__:
            self.value(base, where)
        for name, member in sorted(vars(cls).items()):
            if name in ("__dict__", "__weakref__", "__doc__", "__module__", "__slots__", "__firstlineno__"):
                continue
            inner = getattr(member, "__func__", None) or getattr(member, "fget", None) or member
            if isinstance(inner, (*_SCALARS, FunctionType, tuple, type)) or hasattr(inner, "func"):
                self.add(name)
                self.value(inner, f"{where}.{name}")

    def _instance(self, value: Any, where: str) -> None:
        cls = type(value)
        name = f"{cls.__module__}.{cls.__qualname__}"
        self.add(f"instance {name}")
        root = cls.__module__.partition(".")[0]
        if root in ("torch", "numpy", "ml_dtypes") and cls.__name__.lower().find("dtype") >= 0:
            self.add(str(value))
        elif dataclasses.is_dataclass(value) or (hasattr(value, "__dict__") and not _is_foreign(cls.__module__)):
            self.value(cls, where)
            fields = vars(value) if hasattr(value, "__dict__") else {}
            for key, one in sorted(fields.items()):
                self.add(key)
                self.value(one, f"{where}.{key}")
        elif cls.__module__ == "flydsl.compiler.extern_link":
            self.opaque.append(f"{where} (the external function {value.symbol})")
        elif _is_foreign(cls.__module__) and ".".join(cls.__module__.split(".")[:2]) in _LIBRARY:
            self.add(repr(value))
        else:
            self.opaque.append(f"{where} ({name})")

    # -- code ----------------------------------------------------------------------------------------------------------

    def function(self, function: FunctionType) -> None:
        """Add a function: its source, its defaults, and all that its code names."""
        self._seen[id(function)] = function
        self.add(f"function {function.__module__}.{function.__qualname__}")
        if _is_foreign(function.__module__ or function.__globals__.get("__name__", "")):
            return
        # Line tables and assertions speak of lines: code from further up in the file is not the same.
        self.add(f"line {function.__code__.co_firstlineno}")
        try:
            self.add(find_source(function).text)
        except SourceUnavailableError:
            self._code(function.__code__)
        self.value(function.__defaults__, f"{function.__qualname__} defaults")
        self.value(function.__kwdefaults__, f"{function.__qualname__} defaults")
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            try:
                content = cell.cell_contents
            except ValueError:
                continue
            self.cells.append((cell, content))
            self.add(f"closure {name}")
            self.value(content, f"closure variable '{name}'")
        for path in sorted(_global_paths(function.__code__)):
            if path[0] in function.__globals__:
                self._named(function.__globals__, path)

    def _code(self, code: CodeType) -> None:
        self.add(code.co_code.hex())
        for one in code.co_consts:
            if isinstance(one, CodeType):
                self._code(one)
            else:
                self.value(one, code.co_name)

    def _named(self, namespace: dict[str, Any], path: tuple[str, ...]) -> None:
        name, *rest = path
        value = namespace[name]
        if isinstance(value, ModuleType):
            if rest and rest[0] in vars(value) and not _is_foreign(value.__name__):
                self._named(vars(value), tuple(rest))
            return
        if isinstance(value, (type, FunctionType)) and _is_foreign(value.__module__ or ""):
            return
        if not any(one.namespace is namespace and one.name == name for one in self.names):
            self.names.append(Drift(namespace, name, value))
        self.add(f"global {name}")
        self.value(value, f"global '{name}'")


_LOADS = tuple(dis.opmap.get(name, -1) for name in ("LOAD_GLOBAL", "LOAD_NAME"))
_ATTRIBUTES = tuple(dis.opmap.get(name, -1) for name in ("LOAD_ATTR", "LOAD_METHOD"))
_PASSED_OVER = frozenset(dis.opmap.get(name, -1) for name in ("CACHE", "PUSH_NULL"))
# In later Pythons the lowest bit of these arguments says something else than which name it is.
_SHIFTED = {
    dis.opmap["LOAD_GLOBAL"]: sys.version_info >= (3, 11),
    dis.opmap["LOAD_ATTR"]: sys.version_info >= (3, 12),
}


def _global_paths(code: CodeType) -> set[tuple[str, ...]]:
    """Return the global names that code reads, each with the attributes that it reads of it: `("config", "TILE")`.

    It reads the bytes itself: `dis.get_instructions` would take a fifth of a small kernel's compile time.
    """
    paths: set[tuple[str, ...]] = set()
    path: tuple[str, ...] = ()
    names, text, argument = code.co_names, code.co_code, 0
    for at in range(0, len(text), 2):
        op = text[at]
        argument = argument << 8 | text[at + 1]
        if op == dis.EXTENDED_ARG:
            continue
        if op in _LOADS or (path and op in _ATTRIBUTES):
            name = names[argument >> 1 if _SHIFTED.get(op) else argument]
            path = (name,) if op in _LOADS else (*path, name)
            paths.add(path)
        elif op not in _PASSED_OVER:
            path = ()
        argument = 0
    for one in code.co_consts:
        if isinstance(one, CodeType):
            paths |= _global_paths(one)
    return paths


def _is_foreign(module: str) -> bool:
    return module.partition(".")[0] in _FOREIGN or ".".join(module.split(".")[:2]) in _LIBRARY


def fingerprint(function: FunctionType) -> Fingerprint:
    """Return the fingerprint of a function and of everything that its code reaches."""
    found = Fingerprint()
    found.function(function)
    return found


def state_key(instance: Any) -> str:
    """Return a hash of the state of an object whose method is compiled; objects without a stable one get their own."""
    found = Fingerprint()
    if isinstance(instance, type):  # the receiver of a class method
        found.value(instance, instance.__qualname__)
    else:
        found._instance(instance, type(instance).__qualname__)
    return found.digest + (f" {id(instance)}" if found.opaque else "")
