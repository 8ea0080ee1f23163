# SPDX-License-Identifier: Apache-2.0
"""Hints for idioms of other languages: Python, Triton, CUDA, CuTe and torch."""

from __future__ import annotations

import difflib
import re
import sys

__all__ = ["hints_for", "hints_for_line"]

_NO_TORCH_TENSOR = (
    "it is a view of memory with a layout, not a torch tensor: index it, t.load() and t.store(v), t.fill(value), "
    "fx.size(t), fx.make_view"
)
_TRANSPOSED = (
    "a view with the modes in another order is fx.make_view(fx.get_iter(t), fx.select(fx.get_layout(t), [1, 0]))"
)
_CONVERTED = "elements are converted when they are there: t[i].to(fx.Float16), or t.load().to(fx.Float16)"
_ONLY_A_LOOP = (
    "a range whose length is known only when the kernel runs is a loop of the kernel, `for i in range(n):` alone; not "
    "in list(), enumerate(), zip(), reversed() or a comprehension"
)
_ONLY_WHILE_TRACING = (
    "Python's lists, tuples and texts are indexed while tracing: put the numbers in registers, "
    "fx.Vector.from_elements([...])[i], or in a tensor"
)
_BY_TEXT = (
    (r"unsupported operand .*'Tensor'", "a tensor is memory: compute with what is in it, x[i] or x.load()"),
    (r"unsupported operand .* /: 'IntTuple'", "extents are integers: divide them with // or fx.ceildiv"),
    (r"'(Boolean|U?[Ii]nt\d+|B?Float\d+)' object is not subscriptable", "it is one number; a tensor was meant?"),
    (r"'Storage\[.*item assignment", "a storage is written with .poke(value) and read with .peek()"),
    (r"'IntTuple' object does not support item assignment", "shapes and layouts do not change: make another one"),
    (r"'\w+\d*' object has no attribute 'item'", "inside a kernel a value is used as it is, without .item()"),
    (
        r"(?<!'Tensor' object has )no attribute '(float|half|bfloat16|int|long|double|astype|type|cast)'",
        "convert with .to(fx.Float16)",
    ),
    (r"'Tensor' object has no attribute '(ndim|dim)'", "fx.rank(t) counts the modes of a tensor"),
    (r"'Tensor' object has no attribute '(T|mT|t|transpose|permute|swapaxes)'", _TRANSPOSED),
    (r"'Tensor' object has no attribute '(to|astype|type|cast|float|half|bfloat16|int|long|double)'", _CONVERTED),
    (r"'Tensor' object has no attribute", _NO_TORCH_TENSOR),
    (r"got torch\.\w+", "torch's types are for the host: fx.Float16, fx.Int32, ..."),
    (
        r"got 'Vector'",
        "to store n lanes, slice the tensor: fx.logical_divide(t, fx.make_layout(n, 1))[None, i].store(v)",
    ),
    (r"got '(u?int\d+|float\d+|bool_?)': ", "a number of NumPy becomes one of Python by .item()"),
    (r"'IntTuple' object is not callable", "it is no method: x.shape[0], x.stride[0]"),
    (
        r"an int-tuple is made of integers, got Float",
        "an index is an integer: divide with //, convert with .to(fx.Int32)",
    ),
    (
        r"only integers, slices .* are valid indices",
        "an array of NumPy is indexed while tracing: pass it to the kernel as a tensor",
    ),
    (r"argument of type 'Tensor' is not iterable", "search a tensor in a loop over its elements"),
    (r"unsupported format string passed to", 'print the value when the kernel runs, fx.printf("{}", value)'),
    (r"<class 'numpy\.(\w+)'>", "the types of NumPy are for the host: fx.Float16, fx.Int32, ..."),
    (r"got 'Tensor': tensor\(", "a number of torch is a number of Python by .item(), or an argument of the kernel"),
    (r"takes a Python number, .* not flydsl\.[\w.]*Vector", "a vector is converted with v.to(dtype)"),
    (
        r"got 'complex'|operand .*'complex'",
        "there are no complex numbers: keep real and imaginary parts in two tensors",
    ),
    (r"got 'NoneType'", "None is no number: does each path of the function that was called return a value?"),
    (
        r"got '(tuple|list)'",
        "an element is one number: store them one by one, or as fx.Vector.from_elements([...]) into a slice",
    ),
    (r"atomic_\w+ takes a pointer, not", "the address of an element is x.iter + i"),
    (r"a Vector is indexed with integers and None; slices", "another shape is v.reshape((4, 1))"),
    (
        r"type object '\w+' has no attribute '(element_ty|dtype|scalar|element_type)'",
        "it is the class of the elements itself",
    ),
    (
        r"'(Boolean|U?Int\d+|B?Float\d+)' object has no attribute '(iter|ptr|data_ptr|address|shape|layout)'",
        "x[i] has been loaded, and is a number; the address of an element is x.iter + i",
    ),
    (r"'Pointer' object is not iterable", "p[0] or p.load() is what it points to"),
    (r"'Tuple3D' object is not callable", "the index is fx.thread_idx.x, without a call"),
    (r"has 0 placeholders for", "a placeholder is {}, not %d"),
    (r"'Vector' object has no attribute '(any|all)'", "v.to(fx.Int32).reduce('max') != 0 is any, 'min' is all"),
    (
        r"'Vector' object has no attribute '(sum|prod|max|min|mean)'",
        "v.reduce('add'), 'mul', 'max' or 'min' combines lanes",
    ),
    (
        r"unsupported operand .* @: '(Vector|Float|B?Float\d+)'",
        "fx.gemm multiplies matrices; (a * b).reduce('add') is a dot product",
    ),
    (r"__pow__\(\) takes 2 positional", "pow(a, b, m) is a ** b % m"),
    (r"__delitem__", "an element of a tensor or vector cannot be deleted: they do not change their size"),
    (r"range\(\) takes integers, got (float|Float)", "use //, int(x) while tracing, or x.to(fx.Int32)"),
    (r"range\(\) takes integers, got Tensor", "range(t.shape[0]) counts along its first axis"),
    (r"for-loop (start|stop|step) must be i32, got (f|bf)\d", "convert it with .to(fx.Int32)"),
    (
        r"(?<!\w)copy\(\) missing",
        "fx.copy(atom, src, dst) begins with what moves: fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)",
    ),
    (r"(?<!\w)gemm\(\) missing", "fx.gemm(tiled_mma, d, a, b, c) is d = a b + c, on fragments"),
    (
        r"'CopyAtom' object has no attribute '(get_slice|partition_\w)'",
        "tiled copies have it: fx.make_tiled_copy(atom, layout_tv, tile)",
    ),
    (
        r"'MmaAtom' object has no attribute '(get_slice|partition_\w)'",
        "tiled MMAs have it: fx.make_tiled_mma(atom, layout)",
    ),
    (r"'SharedAllocator' object has no attribute", ".allocate(fx.Array[dtype, n]).peek() is an array in LDS"),
    (r"make_layout\(\) missing 1 .* 'stride'", "without strides it is fx.make_ordered_layout(shape, 0), column-major"),
    (r"(?<!\w)size\(\) got an unexpected keyword argument 'mode'", "the extent of a mode is t.shape[0]"),
    (r"got 'Tuple3D'", "take one axis, for example fx.thread_idx.x"),
    (r"doesn't define __round__", "fx.roundeven rounds halves to even as Python does, fx.round away from zero"),
    (r"name '(thread|block)(Idx|Dim)' is not defined", "they are fx.thread_idx, fx.block_idx and fx.block_dim"),
)

_ELSEWHERE = {
    "arange": "a thread computes one element: its number is fx.thread_idx.x",
    "arch": "in fx itself: fx.thread_idx.x, fx.barrier(), ...",
    "atomicAdd": "fx.atomic_add(fx.get_iter(tensor) + i, value)",
    "autovec_copy": "fx.copy(fx.make_copy_atom(fx.UniversalCopy128b(), dtype), src, dst)",
    "basic_copy": "fx.copy(fx.make_copy_atom(fx.UniversalCopy32b(), dtype), src, dst)",
    "broadcast_to": "vector.broadcast_to(shape)",
    "cdiv": "fx.ceildiv(a, b)",
    "constexpr": "fx.Constexpr",
    "cp_async": "fx.rocdl.BufferCopyLDS128b() is the copy that goes to LDS by itself, on Hopper those of tensor maps",
    "debug_barrier": "fx.barrier()",
    "device_print": "fx.printf(...)",
    "dot": "fx.gemm(tiled_mma, d, a, b, c) on fragments",
    "dynamic_expr": "a plain `if`: what the kernel decides and what Python does is seen by the type of the condition",
    "ldg": "x[i]",
    "load": "x[i] for one element, fx.copy(atom, src, dst) for a tile",
    "local_partition": "tiled_copy.get_slice(fx.thread_idx.x).partition_S(tile)",
    "local_tile": "fx.zipped_divide(tensor, tile)[None, coordinate]",
    "make_block_ptr": "fx.zipped_divide(tensor, tile)[None, coordinate]",
    "make_fragment": "fx.make_rmem_tensor(shape, dtype), or tiled_mma.make_fragment_A(tile)",
    "make_identity_tensor": "fx.make_view(fx.make_int_tuple((0, 0)), fx.make_identity_layout(shape))",
    "make_tensor": "fx.make_view(pointer, layout)",
    "max_contiguous": "known of a tensor: flyc.from_dlpack(t).mark_layout_dynamic(divisibility=n)",
    "multiple_of": "known of a tensor: flyc.from_dlpack(t).mark_layout_dynamic(divisibility=n)",
    "num_programs": "fx.grid_dim.x",
    "print_tensor": "fx.printf('{}', x[i])",
    "program_id": "fx.block_idx.x",
    "range": "Python's range(...)",
    "shared_array": "fx.SharedAllocator().allocate(fx.Array[dtype, n]).peek()",
    "shared_memory": "fx.SharedAllocator().allocate(fx.Array[dtype, n])",
    "shfl_down_sync": "fx.gpu.shuffle_down(value, offset, width)",
    "shfl_xor_sync": "fx.gpu.shuffle_xor(value, offset, width)",
    "sigmoid": "1.0 / (1.0 + fx.exp(-x))",
    "SmemAllocator": "flydsl.utils.smem_allocator.SmemAllocator, or fx.SharedAllocator()",
    "softmax": "flydsl.kernels.norm's softmax as a kernel, fx.exp and fx.coop.BlockReduce in one",
    "static_assert": "a plain assert, of what is known while tracing; fx.device_assert when the kernel runs",
    "static_range": "fx.range_constexpr(...)",
    "store": "x[i] = value for one element, fx.copy(atom, src, dst) for a tile",
    "sum": "vector.reduce('add') in a thread, fx.coop.warp_reduce and fx.coop.BlockReduce among threads",
    "sync_threads": "fx.barrier()",
    "syncthreads": "fx.barrier()",
    "syncwarp": "not needed: the lanes of a wave go together; fx.barrier() is for the workgroup",
    "warp_size": "fx.num_warp_threads()",
    "warpSize": "fx.num_warp_threads()",
    "where": "condition.select(a, b), or `a if condition else b`",
    "zeros": "fx.full(shape, 0.0, dtype) makes a vector, fx.make_rmem_tensor(shape, dtype) registers to fill",
}

_OF_VALUES = re.compile(r"'(Boolean|U?Int\d+|B?Float\w+|Vector)' object has no attribute '(\w+)'")
_FUNCTIONS = {"abs": "absf", "bit_count": "ctpop", "clamp": "clampf", "clip": "clampf", "pow": "powf"}

_MISSING = re.compile(r"module '(flydsl\.expr[\w.]*)' has no attribute '(\w+)'")


def fx_names() -> set[str]:
    """Return the names of `flydsl.expr`."""
    return set(_names_of("flydsl.expr"))


def _names_of(module: str) -> list[str]:
    """The names of a module that the user has imported: it stands above this one."""
    found = sys.modules.get(module)
    return [] if found is None else dir(found)


def hints_for(text: str) -> list[str]:
    """Return what to say besides the text of an exception."""
    found = [hint for pattern, hint in _BY_TEXT if re.search(pattern, text)]
    if (method := _OF_VALUES.search(text)) is not None:
        function = _FUNCTIONS.get(method[2], method[2])
        if function in fx_names():
            found.append(f"here it is a function, fx.{function}(...)")
    missing = _MISSING.search(text)
    if missing is not None:
        module, name = missing.groups()
        if name in _ELSEWHERE:
            return [*found, f"here it is {_ELSEWHERE[name]}"]
        if name.endswith("f") and name[:-1] in fx_names():
            return [*found, f"here it is fx.{name[:-1]}"]
        close = difflib.get_close_matches(name, _names_of(module), n=3)
        if close:
            found.append(f"did you mean {' or '.join(close)}?")
    return found


_PRINTED = 'print the value when the kernel runs, fx.printf("{}", value)'
_OF_BUILTINS = {
    "bin": _PRINTED,
    "bytes": _ONLY_WHILE_TRACING,
    "chr": _PRINTED,
    "hex": _PRINTED,
    "oct": _PRINTED,
    "all": "combine conditions with `and`, or lanes of a vector with .reduce",
    "any": "combine conditions with `or`, or lanes of a vector with .reduce",
    "bool": "compare, for example x != 0",
    "complex": "there are no complex numbers",
    "filter": "choose with condition.select(a, b)",
    "float": "convert with .to(fx.Float32)",
    "int": "convert with .to(fx.Int32)",
    "max": "use fx.max(a, b)",
    "min": "use fx.min(a, b)",
    "sorted": "sort with fx.min and fx.max, or fx.coop.BlockRadixSort among threads",
}
_ASKED_BY_PYTHON = re.compile(r"as Python bool|has no Python (float|integer) representation")
_CALL = re.compile(r"(?<![\w.])(math\.)?(\w+)\s*\(")
_C_CAST = re.compile(r"\((float|int|bool)\)\s*[\w(]")
_ID = re.compile(r"\b(thread|block|grid)_(id|dim)\s*\.\s*[xyz]\b")


def hints_for_line(text: str, source: str) -> list[str]:
    """Return what to say besides the text of an exception that came up in a piece of source: what fx has instead."""
    if "object has no attribute" in text and (found := _ID.search(source)) is not None:
        return [f"fx.{found[1]}_id('x') is a function, fx.{found[1]}_idx.x the index"]
    if not _ASKED_BY_PYTHON.search(text):
        return []
    from flydsl.expr.ops import math

    if "no Python integer" in text:
        if "range(" in source:
            return [_ONLY_A_LOOP]
        if re.match(r"""["'].*["']\s*%""", source):
            return ['print the value when the kernel runs, fx.printf("{}", value)']
        if re.match(r"""[\w.]+\[|["'\[(]""", source):
            return [_ONLY_WHILE_TRACING]
    if (cast := _C_CAST.search(source)) is not None:
        return [_OF_BUILTINS[cast[1]]]
    for module, name in _CALL.findall(source):
        if module and name in math.__all__:
            return [f"math.{name} computes on the host: use fx.{name}"]
        if module and name in _OF_MATH:
            return [f"math.{name} computes on the host: {_OF_MATH[name]}"]
        if not module and name in _OF_BUILTINS:
            return [f"Python's {name}() decides on the host: {_OF_BUILTINS[name]}"]
    return []


_OF_MATH = {
    "fabs": "use fx.absf",
    "fsum": "add with +",
    "prod": "multiply with *",
    "pow": "use fx.powf, or **",
    "hypot": "use fx.sqrt(a * a + b * b)",
}
