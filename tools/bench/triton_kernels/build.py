# SPDX-License-Identifier: Apache-2.0
"""Compile kernels of this folder with the Triton of the interpreter that runs this file.

    python build.py FOLDER < requests.json

A request is {"kernel", "arch", "signature": {parameter: type}, "constants": {parameter: value}, "divisible":
[parameter], "warps", "stages"}: types are Triton's ("*bf16", "i32", "fp32"); parameters in "divisible" are multiples of
16 (bytes, for pointers), as Triton's own launcher finds out. For each one the code object is written to FOLDER, and a
JSON list on the last line of the output has {"image", "name", "shared", "warps"}, or {"error"} with Triton's reason.
"""

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

HERE = Path(__file__).resolve().parent


def kernel_named(name: str) -> Any:
    """The jitted function of the file of that name."""
    spec = importlib.util.spec_from_file_location(f"plain_{name}", HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return getattr(module, name)


def build(request: dict[str, Any], image: Path) -> dict[str, Any]:
    """Compile one request and write its code object."""
    kernel = kernel_named(request["kernel"])
    names = kernel.arg_names
    signature = {name: request["signature"].get(name, "constexpr") for name in names}
    attributes = {(names.index(name),): [["tt.divisibility", 16]] for name in request["divisible"]}
    constants = {(names.index(name),): value for name, value in request["constants"].items()}
    source = ASTSource(kernel, signature, constants, attributes)
    options = {"num_warps": request["warps"], "num_stages": request["stages"]}
    made = triton.compile(source, target=GPUTarget("hip", request["arch"], 64), options=options)
    image.write_bytes(made.asm["hsaco"])
    meta = made.metadata
    return {"image": str(image), "name": meta.name, "shared": meta.shared, "warps": meta.num_warps}


def main() -> None:
    """Compile all requests of the standard input."""
    folder = Path(sys.argv[1])
    answers = []
    for number, request in enumerate(json.load(sys.stdin)):
        try:
            answers.append(build(request, folder / f"{request['kernel']}_{number}.hsaco"))
        except Exception as error:  # Triton raises many kinds; the caller shows it beside the case
            answers.append({"error": f"{type(error).__name__}: {error}"[:500]})
    print()
    print(json.dumps(answers))


if __name__ == "__main__":
    main()
