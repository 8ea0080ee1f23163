# SPDX-License-Identifier: Apache-2.0
"""The environment variables of the compiler, and those of every other layer, by group.

`env.compile`, `env.debug`, `env.ktrace`, `env.runtime` and, where fly-autotune is installed, `env.autotune` present the
present values as attributes (`env.debug.dump_ir`), with `.help()` and `.to_dict()`. The registry is fly-runtime's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flydsl.runtime import variables as _runtime_variables  # noqa: F401 - declares the group `runtime`
from flydsl.runtime.environment import Group, boolean, choice, group, integer, path, register, string

if TYPE_CHECKING:
    autotune: Group

__all__ = ["autotune", "compile", "debug", "ktrace", "runtime"]

_COMPILE = "compile"
_DEBUG = "debug"
_KTRACE = "ktrace"

COMPILE_ONLY = register(
    boolean(
        "COMPILE_ONLY",
        default=False,
        group=_COMPILE,
        attribute="compile_only",
        help="Trace, lower and write the cache, but launch nothing; calls return None.",
    )
)
OPT_LEVEL = register(
    integer(
        "FLYDSL_COMPILE_OPT_LEVEL",
        default=2,
        least=0,
        most=3,
        group=_COMPILE,
        help="LLVM's optimisation level for device code.",
    )
)
BACKEND = register(
    string("FLYDSL_COMPILE_BACKEND", group=_COMPILE, help="The compile backend; empty is the one of the architecture.")
)
LLVM_DIR = register(
    string("FLYDSL_COMPILE_LLVM_DIR", group=_COMPILE, help="A folder whose bin/mlir-opt makes the device code.")
)
PTXAS = register(
    string(
        "FLYDSL_PTXAS",
        group=_COMPILE,
        help="NVIDIA's ptxas: artifacts for NVIDIA GPUs hold its machine code, too; empty is PTX alone.",
    )
)
CACHE_MAX_SIZE = register(
    string(
        "FLYDSL_CACHE_MAX_SIZE",
        default="10G",
        group=_COMPILE,
        attribute="cache_max_size",
        help="The most that the artifacts on disk take, such as 500M; what was used longest ago goes. 0 is no limit.",
    )
)
EXTRA_SOURCE_DIRS = register(
    string(
        "FLYDSL_EXTRA_SOURCE_DIRS",
        group=_COMPILE,
        attribute="extra_source_dirs",
        help="Folders, separated by colons, whose Python files are part of every cache key.",
    )
)

DUMP_IR = register(
    boolean("FLYDSL_DUMP_IR", default=False, group=_DEBUG, attribute="dump_ir", help="Write a numbered file per pass.")
)
DUMP_DIR = register(
    path(
        "FLYDSL_DUMP_DIR",
        default="~/.flydsl/debug",
        group=_DEBUG,
        attribute="dump_dir",
        help="Where FLYDSL_DUMP_IR and FLYDSL_DEBUG_DUMP_ASM write.",
    )
)
DUMP_ASM = register(
    boolean("FLYDSL_DEBUG_DUMP_ASM", default=False, group=_DEBUG, help="Write only the final ISA file.")
)
AST_DIFF = register(
    boolean("FLYDSL_DEBUG_AST_DIFF", default=False, group=_DEBUG, help="Log what the rewriter makes of each function.")
)
LOG_LEVEL = register(
    choice(
        "FLYDSL_DEBUG_LOG_LEVEL",
        ("DEBUG", "INFO", "WARNING", "ERROR"),
        default="WARNING",
        group=_DEBUG,
        help="Level of the logger `flydsl`.",
    )
)
LOG_TO_FILE = register(string("FLYDSL_DEBUG_LOG_TO_FILE", group=_DEBUG, help="A file to append the log to."))
LOG_TO_CONSOLE = register(
    boolean("FLYDSL_DEBUG_LOG_TO_CONSOLE", default=False, group=_DEBUG, help="Log to standard error.")
)
PRINT_ORIGIN_IR = register(
    boolean("FLYDSL_DEBUG_PRINT_ORIGIN_IR", default=False, group=_DEBUG, help="Log the traced IR.")
)
PRINT_AFTER_ALL = register(
    boolean("FLYDSL_DEBUG_PRINT_AFTER_ALL", default=False, group=_DEBUG, help="Print the IR after each pass.")
)
ENABLE_DEBUG_INFO = register(
    boolean(
        "FLYDSL_DEBUG_ENABLE_DEBUG_INFO",
        default=True,  # reports of the emulator and profilers speak in lines of the kernel
        group=_DEBUG,
        help="Line tables in the code object, and a location for every statement.",
    )
)
ENABLE_VERIFIER = register(
    boolean(
        "FLYDSL_DEBUG_ENABLE_VERIFIER",
        default=True,
        group=_DEBUG,
        help="Verify the IR after each pass on the language's own operations, and before code generation; where the IR "
        "is dumped or printed, after every pass.",
    )
)
SHOW_STACKTRACE = register(
    boolean(
        "FLYDSL_DEBUG_SHOW_STACKTRACE",
        default=False,
        group=_DEBUG,
        help="Show the library's own frames in the traceback of an error.",
    )
)
MAX_LOC_DEPTH = register(
    integer(
        "FLYDSL_DEBUG_MAX_LOC_DEPTH",
        default=5,
        least=1,
        group=_DEBUG,
        help="Most frames of a source location; the kernel's own is always kept.",
    )
)

KTRACE_ENABLE = register(
    boolean(
        "FLYDSL_KTRACE_ENABLE", default=False, group=_KTRACE, help="Record the events of fx.ktrace (gfx942, gfx950)."
    )
)
KTRACE_BUFFER_BYTES = register(
    integer(
        "FLYDSL_KTRACE_BUFFER_BYTES",
        default=64 << 20,
        least=1 << 15,  # room for a wave
        most=1 << 36,
        group=_KTRACE,
        help="Size of the buffer for events; a run that needs more is refused, not cut short.",
    )
)
KTRACE_BLOCKS = register(
    string("FLYDSL_KTRACE_BLOCKS", group=_KTRACE, help="The workgroups that record: 'x,y,z' or 'xcc:N'; empty is all.")
)
KTRACE_DUMP_DIR = register(
    string("FLYDSL_KTRACE_DUMP_DIR", group=_KTRACE, help="Folder for trace files; empty is the working directory.")
)

compile: Group = group(_COMPILE)
debug: Group = group(_DEBUG)
ktrace: Group = group(_KTRACE)
runtime: Group = group("runtime")


def __getattr__(name: str) -> Group:
    if name == "autotune":
        try:
            return group(name)
        except ValueError as error:  # the layer that declares it is not installed
            raise AttributeError(str(error)) from None
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
