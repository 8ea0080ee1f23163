# SPDX-License-Identifier: Apache-2.0
"""`CompiledFunction.export_to_c`: an object file and a header with which a C program calls a compiled function.

The object holds the artifact whole. Its functions open it from memory, so that several exported functions live in one
program; the program needs `libflydsl_runtime.so.0` when it runs, and a C compiler is needed to export.
"""

from __future__ import annotations

import json
import keyword
import os
import re
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

from flydsl.runtime import library_path

from .cache.toolchain import package_versions

__all__ = ["export_to_c"]

_SCHEMA = 2
_C_TYPES = {
    "bool": "bool",
    "float16": "uint16_t",
    "bfloat16": "uint16_t",
    "float32": "float",
    "float64": "double",
    **{f"{sign}int{bits}": f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}
_RESERVED = frozenset(
    [
        *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else", "enum", "extern"),
        *("float", "for", "goto", "if", "inline", "int", "long", "main", "register", "restrict", "return", "short"),
        *(
            "signed",
            "sizeof",
            "static",
            "struct",
            "switch",
            "typedef",
            "union",
            "unsigned",
            "void",
            "volatile",
            "while",
        ),
    ]
)

# What the object exports. The artifact's own functions are looked up in it, and the runtime's among what it needs.
_SHIM = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

__asm__(".section .rodata\\n.balign 16\\n"
        ".local @P@__begin\\n@P@__begin:\\n.incbin \\"@ARTIFACT@\\"\\n.local @P@__end\\n@P@__end:\\n.previous\\n");
extern const unsigned char begin[] __asm__("@P@__begin");
extern const unsigned char end[] __asm__("@P@__end");

const char @P@__metadata[] = @METADATA@;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static void *library;
static int32_t (*entry)(void **);
static int loaded;

static void *open_artifact(void) {
  char path[64];
  int file = memfd_create("@P@", MFD_CLOEXEC);
  if (file < 0)
    return NULL;
  for (const unsigned char *at = begin; at != end;) {
    ssize_t count = write(file, at, (size_t)(end - at));
    if (count <= 0) {
      close(file);
      return NULL;
    }
    at += count;
  }
  snprintf(path, sizeof path, "/proc/self/fd/%d", file);
  void *found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  close(file);
  return found;
}

int32_t @P@__module_init(void) {
  pthread_mutex_lock(&lock);
  if (library == NULL && (library = open_artifact()) != NULL)
    *(void **)&entry = dlsym(library, "@ENTRY@");
  int32_t status = entry == NULL ? -1 : 0;
  pthread_mutex_unlock(&lock);
  return status;
}

int32_t @P@__module_load(int32_t device) {
  int32_t (*load)(const void *, int32_t, void **);
  if (entry == NULL)
    return -1;
  *(void **)&load = dlsym(library, "flydsl_load_module");
  int32_t status = load == NULL ? -2 : load(dlsym(library, "flydsl_artifact"), device, NULL);
  __atomic_store_n(&loaded, status == 0, __ATOMIC_RELEASE);
  return status;
}

int32_t @P@__module_unload(void) {
  if (entry == NULL)
    return -1;
  return __atomic_exchange_n(&loaded, 0, __ATOMIC_ACQ_REL) ? 0 : -2;
}

int32_t @P@(void **args) {
  if (entry == NULL)
    return -1;
  return __atomic_load_n(&loaded, __ATOMIC_ACQUIRE) ? entry(args) : -2;
}
"""

_HEADER = """/* {name}: a function compiled by FlyDSL for {arch}.
 *
 * Link {object} with: {flags}
 * The program needs libflydsl_runtime.so.0 when it runs. Status 0: done; -1: not initialised; -2: not loaded; others
 * are FlyStatus of flydsl/runtime.h, whose flydsl_last_error() has the text.
 */
#ifndef {guard}
#define {guard}

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

/* One pointer per slot, as {prefix}__metadata lists them. */
int32_t {prefix}(void **args);
/* Opens the code in this process; loads it on a device (-1: the current one); forgets that it was loaded. */
int32_t {prefix}__module_init(void);
int32_t {prefix}__module_load(int32_t device);
int32_t {prefix}__module_unload(void);
extern const char {prefix}__metadata[];
{layouts}
static inline int32_t {prefix}_call({parameters}) {{
  void *slots[] = {{{slots}}};
  return {prefix}(slots);
}}

/* Initialises and loads on the current device when that was not done. */
static inline int32_t {prefix}_call_auto({parameters}) {{
  int32_t status = {prefix}_call({names});
  if (status == -1 && (status = {prefix}__module_init()) == 0)
    status = -2;
  if (status == -2 && (status = {prefix}__module_load(-1)) == 0)
    status = {prefix}_call({names});
  return status;
}}

#ifdef __cplusplus
}}
#endif
#endif
"""


def export_to_c(
    artifact: Path, note: dict[str, Any], folder: str | os.PathLike[str], name: str, prefix: str, *, backend: str
) -> None:
    """Write `<name>.o` and `<name>.h` into a folder, each whole or not at all.

    Args:
        artifact: the compiled function.
        note: its note.
        folder: an existing folder.
        name: of the files.
        prefix: of the C symbols; by default the name.
        backend: the compile backend that made it.

    Raises:
        FileNotFoundError: the folder does not exist.
        ValueError: the prefix is no C identifier, or a reserved one.
        RuntimeError: there is no C compiler, or it fails.
    """
    target = Path(folder)
    if not target.is_dir():
        raise FileNotFoundError(f"export_to_c writes into an existing folder; there is no {target}")
    if not name or Path(name).name != name:
        raise ValueError(f"{name!r} is no name of a file; the folder is an argument of its own")
    prefix = _checked_prefix(prefix or name)
    metadata = _metadata(note, prefix, backend)
    source = _SHIM.replace("@METADATA@", json.dumps(json.dumps(metadata)))
    source = source.replace("@ENTRY@", note["entry"]).replace("@P@", prefix)
    header = _header(note, name, prefix, metadata)
    with tempfile.TemporaryDirectory(dir=target, prefix=f".{name}-") as scratch:
        code, made = Path(scratch) / "artifact.so", Path(scratch) / f"{name}.o"
        shutil.copyfile(artifact, code)
        _compile(source.replace("@ARTIFACT@", str(code)), made, Path(scratch))
        (Path(scratch) / f"{name}.h").write_text(header, encoding="utf-8")
        for file in (made, made.with_suffix(".h")):
            os.chmod(file, 0o644)
            os.replace(file, target / file.name)


def _checked_prefix(prefix: str) -> str:
    reserved = prefix in _RESERVED or prefix.startswith("__") or re.match(r"_[A-Z]", prefix)
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", prefix) or reserved:
        raise ValueError(f"function_prefix {prefix!r} is no C identifier that a program may define")
    return prefix


def _compile(source: str, target: Path, folder: Path) -> None:
    wanted = [os.environ.get("CC", ""), "cc", "clang", "clang-22", "gcc"]
    compiler = next((found for one in wanted if one and (found := shutil.which(one))), None)
    if compiler is None:
        raise RuntimeError("export_to_c needs a C compiler: install one, or name it in the environment variable CC")
    path = folder / "shim.c"
    path.write_text(source, encoding="utf-8")
    command = [compiler, "-std=gnu11", "-O2", "-fPIC", "-c", str(path), "-o", str(target)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr.strip()}")


def _metadata(note: dict[str, Any], prefix: str, backend: str) -> dict[str, Any]:
    slots = [slot for argument in note["arguments"] for slot in _slots(argument)]
    if note.get("hidden_stream"):
        slots.append({"name": "stream", "kind": "stream", "c_type": "void *"})
    symbols = [prefix, *(f"{prefix}__{one}" for one in ("module_init", "module_load", "module_unload", "metadata"))]
    return {
        "schema_version": _SCHEMA,
        "symbols": symbols,
        "runtime_libraries": [library_path().name],
        "linker_flags": ["-pthread", "-ldl"],
        "abi": slots,
        "return_abi": "int32_t",
        "backend": backend,
        "arch": note["architectures"],
        "host_triple": note["host_triple"],
        "version": package_versions()["fly-compiler"],
    }


def _slots(argument: dict[str, Any]) -> list[dict[str, Any]]:
    name, kind = argument["name"].replace(".", "_"), argument["kind"]
    if keyword.iskeyword(name) or name in _RESERVED or name in ("bool", "slots"):
        name += "_"
    if kind == "scalar":
        return [{"name": name, "kind": kind, "c_type": _C_TYPES[argument["dtype"]], "dtype": argument["dtype"]}]
    if kind != "tensor":
        return [{"name": name, "kind": kind, "c_type": "void *"}]
    slots = [{"name": name, "kind": "tensor", "c_type": "void *", "dtype": argument["dtype"]}]
    shape, stride = (sum(not isinstance(one, int) for one in argument[what]) for what in ("shape", "stride"))
    if shape or stride:
        slots.append(
            {
                "name": f"{name}_layout",
                "kind": "layout",
                "dynamic_extents": shape,
                "dynamic_strides": stride,
                "stride_bits": argument["stride_bits"],
            }
        )
    return slots


def _header(note: dict[str, Any], name: str, prefix: str, metadata: dict[str, Any]) -> str:
    layouts, parameters, slots, names = [], [], [], []
    for slot in metadata["abi"]:
        names.append(slot["name"])
        if slot["kind"] == "layout":
            kind = f"{prefix}_{slot['name']}_t"
            fields = f"  int32_t shape[{slot['dynamic_extents']}];\n" if slot["dynamic_extents"] else ""
            if slot["dynamic_strides"]:
                fields += f"  int{slot['stride_bits']}_t stride[{slot['dynamic_strides']}];\n"
            layouts.append(
                f"\n/* Extents and strides (in elements) that were left open, in ascending order of axes. */\n"
                f"typedef struct __attribute__((packed)) {{\n{fields}}} {kind};\n"
            )
            parameters.append(f"{kind} {slot['name']}")
        else:
            gap = "" if slot["c_type"].endswith("*") else " "
            parameters.append(f"{slot['c_type']}{gap}{slot['name']}")
        slots.append(f"&{slot['name']}")
    return _HEADER.format(
        name=note["name"],
        arch=", ".join(note["architectures"]),
        object=f"{name}.o",
        flags=" ".join(metadata["linker_flags"]),
        guard=f"FLYDSL_{prefix.upper()}_H",
        prefix=prefix,
        layouts="".join(layouts),
        parameters=", ".join(parameters) or "void",
        slots=", ".join(slots) or "0",
        names=", ".join(names),
    )
