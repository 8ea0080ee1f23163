# SPDX-License-Identifier: Apache-2.0
"""What of Python's and of packages can be compared exactly. What is not named here cannot.

The default is that nobody knows: a function that reads an object of another kind, or that calls a function of another
module, is traced at each call. So a kind or a module comes into these lists when somebody has looked at it, never
before.
"""

from __future__ import annotations

from collections.abc import Container
from types import MemberDescriptorType
from typing import Any
from weakref import WeakKeyDictionary

from .foreign import is_foreign_class

__all__ = ["answers_alike", "is_known_kind", "of_known_module"]

_SLOT = 8
"""Bytes of a slot, of the place of a dictionary and of that of weak references; newer Pythons need less."""
_PLACES = ("__dict__", "__weakref__")

_KINDS = frozenset(
    (
        # Numbers, texts, and what else never changes.
        *("builtins.NoneType", "builtins.NotImplementedType", "builtins.bool", "builtins.bytes", "builtins.complex"),
        *("builtins.ellipsis", "builtins.float", "builtins.frozenset", "builtins.int", "builtins.range"),
        *("builtins.slice", "builtins.str", "builtins.tuple", "_struct.Struct", "decimal.Decimal", "re.Match"),
        *("re.Pattern", "datetime.date", "datetime.datetime", "datetime.time", "datetime.timedelta"),
        *("datetime.timezone", "datetime.tzinfo", "zoneinfo.ZoneInfo"),
        *("types.GenericAlias", "types.UnionType", "typing.Union", "typing.ParamSpec", "typing.ParamSpecArgs"),
        *("typing.ParamSpecKwargs", "typing.TypeVar", "typing.TypeVarTuple", "typing.TypeAliasType"),
        *("typing.NoDefaultType", "typing.Generic", "_collections._tuplegetter", "_abc._abc_data"),
        *("builtins.EncodingMap", "_thread._ThreadHandle"),
        # Code, and what finds it.
        *("builtins.builtin_function_or_method", "builtins.classmethod", "builtins.classmethod_descriptor"),
        *("builtins.code", "builtins.function", "builtins.getset_descriptor", "builtins.member_descriptor"),
        *("builtins.method", "builtins.method-wrapper", "builtins.method_descriptor", "builtins.property"),
        *("builtins.staticmethod", "builtins.super", "builtins.type", "builtins.wrapper_descriptor"),
        *("builtins.module", "builtins.cell", "functools.partial", "functools._lru_cache_wrapper"),
        *("functools.Placeholder", "operator.attrgetter", "operator.itemgetter", "operator.methodcaller"),
        *("_ctypes.CField", "_ctypes.CThunkObject", "_json.Encoder", "_json.Scanner"),
        # What holds objects, which are followed.
        *("builtins.dict", "builtins.list", "builtins.mappingproxy", "builtins.set", "collections.OrderedDict"),
        *("collections.defaultdict", "collections.deque", "builtins.dict_items", "builtins.dict_keys"),
        *("builtins.hamt", "builtins.hamt_array_node", "builtins.hamt_bitmap_node", "builtins.hamt_collision_node"),
        *("builtins.dict_values", "builtins.odict_items", "builtins.odict_keys"),
        *("builtins.odict_values", "types.SimpleNamespace", "_thread._local", "_contextvars.Context"),
        *("_contextvars.ContextVar", "_contextvars.Token", "builtins.generator", "_asyncio.Future", "_asyncio.Task"),
        # What is refused where a trace would change it, or is compared as far as it can be asked.
        "_random.Random",
        # numpy and what is like it.
        *("numpy.dtype", "numpy.ufunc", "numpy.generic", "numpy._ArrayFunctionDispatcher", "numpy.flatiter"),
        *("numpy.random._generator.Generator", "numpy.random.mtrand.RandomState"),
        *("jaxlib._jax.ArrayImpl", "jaxlib.xla_extension.ArrayImpl"),
        # torch
        *("torch.Event", "torch.Size", "torch.Stream", "torch._C.TensorBase", "torch._C._TensorBase"),
        *("torch.device", "torch.dtype", "torch.finfo", "torch.iinfo", "torch.layout", "torch.memory_format"),
        *("torch.qscheme", "torch.Tag", "torch._C.DispatchKey"),
        # Models of pydantic are checked by objects that are made with the class.
        *("pydantic_core._pydantic_core.SchemaSerializer", "pydantic_core._pydantic_core.SchemaValidator"),
        *("pydantic_core._pydantic_core.PydanticUndefinedType", "pydantic_core._pydantic_core.ArgsKwargs"),
    )
)
"""Classes made in C whose objects never change, or whose state `Reach` follows or reads, by module and name."""

_MODULES = frozenset(
    (
        *("__future__", "abc", "argparse", "array", "ast", "base64", "binascii", "bisect", "builtins", "bz2", "cmath"),
        *("codecs", "collections", "collections_abc", "colorsys", "concurrent.futures", "configparser", "contextlib"),
        *("contextvars", "copy", "copyreg", "csv", "ctypes", "dataclasses", "datetime", "dbm", "decimal", "difflib"),
        *("dis", "encodings", "enum", "errno", "filecmp", "flydsl", "fnmatch", "fractions", "functools"),
        *("genericpath", "getopt", "getpass", "glob", "graphlib", "gzip", "hashlib", "heapq", "hmac", "html"),
        *("http.cookies", "importlib", "inspect", "io", "ipaddress", "itertools", "json", "keyword", "linecache"),
        *("logging", "lzma", "marshal", "math", "mimetypes", "ml_dtypes", "multiprocessing", "netrc", "ntpath"),
        *("numbers", "numpy", "opcode", "operator", "optparse", "pathlib", "pickle", "pkgutil", "plistlib"),
        *("posixpath", "pprint", "py_compile", "queue", "quopri", "re", "reprlib", "runpy", "sched"),
        *("shelve", "shlex", "shutil", "sqlite3", "sre_compile", "sre_constants", "sre_parse", "stat"),
        *("statistics", "string", "stringprep", "struct", "symtable", "tarfile", "tempfile", "textwrap", "threading"),
        *("token", "tokenize", "tomllib", "traceback", "types", "typing", "unicodedata", "warnings", "wave"),
        *("weakref", "weakrefset", "zipfile", "zipimport", "zlib", "zoneinfo"),
        # Abstract methods and hooks of an import, which Python itself goes through.
        *("frozen_importlib", "frozen_importlib_external"),
        # Whose functions are named below.
        *("asyncio", "gc", "gettext", "locale", "os", "posix", "resource", "signal", "socket", "sys", "thread"),
        *("time", "torch", "tracemalloc", "faulthandler", "calendar", "fileinput", "random", "secrets", "uuid"),
    )
)
"""Modules whose objects are records of their attributes, and whose functions answer from their arguments, from objects
and files that are compared, and from the settings of `states.SETTINGS`; without the `_` of those in C."""

_PARTS = frozenset(
    (
        *("concurrent.futures._base", "email._policybase", "email.errors", "email.header", "email.message"),
        "xml.etree.ElementTree",
    )
)
"""Modules of packages of which others are not known."""

_BY_NAME = {
    "codecs": ("charmap_build", "escape_decode", "escape_encode", "lookup_error", "open"),
    "logging": ("critical", "debug", "error", "exception", "info", "log", "warn", "warning"),
    "threading": ("Lock", "RLock", "main_thread"),
    "weakref": ("proxy", "ref"),
    "asyncio": ("iscoroutinefunction", "run"),
    "calendar": ("isleap", "leapdays", "monthrange", "timegm", "weekday"),
    "faulthandler": (),
    "gc": ("get_referents", "is_finalized", "is_tracked"),
    "gettext": (),
    "locale": (),
    "os": ("fsdecode", "fsencode", "fspath", "cpu_count", "strerror", "uname", "get_exec_path", "register_at_fork"),
    "random": (),
    "resource": ("getpagesize",),
    "secrets": ("compare_digest",),
    "signal": ("strsignal", "valid_signals"),
    "socket": ("htonl", "htons", "inet_aton", "inet_ntoa", "inet_ntop", "inet_pton", "ntohl", "ntohs"),
    "sys": ("exc_info", "exception", "getdefaultencoding", "getfilesystemencoding", "getsizeof", "intern"),
    "thread": ("RLock", "allocate_lock", "get_native_id", "lock"),
    "time": ("strptime",),
    "torch.cuda": ("device_count", "get_device_capability", "get_device_name", "get_device_properties", "is_available"),
    "torch.distributed": ("is_available",),
    "torch.version": (),
    "tracemalloc": (),
    "fileinput": ("FileInput", "hook_compressed", "hook_encoded", "input"),
    "uuid": ("uuid3", "uuid5"),
}
_BY_NAME["posix"] = _BY_NAME["os"]
"""Functions of modules that ask the process for what is set there: those that ask for nothing that can be."""

_NOW = ("now", "today", "utcnow")

_OF_TORCH = frozenset(
    (
        *("", "_C", "_C._VariableFunctions", "_C._VariableFunctionsClass", "_C._nn", "_linalg_utils", "_tensor"),
        *("_C.TensorBase", "_C._TensorBase", "_C._linalg", "_C._special", "_C._fft", "_lowrank", "_prims_common"),
        *("_utils", "cuda", "distributed", "functional", "nn", "random", "return_types", "serialization", "storage"),
        *("types", "utils.data", "version"),
    )
)
"""Parts of torch whose functions compute, or are named above; others, as those of compilers and of groups of
processes, go by what is set in them."""
_ASKS_TORCH = ("get_", "is_", "_get_", "_is_", "are_")
_TELLS_OF_TENSORS = frozenset(
    (
        *("is_complex", "is_conj", "is_contiguous", "is_distributed", "is_floating_point", "is_inference", "is_neg"),
        *("is_nonzero", "is_pinned", "is_same_size", "is_set_to", "is_shared", "is_signed", "is_storage", "is_tensor"),
        *("get_device", "is_coalesced"),
    )
)

_verdicts: WeakKeyDictionary[type, bool] = WeakKeyDictionary()


def of_known_module(module: str) -> bool:
    """Tell whether objects and classes of a module of somebody else's are what can be compared."""
    root, _, rest = module.partition(".")
    if root in ("_io", "io"):
        return False
    if root == "torch":
        return not module.startswith("torch.backends")  # whose objects ask what is set in C
    path = (root.removeprefix("_") if root != "__future__" else root, rest)
    return path[0] in _MODULES or ".".join(path) in _MODULES or module in _PARTS


def answers_alike(module: str, name: str, settings: Container[str]) -> bool:
    """Tell whether a function answers alike as long as what is compared is the same.

    Args:
        module: where the function is defined.
        name: its qualified name there.
        settings: names of functions whose answer is compared.
    """
    last = name.rpartition(".")[2]
    if last in settings:
        return True
    root = module.partition(".")[0].removeprefix("_")
    if module.startswith("numpy.random") and not last[:1].isupper():
        return "." in name  # of a generator, which is compared
    if root == "datetime" and last in _NOW:
        return False
    if root == "torch":
        return _torch_answers_alike(module, last)
    if root == "ctypes" and last == "_FuncPtr":
        return False  # a function of a library in C
    if root in _BY_NAME:
        return "." in name or last in _BY_NAME[root] or last[:1].isupper()
    return root in ("io", "future__") or of_known_module(module)


def _torch_answers_alike(module: str, name: str) -> bool:
    part = module.partition(".")[2]
    if module in _BY_NAME:
        return name in _BY_NAME[module] or name[:1].isupper()
    if part.split(".")[0] in ("nn", "special", "linalg", "fft", "return_types"):
        return True
    if part not in _OF_TORCH:
        return False
    return not name.startswith(_ASKS_TORCH) or name in _TELLS_OF_TENSORS


def is_known_kind(kind: type) -> bool:
    """Tell whether all of the state of a class's objects can be seen: attributes, and what a known class in C has."""
    known = _verdicts.get(kind)
    if known is None:
        known = _verdicts[kind] = _is_known(kind)
    return known


def _is_known(kind: type) -> bool:
    for cls in kind.__mro__[:-1]:
        name = f"{cls.__module__}.{cls.__qualname__}"
        if name in _KINDS or _is_of_family(cls) or _is_of_ours(cls):
            continue
        if _has_state_of_its_own(cls) or not _is_of_known_home(cls):
            return False
    return True


_OF_NUMPY = ("numpy", "ml_dtypes")
_FAMILIES = ("numpy.dtype", "numpy.generic")


def _is_of_family(cls: type) -> bool:
    """Tell whether a class is one of Python's exceptions or of numpy's scalars or types."""
    if cls.__module__ == "builtins":
        return issubclass(cls, BaseException)
    if str(cls.__module__).partition(".")[0] not in _OF_NUMPY:
        return False
    return any(f"{base.__module__}.{base.__qualname__}" in _FAMILIES for base in cls.__mro__)


def _is_of_ours(cls: type) -> bool:
    return str(cls.__module__).startswith("flydsl.")


def _is_of_known_home(cls: type) -> bool:
    """Tell whether the methods of a class are followed, as the user's are, or are those of a known module."""
    return not is_foreign_class(cls) or of_known_module(str(cls.__module__))


def _has_state_of_its_own(cls: type) -> bool:
    """Tell whether a class keeps more in its objects than its base, slots, a dictionary and weak references.

    That is where code in C keeps what no attribute need tell of.
    """
    base: Any = cls.__base__
    own = vars(cls)
    if cls.__itemsize__ != base.__itemsize__:
        return True
    room = _SLOT * sum(name in own for name in _PLACES)
    if "__slots__" in own:
        room += _SLOT * sum(type(one) is MemberDescriptorType for one in own.values())
    return bool(cls.__basicsize__ - base.__basicsize__ > room)
