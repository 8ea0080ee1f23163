# SPDX-License-Identifier: Apache-2.0
"""lit's configuration: where the tools are, and what a test may name.

Run with `lit packages/fly-dialect/test`, or through pytest (`tests/test_lit.py`). fly-opt is looked for in
`--param tools=FOLDER`, on PATH, and in the build trees of this repository.
"""

import shutil
import sys
from pathlib import Path

import lit.formats

# lit runs this file with these two names defined.
config = globals()["config"]
lit_config = globals()["lit_config"]

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent


def tool(names, folders=()):
    """The path of the first tool of these names, in these folders or on PATH."""
    for name in names:
        for folder in folders:
            if (Path(folder) / name).is_file():
                return str(Path(folder) / name)
        if found := shutil.which(name):
            return found
    lit_config.fatal(f"none of {', '.join(names)} found on PATH or in {', '.join(map(str, folders)) or 'any folder'}")


build_trees = [PACKAGE.parents[1] / "build" / "fly-dialect" / "bin", *sorted(PACKAGE.glob("build/*/bin"))]
if chosen := lit_config.params.get("tools"):
    build_trees = [Path(chosen)]

config.name = "fly-dialect"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.excludes = ["lit.cfg.py", "table_to_mlir.py"]
config.test_source_root = str(HERE)
config.test_exec_root = lit_config.params.get("exec_root", str(PACKAGE / "build" / "lit"))

llvm = ["/usr/lib/llvm-22/bin"]
config.substitutions += [
    (r"\bfly-opt\b", tool(["fly-opt"], build_trees)),
    (r"\bFileCheck\b", tool(["FileCheck-22", "FileCheck"], llvm)),
    (r"\bnot\b", tool(["not-22", "not"], llvm)),
    ("%python", sys.executable),
]
