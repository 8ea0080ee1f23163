# SPDX-License-Identifier: Apache-2.0
"""What is known by name of Python's library: what reads more than the code that calls it names."""

from __future__ import annotations

from .foreign import is_foreign_class

__all__ = [
    "CALLERS",
    "CODES",
    "DATACLASS_READS",
    "DESCRIPTIVE",
    "ENVIRONMENT",
    "GETS_METHODS",
    "GUESSES",
    "IMPORTS",
    "INSTANCE_TESTS",
    "LISTS_NAMES",
    "READS_OF",
    "RECORDS_IN_C",
    "REFLECTIVE",
    "RUNS_TEXT",
    "UNREAD",
    "is_named_only",
    "is_record",
]

REFLECTIVE = frozenset(
    (
        *("__dict__", "__getattribute__", "__getstate__", "asdict", "astuple", "attrgetter", "dir", "dumps", "eval"),
        *("exec", "f_builtins", "f_globals", "f_locals", "fields", "getattr", "getattr_static", "getmembers"),
        *("format", "format_map", "globals", "hasattr", "locals"),
        *("methodcaller", "pformat", "pprint", "vars"),
    )
)
"""Reads of attributes whose names the code does not have."""
GETS_METHODS = frozenset(
    (
        *("__dict__", "__getattribute__", "attrgetter", "eval", "exec", "getattr", "getattr_static", "getmembers"),
        *("methodcaller", "vars"),
    )
)
"""Those of them that can get a function, so that it is called."""
GUESSES = frozenset(("getattr", "hasattr"))
"""Reads of attributes that need not be there."""
LISTS_NAMES = frozenset(("__dict__", "dir", "getmembers", "vars"))
"""Reads of which attributes an object has."""
READS_OF = {
    "get_annotations": ("__annotations__",),
    "get_type_hints": ("__annotations__",),
    "isabstract": ("__abstractmethods__",),
    "signature": ("__signature__", "__wrapped__"),
}
"""Functions that read attributes of what they are given."""
DATACLASS_READS = frozenset(("__dataclass_fields__", "asdict", "astuple", "fields", "replace"))
"""Reads of the fields of a dataclass."""
INSTANCE_TESTS = frozenset(("isinstance", "issubclass"))
"""Tests that ask the registry of an abstract class."""
ENVIRONMENT = frozenset(
    (
        *("environ", "environb", "expanduser", "expandvars", "get_exec_path", "get_terminal_size", "getenv", "getenvb"),
        *("getproxies", "gettempdir", "gettempdirb", "getuser", "home", "which"),
    )
)
"""Functions that look at the environment variables, and what holds these."""
RUNS_TEXT = frozenset(("compile", "eval", "exec"))
"""Functions that run a text as a program."""
CODES = frozenset(("bytes", "decode", "encode", "open", "str"))
"""Functions that may call what `codecs.register_error` was given."""
IMPORTS = frozenset(("__import__", "import_module", "modules"))
"""Functions that get a module by a text, and what holds all modules."""
CALLERS = frozenset(("f_back", "tb_frame"))
"""Attributes that lead to the frames of callers."""

DESCRIPTIVE = (
    *("__abstractmethods__", "__annotations__", "__doc__", "__module__", "__name__", "__qualname__", "__wrapped__"),
)
"""What functions and classes say of themselves."""
UNREAD = frozenset(
    ("__annotations__", "__dict__", "__doc__", "__firstlineno__", "__module__", "__slots__", "__weakref__")
)
"""Attributes that nothing but code that names them reads."""

RECORDS_IN_C = frozenset(("_asyncio",))
"""Modules in C whose objects hold what users put there."""
_NAMED_ONLY = frozenset(("logging", "threading.Thread", "threading._MainThread", "threading._DummyThread"))
"""Modules and classes whose objects lead to each other and to files: of their attributes those that code names count,
and numbers and texts."""
_PROTOCOLS = frozenset(("_collections_abc", "abc", "collections.abc", "enum", "typing"))


def is_named_only(cls: type) -> bool:
    """Tell whether of objects of a class those attributes count that code names, and numbers and texts."""
    return cls.__module__ in _NAMED_ONLY or f"{cls.__module__}.{cls.__qualname__}" in _NAMED_ONLY


def is_record(cls: type) -> bool:
    """Tell whether objects of a class hold what users put there, under names that only its own code has.

    That is so of all classes of somebody else's, but for those that have no code of that kind.
    """
    module: object = cls.__module__
    if cls is object or module in _PROTOCOLS or (module == "contextlib" and cls.__name__.startswith("Abstract")):
        return False
    if not is_foreign_class(cls) or is_named_only(cls):
        return False
    return not str(module).startswith("flydsl.")
