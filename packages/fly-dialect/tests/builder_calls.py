# SPDX-License-Identifier: Apache-2.0
"""Calls op builders with operands of every kind: `python builder_calls.py DIALECT CALLS SEED`.

Of few calls the ops of a dialect share a process, of many each has its own. Prints the calls that ended a process, one
a line, and how many were made. Whether a call raises or returns is not looked at.
"""

from __future__ import annotations

import importlib
import inspect
import itertools
import os
import random
import sys
from typing import Any

from flydsl._mlir import ir
from flydsl._mlir.dialects import func

TYPES = (
    "i32", "i64", "f32", "index", "none", "vector<4xf32>", "vector<4xi1>", "memref<4xf32>", "tensor<4xf32>",
    "!llvm.ptr", "!fly.int_tuple<4>", "!fly.int_tuple<(?,2)>", "!fly.layout<4:1>", "!fly.layout<(2,?):(1,2)>",
    "!fly.composed_layout<S<1,0,1> o 0 o 4:1>", "!fly.tile<[4]>", "!fly.swizzle<S<1,0,1>>", "!fly.basis<1E0>",
    "!fly.coord_swizzle<CS<2,0,[0],1,[1]>>", "!fly.memref<f32, global, 4:1>", "!fly.memref<i1, register, 4:1>",
    "!fly.ptr<f32, global>", "!fly.coord_tensor<0, 4:1>", "!fly.copy_atom<!fly.universal_copy<32>, 32>",
    "!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>",
    "!fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(1,4,1):(0,1,0)>>",
    "!fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<32>, 32>, !fly.layout<(4,1):(1,1)>, !fly.tile<[4]>>",
)  # fmt: skip
ATTRIBUTES = (
    "1 : i32",
    "true",
    '"x"',
    "unit",
    "i32",
    "array<i32: 0>",
    "dense<1> : tensor<2xi32>",
    "[]",
    "#fly<mma_operand a>",
)


def builders(dialect: str) -> dict[str, Any]:
    """The op classes of a dialect by their names."""
    module = importlib.import_module(f"flydsl._mlir.dialects._{dialect}_ops_gen")
    return {name: one for name, one in vars(module).items() if inspect.isclass(one) and hasattr(one, "OPERATION_NAME")}


FEW = 20
"""Up to how many calls of each op the ops share a process."""


def call_some(builders: dict[str, Any], calls: int, seed: int) -> None:
    """Call some op classes in one context."""
    with ir.Context() as context, ir.Location.unknown():
        context.enable_multithreading(False)
        types = [ir.Type.parse(text) for text in TYPES]
        attributes = [ir.Attribute.parse(text) for text in ATTRIBUTES]
        for name, builder in builders.items():
            call_one(name, builder, calls, random.Random(f"{seed} {name}"), types, attributes)


def call_one(
    name: str,
    builder: Any,
    calls: int,
    choose: random.Random,
    types: list[ir.Type],
    attributes: list[ir.Attribute],
) -> None:
    parameters = [
        p for p in inspect.signature(builder.__init__).parameters.values() if p.name not in ("self", "loc", "ip")
    ]
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        block = func.FuncOp("f", (types, [])).add_entry_block()
    values = list(block.arguments)

    def anything() -> Any:
        kind = choose.random()
        if kind < 0.7:
            return choose.choice(values)
        if kind < 0.85:
            return choose.choice(attributes)
        return choose.choice((None, 1, "x", [], choose.choice(types), [choose.choice(types)],
                              choose.sample(values, 1), choose.sample(values, 2)))  # fmt: skip

    for _ in range(calls):
        positional = [anything() for p in parameters if p.kind is not p.KEYWORD_ONLY]
        named = {p.name: anything() for p in parameters if p.kind is p.KEYWORD_ONLY and choose.random() < 0.5}
        note(name, *positional, *named.values())
        try:
            with ir.InsertionPoint(block):
                operation = builder(*positional, **named).operation
            str(operation)
            operation.verify()
        except Exception:
            continue
    # The generic way in, with any number of operands and regions, and a successor.
    for count, regions, successors in itertools.product(range(4), range(3), ([], [block])):
        operands = choose.sample(values, count)
        note(f"{name} of {regions} regions and {len(successors)} successors", *operands)
        try:
            with ir.InsertionPoint(block):
                ir.Operation.create(
                    builder.OPERATION_NAME, operands=operands, regions=regions, successors=successors, infer_type=True
                )
        except Exception:
            continue


def note(name: str, *arguments: Any) -> None:
    """Write down what is called, for the case that it ends the process."""
    shown = [str(getattr(one, "type", one)) for one in arguments]
    os.pwrite(3, f"{name}({', '.join(shown)})\n".ljust(4096).encode()[:4096], 0)


def main(dialect: str, calls: int, seed: int) -> None:
    last = os.memfd_create("last")
    os.dup2(last, 3)
    quiet = os.open(os.devnull, os.O_WRONLY)
    found = builders(dialect)
    for some in [found] if calls <= FEW else [{name: one} for name, one in found.items()]:
        os.ftruncate(3, 0)
        child = os.fork()
        if not child:
            os.dup2(quiet, 2)
            call_some(some, calls, seed)
            os._exit(0)
        if os.waitpid(child, 0)[1]:
            print(os.pread(3, 4096, 0).decode().strip() or ", ".join(some))
    print(calls * len(found))


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
