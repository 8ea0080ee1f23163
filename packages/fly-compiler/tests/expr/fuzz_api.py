# SPDX-License-Identifier: Apache-2.0
"""Calls the functions of `flydsl.expr` with arguments at random: whatever comes, the interpreter has to survive.

Not collected by pytest; `python tests/expr/fuzz_api.py [seed] [calls] [lower]` runs it, `test_fuzz_api.py` a short
one. The last call is printed before it is made when FUZZ_TRACE is set, so that a crash names it.
"""

from __future__ import annotations

import os
import random
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from tracing import kernel

import flydsl.expr as fx
from flydsl._mlir.passmanager import PassManager

TYPES = [
    "i32",
    "f32",
    "index",
    "i1",
    "vector<4xf32>",
    "!fly.memref<f16, global, (64,32):(32,1), align<16>>",
    "!fly.memref<f32, global, (?,?):(?{i64},1)>",
    "!fly.ptr<f16, shared, align<16>, S<2,3,3>>",
    "!fly.memref<f32, register, ((4,1),2,2):((1,0),8,4)>",
]
PASSES = ("fly-rewrite-func-signature", "fly-canonicalize", "fly-layout-lowering", "canonicalize")
SKIPPED = {"T", "arith", "gpu", "math", "vector", "static"}


def pool(k, rng):
    """Return one value of every kind."""
    args = k.args
    mma = fx.make_tiled_mma(
        fx.make_mma_atom(fx.rocdl.MFMA(16, 16, 16, fx.Float16)), fx.make_layout((2, 2, 1), (1, 2, 0))
    )
    atom = fx.make_copy_atom(fx.UniversalCopy(64), fx.Float16)
    copy = fx.make_tiled_copy_tv(atom, fx.make_layout((8, 8), (8, 1)), fx.make_layout((1, 4), (4, 1)))
    layouts = [fx.make_layout((4, 8), (8, 1)), fx.make_layout(((2, 3), 4), ((1, 8), 2)), fx.make_layout(7, 3)]
    dynamic = fx.Int32(args[0])
    return [
        *(rng.choice([0, 1, 2, -1, 7, 64, 2**31, 2**70, -5]) for _ in range(4)),
        1.5, float("nan"), True, None, "x", "add", "", (), (4, 8), (2, (3, 4)), [1, 2], (None, 3), (None, None), {},
        object(),
        dynamic, fx.Float32(args[1]), fx.Index(args[2]), fx.Boolean(args[3]), fx.Vector(args[4]), fx.Int8(3), *args,
        fx.Tensor(args[5]), fx.Tensor(args[6]), fx.Pointer(args[7]), fx.Tensor(args[8]),
        fx.make_rmem_tensor(4, fx.Boolean),
        *layouts, fx.make_layout((dynamic, 4), (4, 1)), fx.make_identity_layout((4, 8)), fx.make_shape(dynamic, (2, 3)),
        fx.make_view((0, 0), fx.make_identity_layout((4, 8))), fx.make_tile(2, 4), fx.make_tile(2, None, layouts[2]),
        fx.make_swizzle(2, 3, 3), fx.make_composed_layout(fx.make_swizzle(2, 0, 3), layouts[0]), fx.E(0), fx.E(1) * 3,
        atom, copy, copy.get_slice(dynamic), mma, mma.get_slice(3), mma.mma_atom, fx.MmaOperand.A, fx.ReductionOp.ADD,
        fx.UniversalCopy32b(), fx.rocdl.MFMA(32, 32, 8, fx.Float16), fx.Float32, fx.Int4, fx.Uint8, fx.Float8E4M3FN,
        fx.T.f32,
        fx.AddressSpace.Shared, fx.GemmTraversalOrder.KMN, fx.Array[fx.Float32, 4], fx.Stream(None),
        fx.AtomicOrdering.SeqCst,
        fx.MemRefType.get(fx.T.f32, fx.LayoutType.get(4, 1), fx.AddressSpace.Register),
    ]  # fmt: skip


# Functions of the algebra with the kinds of their arguments: L layout, X layout or tensor, T tuple-like, D divisor,
# C coordinate, i small integer, I list of modes.
TYPED = {
    "composition": "LL XD", "complement": "L LT", "right_inverse": "L", "left_inverse": "L", "coalesce": "X XT",
    "logical_divide": "XD XL", "zipped_divide": "XD XL", "tiled_divide": "XD XL", "flat_divide": "XD XL",
    "logical_product": "LL", "zipped_product": "LL", "tiled_product": "LL", "flat_product": "LL",
    "blocked_product": "LL", "raked_product": "LL", "recast_layout": "Lii", "tile_to_shape": "LTT", "slice": "XC TC",
    "dice": "LC TC", "crd2idx": "CL", "idx2crd": "iL", "get_flat_coord": "iL", "get_1d_coord": "iL", "take": "Xii Tii",
    "group": "Xii Tii", "select": "XI TI", "append": "LL TT LLi", "prepend": "LL TT LLi", "size": "X T", "cosize": "X",
    "coshape": "X", "coprofile": "X", "shape_div": "TT", "ceil_div": "TT", "int_tuple_add": "TT", "int_tuple_sub": "TT",
    "int_tuple_mul": "TT", "int_tuple_div": "TT", "int_tuple_mod": "TT", "int_tuple_product_like": "TT",
    "make_layout": "TT", "make_ordered_layout": "TT Ti", "make_layout_like": "L", "make_fragment_layout_like": "X",
    "make_identity_layout": "T", "make_fragment_like": "X", "make_layout_tv": "LL", "get_": "Xi Ti", "zip": "TT LL",
    "make_view": "CL", "equal": "TT", "elem_less": "TT",
}  # fmt: skip
EXTENTS = [1, 1, 2, 2, 3, 4, 4, 5, 6, 8, 12, 16, 0, -1, -4, 7, 64, 2**31 - 1]


def tree(rng, dynamic, depth=0, leaf=None):
    """Return a random nested tuple of integers."""
    if depth > 2 or rng.random() < (0.35 if depth == 0 else 0.7):
        return leaf() if leaf else (dynamic if rng.random() < 0.1 else rng.choice(EXTENTS))
    return tuple(tree(rng, dynamic, depth + 1, leaf) for _ in range(rng.choice([1, 2, 2, 3])))


def like(rng, shape, leaf):
    """Return a tree of the same nesting with other leaves."""
    return tuple(like(rng, item, leaf) for item in shape) if isinstance(shape, tuple) else leaf()


def layout(rng, dynamic):
    """Return a random layout, usually a sensible one."""
    shape = tree(rng, dynamic, leaf=lambda: rng.choice(EXTENTS[:12]) if rng.random() < 0.95 else rng.choice(EXTENTS))
    if rng.random() < 0.5:
        return fx.make_ordered_layout(shape, 0)
    return fx.make_layout(
        shape, like(rng, shape, lambda: rng.choice([0, 1, 2, 3, 4, 8, 16, -1, 24, dynamic, fx.E(0), fx.E(1)]))
    )


def argument(kind, rng, dynamic):
    """Return a random argument of a kind of `TYPED`."""
    if kind == "L" or (kind == "X" and rng.random() < 0.5):
        return layout(rng, dynamic)
    if kind == "X":
        plain = layout(rng, dynamic)
        if rng.random() < 0.3:
            plain = fx.make_composed_layout(fx.make_swizzle(2, rng.choice([0, 3]), 3), plain)
        element = rng.choice([fx.Float16, fx.Int8, fx.Float4E2M1FN])
        return fx.make_view(fx.recast_iter(element, fx.get_dyn_shared()), plain)
    if kind == "D":
        return tuple(rng.choice([1, 2, 4, 3, None, 8, 0]) for _ in range(rng.choice([1, 2, 3])))
    if kind == "C":
        return tree(rng, dynamic, leaf=lambda: rng.choice([None, None, 0, 1, 3, dynamic, -1]))
    if kind == "I":
        return [rng.choice([0, 1, 2, -1, 5]) for _ in range(rng.choice([0, 1, 2]))]
    return rng.choice([0, 1, 2, 3, -1, 16, 32]) if kind == "i" else tree(rng, dynamic)


def typed_call(rng, dynamic):
    """Return a random function of the algebra and arguments of the right kinds."""
    name = rng.choice(list(TYPED))
    return name, getattr(fx, name), [argument(kind, rng, dynamic) for kind in rng.choice(TYPED[name].split())]


def main(seed: int, calls: int, lower: bool = False) -> int:
    """Make `calls` calls and return how many returned a value; with `lower`, the passes run on what came out."""
    rng = random.Random(seed)
    functions = [name for name in fx.__all__ if name not in SKIPPED and callable(getattr(fx, name))]
    methods = ("partition_S", "partition_A", "load", "store", "to", "select", "reduce", "__getitem__", "__call__")
    trace = bool(os.environ.get("FUZZ_TRACE"))
    returned = done = 0
    while done < calls:
        with kernel(*TYPES, arch=rng.choice(["gfx942", "gfx950"])) as k:
            values = pool(k, rng)
            traced = [v for v in values if type(v).__module__.startswith("flydsl.expr") or type(v) in (int, tuple)]
            for _ in range(200):
                done += 1
                try:
                    name, target, args = typed_call(rng, fx.Int32(k.args[0]))
                except Exception:
                    continue
                if rng.random() < 0.5:
                    name = rng.choice(functions)
                    target = getattr(fx, name)
                    if rng.random() < 0.25:
                        holder, name = rng.choice(values), rng.choice(methods)
                        target = getattr(holder, name, None)
                    source = traced if rng.random() < 0.6 else values
                    args = [rng.choice(source) for _ in range(rng.choice([0, 1, 1, 2, 2, 3, 4]))]
                if target is None:
                    continue
                if trace:
                    print(name, [f"{type(a).__name__}: {str(a)[:80]}" for a in args], file=sys.stderr, flush=True)
                try:
                    result = target(*args)
                    returned += 1
                    if result is not None and len(values) < 200 and type(result).__module__.startswith("flydsl"):
                        values.append(result)
                        traced.append(result)
                except Exception:  # any Python exception is a right answer to nonsense
                    continue
            try:
                k.module.operation.verify()
                for name in PASSES if lower else ():
                    PassManager.parse(f"builtin.module({name})").run(k.module.operation)
            except Exception:
                continue
    return returned


if __name__ == "__main__":
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 2000
    first = int(sys.argv[1]) if len(sys.argv) > 1 else 0
    print(main(first, count, lower="lower" in sys.argv), "of", count, "calls returned")
