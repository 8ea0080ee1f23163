# SPDX-License-Identifier: Apache-2.0
"""What is known by name of Python's library: what reads more than the code that calls it names."""

from __future__ import annotations

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
    "get_annotations": "__annotations__",
    "get_type_hints": "__annotations__",
    "isabstract": "__abstractmethods__",
    "signature": "__wrapped__",
}
"""Functions that read an attribute of what they are given."""
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
_RECORDS = frozenset(
    (
        *("_collections_abc", "_weakrefset", "argparse", "ast", "asyncio.futures", "asyncio.locks", "asyncio.queues"),
        *(
            "codecs",
            "collections",
            "concurrent.futures._base",
            "configparser",
            "contextlib",
            "csv",
            "difflib",
            "email.message",
        ),
        *("fractions", "functools", "graphlib", "hmac", "http.cookies", "ipaddress", "json.decoder", "json.encoder"),
        *("mimetypes", "multiprocessing.process", "multiprocessing.shared_memory", "multiprocessing.sharedctypes"),
        *("optparse", "pprint", "queue", "reprlib", "sched", "shelve", "shlex", "statistics", "string", "textwrap"),
        *("threading", "types", "urllib.request", "uuid", "weakref", "zoneinfo"),
    )
)


def is_record(cls: type) -> bool:
    """Tell whether objects of a class hold what users put there, under names that only its own code has."""
    module: object = cls.__module__
    return isinstance(module, str) and (module in _RECORDS or module.partition(".")[0] == "numpy")
