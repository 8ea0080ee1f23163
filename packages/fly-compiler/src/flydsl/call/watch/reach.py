# SPDX-License-Identifier: Apache-2.0
"""Which objects of Python a traced function can have read: found by the names that its code uses.

Code reads a global by its name, and an attribute by its name, or by a text that it has as a constant. So all that a
function can read is found from its code, without running it: objects that are known (globals, closure variables,
defaults, items of containers) are followed along those attributes that any reached code names. Where code looks
attributes up by computed names (`getattr`, `vars`, …), all attributes of known objects count.

It finds too much rather than too little: what is found is compared later, and what differs is traced anew.
"""

from __future__ import annotations

import builtins
import copyreg
import functools
import gc
import operator
import os
import sys
import threading
import weakref
from _random import Random
from abc import ABCMeta
from collections import defaultdict, deque
from collections.abc import ItemsView, Iterable, KeysView, Mapping, Set, ValuesView
from contextlib import suppress
from contextvars import Context, ContextVar
from enum import Enum
from types import (
    BuiltinMethodType,
    CellType,
    CodeType,
    FunctionType,
    GeneratorType,
    MappingProxyType,
    MemberDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
)
from typing import Any
from weakref import ReferenceType

from flydsl.frontend.control.outside import home_of
from flydsl.frontend.rewrite import SUSPENDS

from . import states
from .attributes import data_names, gets_attributes, own_attributes
from .bytecode import WHOLE_MODULE, add_names, callables_in, loads_global, looked_up, matches_classes
from .foreign import is_foreign, is_foreign_class
from .guard import MISSING, Absent, Attribute, Cell, Code, Content, Guard, Item, State
from .known import is_known_kind
from .library import (
    CALLERS,
    CODES,
    DATACLASS_READS,
    DESCRIPTIVE,
    ENVIRONMENT,
    GETS_METHODS,
    GUESSES,
    IMPORTS,
    INSTANCE_TESTS,
    LISTS_NAMES,
    READS_OF,
    RECORDS_IN_C,
    REFLECTIVE,
    RUNS_TEXT,
    UNREAD,
    is_named_only,
    is_record,
)
from .native import attributes_of, held, reader_of_attribute

__all__ = ["ATOMS", "CONTAINERS", "Reach"]

ATOMS = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis), type(NotImplemented), range, slice)
_PLAIN = frozenset(ATOMS)  # objects of classes derived from these have attributes
CONTAINERS = (list, dict, set, deque, MappingProxyType)
"""Containers whose items can change."""

_BOUND = (BuiltinMethodType, MethodWrapperType)
_GETTERS = (operator.attrgetter, operator.methodcaller)
_VIEWS = (KeysView, ValuesView, ItemsView)
_PROXIES = (weakref.ProxyType, weakref.CallableProxyType)
_HEAP = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a `class` statement, or like one
_IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE
_CACHED = type(functools.lru_cache(lambda: None))
_NOTHING: dict[str, Any] = {}
_PROTOCOLS = ("_collections_abc", "abc", "builtins", "collections.abc", "contextlib", "enum", "typing")
"""Modules of classes that call no methods but those that they name."""
_MOST_FUNCTIONS = 1000
"""So many functions are followed, in some tenths of a second; large packages have ten times as many."""
_STREAMS = ("stdin", "stdout", "stderr", "__stdin__", "__stdout__", "__stderr__")
_CACHES = frozenset(("cache_token", "dispatch_cache"))
"""Variables of `functools.singledispatch` that say nothing which the registry does not."""
_WITH_PARTS = (property, functools.partial, ReferenceType)
_CODE = (FunctionType, BuiltinMethodType, MethodWrapperType)


def _is_of_others(code: Any) -> bool:
    """Tell whether a module, class or function is none of the user's."""
    if isinstance(code, type):
        return is_foreign_class(code)
    return is_foreign(getattr(code, "__name__" if isinstance(code, ModuleType) else "__module__", None) or "builtins")


class Reach:
    """What can be read from some roots.

    Attributes:
        guards: where something was found, and what.
        names: all names and texts that reached code has.
        functions: the reached functions of the user's.
        reflective: code looks up attributes by computed names.
        too_much: there is so much that looking for it was given up.
        asked: functions of others that code calls which Python calls by itself, by module and name.
        unknown: what was found of which nobody can tell whether it changed, and what it is.
    """

    def __init__(self, roots: Iterable[Any], names: Set[str] = frozenset()) -> None:
        self.names: set[str] = set(names)
        self.functions: list[FunctionType] = []
        self.reflective = False
        self.guards: list[Guard] = []
        self.too_much = False
        self.unknown: list[tuple[str, Any]] = []
        self.asked: set[tuple[str, str]] = set()
        self._called_by_python: set[int] = set()
        self._computed = names
        self._streams = {id(getattr(sys, name, None)) for name in _STREAMS}
        self._imports: set[str] = set()
        self._texts: set[str] = set()
        self._values: set[str] = set()
        self._fails = False
        self._matches_classes = False
        self._guessed: set[str] = {one for one in names if one.isidentifier()}
        self._reads_environment = False
        self._has_abstract = False
        self._seen: dict[int, Any] = {}
        self._queue: list[Any] = []
        self._holders: list[Any] = []
        self._native: list[Any] = []
        self._patched: list[ModuleType] = []
        self._globals: dict[int, tuple[dict[str, Any], set[str]]] = {}
        self._namespaces: dict[type, Mapping[str, Any]] = {}
        self._done: set[tuple[int, str]] = set()
        for one in roots:
            self._add(one)
        self._modules(names)
        self._run()

    def covers(self, value: Any) -> bool:
        """Tell whether an object was reached."""
        return id(value) in self._seen

    def loads_global(self, namespace: Mapping[str, Any], name: str) -> bool:
        """Tell whether a reached function reads a name of its module as a global, not just as an attribute."""
        return any(one.__globals__ is namespace and loads_global(one.__code__, name) for one in self.functions)

    def missing(self) -> frozenset[str]:
        """Return the modules that a trace looked for and that are not there."""
        looked_for = [one for one in self._computed if one not in sys.modules]
        return frozenset(one for one in looked_for if any(f".{one}".endswith(f".{two}") for two in self._imports))

    # -- traversal -----------------------------------------------------------------------------------------------------

    def _add(self, value: Any) -> None:
        if type(value) is slice:
            for one in (value.start, value.stop, value.step):
                self._add(one)
        elif type(value) not in _PLAIN and id(value) not in self._seen:
            self._seen[id(value)] = value
            self._queue.append(value)

    def _run(self) -> None:
        """Follow everything until nothing new is found; names that come later count for objects found before."""
        while True:
            while self._queue:
                self._visit(self._queue.pop())
                if len(self.functions) > _MOST_FUNCTIONS:
                    self.too_much = True
                    return
            before = len(self.names), len(self._seen), len(self._done)
            for holder in list(self._holders):
                self._expand(holder)
            for one in list(self._native):
                self._expand_native(one)
            for module in list(self._patched):
                self._expand_foreign(module)
            if not IMPORTS.isdisjoint(self.names):
                self._modules(self._values)
            if not CODES.isdisjoint(self.names):
                self._error_handlers()
            for name in sorted(states.SETTINGS.keys() & self.names):
                self._setting(name)
            for namespace, names in list(self._globals.values()):
                if not RUNS_TEXT.isdisjoint(names | self.names):
                    for one in list(self._values):
                        self._program(one, namespace)
                self._read_globals(namespace, names | self._texts if "__globals__" in self.names else names)
            if not self._queue and before == (len(self.names), len(self._seen), len(self._done)):
                break
        if self._reads_environment:
            self.guards.append(State("the environment variables", None, states.environment))
        if "cache_info" in self.names:
            for one in list(self._seen.values()):
                if isinstance(one, _CACHED):
                    self.guards.append(State(f"how full the cache of {one.__name__}() is", one, states.of_cache))
        if "getstate" in self.names:
            shared = [one._inst for one in self._patched if one.__name__ == "random"]
            for one in [*self._seen.values(), *shared]:
                if isinstance(one, Random):
                    self.guards.append(State("the state of a generator of random numbers", one, states.of_random))
        if not CALLERS.isdisjoint(self.names):
            self.guards.append(State("the frames of callers", None, states.of_callers))
        if self._has_abstract and not INSTANCE_TESTS.isdisjoint(self.names):
            self.guards.append(State("the classes registered with abstract ones", None, states.of_registry))

    def _visit(self, value: Any) -> None:
        kind = type(value)
        if isinstance(value, _WITH_PARTS) and not is_foreign_class(kind):
            self._object(value)  # its class may do otherwise than the one that it is derived from
        if kind is FunctionType:
            self._function(value)
        elif kind is MethodType:
            self._add(value.__func__)
            self._add(value.__self__)
        elif isinstance(value, ModuleType):
            if is_foreign(value.__name__):
                self._patched.append(value)
                self._settings_of(value.__name__)
            else:
                self._holders.append(value)
                self._add(kind)  # a module may be made one of a class with properties
                if "__getattr__" in vars(value):
                    self._item(f"{value.__name__}.__getattr__", vars(value), "__getattr__")
        elif isinstance(value, type):
            self._class(value)
        elif kind in (staticmethod, classmethod):
            self._add(value.__func__)
        elif kind is functools.cached_property:
            self._called_by_python.add(id(value.func))
            self._object(value)
        elif isinstance(value, property):
            for one in (value.fget, value.fset):
                self._called_by_python.add(id(one))
                self._add(one)
        elif isinstance(value, functools.partial):
            for one in (value.func, *value.args, *value.keywords.values()):
                self._add(one)
            for name in ("func", "args", "keywords"):
                self.guards.append(Attribute("arguments of a partial function", value, name))
            self.guards.append(Content("arguments of a partial function", value.keywords))
            if vars(value):
                self._holders.append(value)
        elif kind is CellType:
            self._cell("a closure variable", value)
        elif kind in _BOUND:
            self._add(value.__self__)
        elif kind in _GETTERS:
            self._getter(value)
        elif kind is MemberDescriptorType:
            self.names.add(value.__name__)  # it gets the slot without that anybody names it
        elif isinstance(value, ReferenceType):
            # To compare what it refers to, it would have to be kept: then it never goes, as the program may expect.
            self.unknown.append(("a weak reference", value))
            self._add(value() if isinstance(value, weakref.WeakMethod) else ReferenceType.__call__(value))
        elif kind in _PROXIES:
            self.unknown.append(("a weak reference", value))
            with suppress(ReferenceError, AttributeError):
                self._add(value.__reduce_ex__.__self__)  # a proxy passes everything on, so this is what it stands for
        elif kind is GeneratorType:
            self.guards.append(State(f"where {value.__qualname__}() waits", value, states.of_generator))
            if value.gi_frame is not None:
                self._code(value.gi_code, value.gi_frame.f_globals)
                for one in self.guards[-1].value[1].objects:
                    self._add(one)
        else:
            self._object(value)

    def _object(self, value: Any) -> None:
        """Follow an instance: its class, its items, its content."""
        if id(value) in self._streams:
            return  # to read from them is refused
        kind = type(value)
        label = f"an object of class {kind.__qualname__}"
        if isinstance(value, tuple):
            for one in tuple.__iter__(value):
                self._add(one)
        elif isinstance(value, frozenset):
            for one in frozenset.__iter__(value):
                self._add(one)
        elif isinstance(value, CONTAINERS):
            guard = Content(label, value)
            self.guards.append(guard)
            for one in (*guard.items, *guard.value):
                self._add(one)
                if type(one) is str:
                    self._values.add(one)
            if isinstance(value, defaultdict):
                self.guards.append(Attribute(f"the default factory of {label}", value, "default_factory"))
                self._add(value.default_factory)
        elif isinstance(value, Enum):
            self._item(f"the value of {value!r}", vars(value), "_value_")
        elif isinstance(value, threading.local):
            self.guards.append(State(label, value, states.of_thread))
            for one in vars(value).values():
                self._add(one)
        elif isinstance(value, ContextVar):
            self.guards.append(State(f"the context variable {value.name}", value, states.of_variable))
            for one in states.value_of_variable(value):
                self._add(one)
        elif isinstance(value, Context):
            self.guards.append(State(label, value, states.of_context))
            for one in value.values():
                if type(one).__name__ != "PyCapsule":  # numpy keeps some there for itself
                    self._add(one)
        elif isinstance(value, BaseException):
            for name in ("args", "__cause__", "__context__"):
                self.guards.append(Attribute(f"{name} of {label}", value, name))
                self._add(getattr(value, name))
            if "__traceback__" in self.names:
                self._add(value.__traceback__)
        elif issubclass(kind, _VIEWS):  # to ask the object for its class could run code of the user
            self._add(getattr(value, "mapping" if hasattr(kind, "mapping") else "_mapping", None))
        elif kind is type(os.environ):
            self._reads_environment = True
        elif kind.__module__ == "numpy" and kind.__name__ == "flatiter":
            self._add(value.base)
        elif isinstance(value, states.of_datetime()):
            self._add(value.tzinfo)  # which its methods ask
        read = states.reader_of(value)
        self._settings_of(kind.__module__.partition(".")[0])
        of_ctypes = isinstance(value, states.of_ctypes())
        if of_ctypes or (read is None and is_foreign_class(kind) and kind not in (_CACHED, Context)):
            self._referents(value)
        if read is None and attributes_of(kind):
            self._native.append(value)
        if read is not None:
            self.guards.append(State(label, value, read))
            if getattr(getattr(value, "dtype", None), "hasobject", False):
                for one in value.flat:
                    self._add(one)
        own = own_attributes(value)
        if own is not None:
            self._add(own.get("__wrapped__"))
        if (kind.__module__, kind.__name__) == ("weakref", "finalize"):  # its class has a table of them
            self.unknown.append(("a weak reference", value))
        if read is None and not is_known_kind(kind):
            self.unknown.append((f"an object of class {kind.__module__}.{kind.__qualname__}", value))
        if kind.__module__.startswith(("flydsl.call.", "flydsl.compile.", "flydsl.compiler.")):
            for name in ("func", "original", "jit", "__self__", "fixed_name", "known_block_size", "receiver"):
                self._attribute_of_ours(value, name)
            return
        if not is_foreign_class(kind):
            self._add(kind)
            self.guards.append(Attribute(f"the class of {label}", value, "__class__"))
        if isinstance(value, Enum) and is_foreign_class(kind):
            return
        if own is not None:
            self.guards.append(Attribute(f"the attributes of {label}", value, "__dict__"))
            self._holders.append(value)
        elif not is_foreign_class(kind) or hasattr(kind, "__slots__"):
            self._holders.append(value)

    def _error_handlers(self) -> None:
        """Follow what codecs call for errors, where a text is the name of such a function."""
        for name in self._texts:
            if (1, name) not in self._done:
                self._done.add((1, name))
                found = states.of_error_handler(name)
                for one in found.objects:
                    self.guards.append(State(f"how codecs treat errors by '{name}'", name, states.of_error_handler))
                    self._add(one)

    def _setting(self, name: str) -> None:
        """Note a setting of the process, and follow what of the user's it is: a hook, a handler, a class."""
        if (0, f"{name}()") not in self._done:
            self._done.add((0, f"{name}()"))
            guard = State(f"what {name}() returns", None, states.SETTINGS[name])
            self.guards.append(guard)
            for part in guard.value if isinstance(guard.value, tuple) else (guard.value,):
                for one in part.objects if isinstance(part, states.Same) else ():
                    self._add(one)

    def _settings_of(self, module: str) -> None:
        """Note the settings that functions and objects of a module of somebody else's go by."""
        if module in states.IMPLIED and (0, module) not in self._done:
            self._done.add((0, module))
            for name in states.IMPLIED[module]:
                self._setting(name)

    def _referents(self, value: Any) -> None:
        """Follow what an object of somebody else's holds elsewhere than in attributes, as those made in C do."""
        own = own_attributes(value) or _NOTHING
        known = {id(own), *map(id, own.values())}
        found = gc.get_referents(value)
        if states.is_dtype(value):
            found.append(value.metadata)
        for one in found:
            is_code = isinstance(one, (ModuleType, type, *_CODE))
            if id(one) not in known and not (is_code and _is_of_others(one)):
                self._add(one)

    def _attribute_of_ours(self, value: Any, name: str) -> None:
        """Follow a part of a `@flyc.kernel` or `@flyc.jit` function."""
        own = own_attributes(value)
        found = getattr(value, name, MISSING) if own is None else own.get(name, MISSING)
        if found is not MISSING:
            self._add(found)
            if name not in ("receiver", "jit", "__self__"):
                self.guards.append(Attribute(f"{name} of {value!r}", value, name))
            if isinstance(found, FunctionType):  # symbols are made of it
                self.guards.append(Attribute(f"the name of {value!r}", found, "__name__"))

    def _getter(self, value: Any) -> None:
        """Follow what `operator` makes of names: they count like those that code has."""
        _, parts, *_ = value.__reduce__()
        for one in parts:
            if isinstance(one, str):
                self.names |= set(one.split("."))
            else:
                self._add(one)

    # -- code ----------------------------------------------------------------------------------------------------------

    def _function(self, function: FunctionType) -> None:
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if name not in _CACHES or function.__globals__.get("__name__") != "functools":
                self._cell(f"closure variable '{name}' of {function.__qualname__}()", cell)
        self._add(vars(function).get("__wrapped__"))
        module = function.__globals__.get("__name__", "")
        if is_foreign(module) and function.__code__.co_filename != "<string>":
            self._reads_environment |= module == "os" and function.__name__ in ENVIRONMENT
            self._settings_of(module)
            return
        self.functions.append(function)
        self._holders.append(function)
        if function.__code__.co_filename != "<string>":  # what dataclasses and the like generate stays as it is
            self.guards.append(Code(f"the code of {function.__qualname__}()", function, "__code__"))
        if function.__defaults__:
            self.guards.append(Code(f"the defaults of {function.__qualname__}()", function, "__defaults__"))
            for one in function.__defaults__:
                self._add(one)
        if function.__kwdefaults__:
            self.guards.append(Code(f"the defaults of {function.__qualname__}()", function, "__kwdefaults__"))
            self._add(function.__kwdefaults__)
        self._code(function.__code__, function.__globals__)
        if self._is_called_by_python(function):
            self.asked |= set(map(home_of, callables_in(function)))

    def _is_called_by_python(self, function: FunctionType) -> bool:
        """Tell whether code may run without that traced code calls it, so that a trace does not see what it calls."""
        name = function.__name__
        is_special = name.startswith("__") and name.endswith("__")
        return is_special or id(function) in self._called_by_python or bool(function.__code__.co_flags & SUSPENDS)

    def _code(self, code: CodeType, namespace: dict[str, Any]) -> None:
        """Follow what code reads, whose globals are those of a module."""
        names: set[str] = set()
        texts: set[str] = set()
        add_names(code, names, texts)
        self._environment_names(names)
        for reader, read in READS_OF.items():
            if reader in names:
                names.update(read)
        self.reflective |= not REFLECTIVE.isdisjoint(names)
        self._matches_classes |= matches_classes(code)
        self._fails |= "AttributeError" in names
        if not GUESSES.isdisjoint(names):
            self._guessed |= {one for one in texts if one.isidentifier()}
        if "callable" in names:
            self._guessed.add("__call__")
        self._texts |= {one for one in texts if one.isidentifier()}
        self.names |= names | self._texts
        in_module, modules = looked_up(code)
        self._imports |= modules
        known = self._globals.setdefault(id(namespace), (namespace, set()))[1]
        # A tensor that happens to be called as an attribute is (`fx.thread_idx.x`) is no global that the code reads.
        known |= in_module
        if modules:  # which Python looks for by this function
            known.add("__import__")
            self.names.add("__import__")
        if not WHOLE_MODULE.isdisjoint(names):
            known |= self._texts | data_names(namespace)
        package = namespace.get("__package__") or ""
        if "__name__" in names:  # as in sys.modules[__name__]
            self._add(sys.modules.get(namespace.get("__name__", "")))
        if not RUNS_TEXT.isdisjoint(names):
            for one in texts:
                self._program(one, namespace)
        for one in names | texts:
            self._modules((one, f"{package}.{one.lstrip('.')}"))

    def _modules(self, paths: Iterable[str]) -> None:
        """Follow the modules of some names."""
        for path in list(paths):
            found = sys.modules.get(path)
            if found is not None:
                self._add(found)
                if not is_foreign(path):
                    self._item(f"module '{path}'", sys.modules, path)

    def _program(self, text: str, namespace: dict[str, Any]) -> None:
        """Follow what a text reads that is run as a program."""
        if (id(namespace), text) in self._done or text.isidentifier():
            return
        self._done.add((id(namespace), text))
        with suppress(SyntaxError, ValueError, RecursionError, MemoryError):
            self._code(compile(text, "<string>", "exec"), namespace)

    def _environment_names(self, names: set[str]) -> None:
        self._reads_environment |= not ENVIRONMENT.isdisjoint(names)

    def _cell(self, label: str, cell: CellType) -> None:
        if id(cell) in self._seen and self._seen[id(cell)] is not cell:
            return
        self._seen[id(cell)] = cell
        if (id(cell), "") in self._done:
            return
        self._done.add((id(cell), ""))
        guard = Cell(label, cell)
        self.guards.append(guard)
        if guard.value is not MISSING:
            self._add(guard.value)

    def _read_globals(self, namespace: dict[str, Any], names: set[str]) -> None:
        for name in names & namespace.keys():
            self._item(f"global '{name}'", namespace, name, of_module=True)
        own: Any = namespace.get("__builtins__", builtins)  # a module may have others
        known = own if isinstance(own, dict) else vars(own if isinstance(own, ModuleType) else builtins)
        hidden = (names & known.keys()) - namespace.keys()
        self._without("a global", namespace, hidden)
        for name in hidden:
            self._item(f"built-in '{name}'", known, name)
        nowhere = names - known.keys() - namespace.keys()
        self._without("a global", namespace, nowhere)
        self._without("a built-in", known, nowhere)

    def _item(self, label: str, mapping: Mapping[str, Any], name: str, *, of_module: bool = False) -> None:
        if (id(mapping), name) not in self._done:
            self._done.add((id(mapping), name))
            value = mapping[name]
            self.guards.append(Item(label, mapping, name, value, is_global=of_module))
            self._add(value)
            if type(value) is str:
                self._values.add(value)

    def _members(self, cls: type) -> Mapping[str, Any]:
        """Return the namespace of a class, the same object every time."""
        return self._namespaces.setdefault(cls, cls.__dict__)

    # -- attributes ----------------------------------------------------------------------------------------------------

    def _class(self, cls: type) -> None:
        self._has_abstract |= isinstance(cls, ABCMeta)
        if is_foreign_class(cls):
            if not cls.__flags__ & _IMMUTABLE:
                self._holders.append(cls)
            return
        self._holders.append(cls)
        self.guards.append(Attribute(f"the bases of class {cls.__qualname__}", cls, "__mro__"))
        for base in cls.__mro__:
            self._add(base)
        self._add(type(cls))
        self._add(copyreg.dispatch_table.get(cls))
        if isinstance(cls, type(Enum)):
            for name in [one for one in vars(cls) if one.endswith("_map_")]:
                self._item(f"{cls.__qualname__}.{name}", self._members(cls), name)
        others = [vars(base) for base in cls.__mro__ if is_foreign_class(base)]
        by_name = any(is_foreign_class(base) and base.__module__ not in _PROTOCOLS for base in cls.__mro__)
        # Python calls these by itself, and code of base classes that is not followed calls what they have too, or what
        # its names say: visitors, handlers.
        for name, member in list(vars(cls).items()):
            if isinstance(member, (FunctionType, classmethod, staticmethod)) and (
                by_name or (name.startswith("__") and name.endswith("__")) or any(name in one for one in others)
            ):
                self._item(f"{cls.__qualname__}.{name}", self._members(cls), name)

    def _expand(self, holder: Any) -> None:
        """Follow those attributes of an object that any code names."""
        if isinstance(holder, type):
            self._expand_class(holder)
            return
        own = own_attributes(holder)
        if own is None:
            own = _NOTHING
        label = holder.__name__ if isinstance(holder, ModuleType) else f"an object of class {type(holder).__qualname__}"
        if isinstance(holder, FunctionType):
            label = f"{holder.__qualname__}()"
        wanted = self.names & own.keys()
        if self.reflective and not is_foreign_class(type(holder)):
            wanted = set(own)
        elif isinstance(holder, ModuleType):
            wanted |= data_names(own) if self.reflective else set()
        elif not isinstance(holder, FunctionType):
            if any(is_record(base) or gets_attributes(base) for base in type(holder).__mro__):
                wanted = set(own)
            elif any(map(is_named_only, type(holder).__mro__)):
                wanted |= {name for name, one in own.items() if type(one) in _PLAIN}
        if isinstance(holder, FunctionType):
            self._describe(label, holder)
        for name in wanted - (UNREAD - self.names):
            self._item(f"attribute '{name}' of {label}", own, name)
        if not LISTS_NAMES.isdisjoint(self.names) and own is not _NOTHING and (id(own), "()") not in self._done:
            self._done.add((id(own), "()"))
            self.guards.append(State(f"the names of attributes of {label}", own, states.of_names))
        absent: set[str] = set()
        if not isinstance(holder, ModuleType):
            for base in type(holder).__mro__:
                if not is_foreign_class(base):
                    absent |= self.names & vars(base).keys()
                if base.__flags__ & _HEAP:
                    self._read_slots(holder, base, label)
        absent |= self._guessed
        if self._fails:
            absent |= self.names
        if own is not _NOTHING:
            self._without(f"an attribute of {label}", own, absent - own.keys() - UNREAD)

    def _expand_native(self, value: Any) -> None:
        """Follow those attributes that code in C gets for an object and that any code names."""
        known = attributes_of(type(value))
        whole = type(value).__module__ in RECORDS_IN_C or isinstance(value, BaseException)
        for name in known if whole else self.names & known:
            if (id(value), "." + name) in self._done:
                continue
            self._done.add((id(value), "." + name))
            label = f"attribute '{name}' of an object of class {type(value).__qualname__}"
            self.guards.append(State(label, value, reader_of_attribute(name)))
            for one in held(value, name):
                self._add(one)

    def _expand_foreign(self, module: ModuleType) -> None:
        """Look whether names of a module of somebody else's stay what they are; only users' objects are followed."""
        own = vars(module)
        for name in self.names & own.keys():
            if not name.startswith("__"):
                self._foreign_item(f"attribute '{name}' of {module.__name__}", own, name)
        if module is not sys.modules.get("builtins"):
            absent = self._guessed | (self.names if self._fails else set())
            self._without(f"an attribute of {module.__name__}", own, absent - own.keys() - UNREAD)

    def _foreign_item(self, label: str, mapping: Mapping[str, Any], name: str) -> None:
        """Look whether a name of somebody else's stays what it is, and follow what a user can have put there."""
        if (id(mapping), name) in self._done:
            return
        self._done.add((id(mapping), name))
        value = mapping[name]
        self.guards.append(Item(label, mapping, name, value, is_global=False))
        if isinstance(value, (FunctionType, type)):
            of_user = not is_foreign(getattr(value, "__module__", None) or "builtins")
            followed = of_user or isinstance(value, type)
        elif label.partition(" of ")[2].startswith("flydsl."):
            followed = isinstance(value, ModuleType) or not is_foreign_class(type(value))
        else:
            followed = value is not sys.modules and not isinstance(value, _CODE)
        if followed:
            self._add(value)

    def _subclasses(self, cls: type) -> None:
        """Note which classes are derived from one, and follow them."""
        for one in (cls, *type.__subclasses__(cls)):
            self._add(one)
        if (id(cls), "()") not in self._done:
            self._done.add((id(cls), "()"))
            self.guards.append(State(f"the subclasses of {cls.__qualname__}", cls, states.of_subclasses))

    def _describe(self, label: str, value: Any) -> None:
        """Note what a function or class says of itself, if that is asked for."""
        for name in DESCRIPTIVE:
            if name in self.names and (id(value), name) not in self._done:
                self._done.add((id(value), name))
                guard = Attribute(f"{name} of {label}", value, name)
                self.guards.append(guard)
                if guard.value is not MISSING:
                    self._add(guard.value)

    def _expand_class(self, cls: type) -> None:
        if is_foreign_class(cls):
            members_of = self._members(cls)
            for name in self.names & members_of.keys():
                if not name.startswith("__"):
                    self._foreign_item(f"{cls.__qualname__}.{name}", members_of, name)
            return
        self._describe(cls.__qualname__, cls)
        says = [vars(one)["_is_protocol"] for one in cls.__mro__ if "_is_protocol" in vars(one)]
        if says and says[0]:  # a check looks for these
            looked_for = {*vars(cls).get("__annotations__", ()), *vars(cls)} - UNREAD
            self.names |= {one for one in looked_for if not one.startswith(("_abc_", "_is_"))}
            self._guessed |= self.names & looked_for
        if self._matches_classes:  # `case C(x)` reads the attribute that the class says
            self.names |= {"__match_args__", *(vars(cls).get("__match_args__") or ())}
        if "__subclasses__" in self.names:
            self._subclasses(cls)
        if "__dataclass_fields__" in vars(cls) and not DATACLASS_READS.isdisjoint(self.names):
            self._item(f"the fields of {cls.__qualname__}", self._members(cls), "__dataclass_fields__")
        members = [(base, self._members(base)) for base in cls.__mro__ if not is_foreign_class(base)]
        wanted = set().union(*(self.names & one.keys() for _, one in members))
        if self.reflective:
            functions = not GETS_METHODS.isdisjoint(self.names)
            wanted |= set().union(*(data_names(one, functions=functions) for _, one in members))
        wanted -= UNREAD - (self.names & {"__annotations__", "__doc__"})
        for base, one in members:
            for name in wanted & one.keys():
                self._item(f"{base.__qualname__}.{name}", one, name)
            absent = wanted | self._guessed
            self._without(f"an attribute of {base.__qualname__}", one, absent - one.keys())

    def _read_slots(self, holder: Any, base: type, label: str) -> None:
        for name, member in list(vars(base).items()):
            if (
                isinstance(member, MemberDescriptorType)
                and (name in self.names or self.reflective or is_record(base))
                and name != "__dict__"
            ):
                if (id(holder), name) in self._done:
                    continue
                self._done.add((id(holder), name))
                guard = Attribute(f"attribute '{name}' of {label}", holder, name)
                self.guards.append(guard)
                if guard.value is not MISSING:
                    self._add(guard.value)

    def _without(self, label: str, mapping: Mapping[str, Any], names: set[str]) -> None:
        """Note that names are not there: a new attribute of a name hides what was found behind it."""
        new = {one for one in names if (id(mapping), "-" + one) not in self._done}
        if new:
            self._done |= {(id(mapping), "-" + one) for one in new}
            self.guards.append(Absent(label, mapping, frozenset(new)))
