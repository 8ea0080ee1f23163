# SPDX-License-Identifier: Apache-2.0
"""`kernel(...).launch(...)`: emission of the device function and of its launch."""

from __future__ import annotations

import inspect
import math
from collections.abc import Iterable, Sequence
from typing import Any

from flydsl._mlir import ir
from flydsl._mlir._mlir_libs import _mlirDialectsLLVM as llvm
from flydsl._mlir.dialects import fly
from flydsl.compile.tracing import GPU_MODULE, Compilation, EmittedKernel, active
from flydsl.expr.values.numeric import Index, Int32, Int64, Numeric, NumericMeta, as_numeric
from flydsl.expr.values.typing import Stream
from flydsl.trace import context as _trace
from flydsl.trace.arch import Arch
from flydsl.trace.build import build, build_op, is_stream, stream_type, type_of
from flydsl.trace.diagnostics import text_of, user_location, where_text
from flydsl.trace.hints import waves_per_eu
from flydsl.trace.protocol import construct_from_ir_values, extract_to_ir_values

from .arguments.markers import is_compile_time
from .signature import MAKE_OPTIONAL, split_optional

__all__ = ["Launcher", "block_size_of"]

_AXES = "xyz"


class Launcher:
    """A kernel with its arguments; `launch` emits it. One that is never launched is refused at the end of the trace."""

    def __init__(
        self,
        kernel: Any,
        bound: inspect.BoundArguments,
        unit_attrs: Sequence[str] = (),
        value_attrs: dict[str, Any] | None = None,
    ) -> None:
        self._kernel = kernel
        self._bound = bound
        self._unit_attrs = tuple(unit_attrs)
        self._value_attrs = dict(value_attrs or {})
        self._emitted: dict[Any, EmittedKernel] = {}
        self._where = user_location()
        compilation = active()
        if compilation is not None:
            compilation.launchers.append(self)

    def check_launched(self) -> None:
        """See that the arguments were not given for nothing.

        Raises:
            RuntimeError: `launch` was never called.
        """
        if not self._emitted:
            name = self._kernel.__name__
            raise RuntimeError(
                f"kernel '{name}' got its arguments but is never launched: write "
                f"{name}(...).launch(grid=..., block=...)" + text_of(self._where)
            )

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"a kernel with its arguments has .launch(grid=..., block=...) only, no .{name}")

    def launch(
        self,
        *,
        grid: Any = (1, 1, 1),
        block: Any = None,
        smem: Any = None,
        stream: Any = None,
        cluster: Any = None,
        unit_attrs: Sequence[str] = (),
        value_attrs: dict[str, Any] | None = None,
    ) -> None:
        """Emit a launch at this point of the host function; launches run in order on their stream.

        Args:
            grid: workgroups; an integer, or up to three, known while tracing or computed at run time.
            block: threads of a workgroup, likewise; by default what `known_block_size` declares, else one thread.
            smem: bytes of dynamic LDS; by default what the kernel's dynamic allocator used.
            stream: an `fx.Stream`; by default the host function's own.
            cluster: workgroups of a cluster (gfx1250, sm_90a).
            unit_attrs: names of attributes without value for the device function.
            value_attrs: attributes with a value; `None` values are skipped.

        Raises:
            TypeError: an extent that is no integer, a stream that is none.
            ValueError: more than three extents, a static extent below 1, a block that contradicts
                `known_block_size`, an attribute of another vendor's GPUs, no block for a kernel that asks for the
                thread's index, less `smem` than it needs.
        """
        compilation = active()
        if compilation is None:
            raise RuntimeError("a kernel can only be launched inside a @flyc.jit function while it is traced")
        declared = self._kernel.known_block_size
        threads = (1, 1, 1) if block is None and declared is None else declared if block is None else block
        grid_sizes, blocks = _extents(grid, "grid"), _extents(threads, "block")
        clusters = None if cluster is None else _extents(cluster, "cluster")
        _check_cluster(_trace.target(), clusters)
        _check_block(self._kernel.__name__, blocks)
        known = self._block_size(blocks)
        attributes = {**self._value_attrs, **(value_attrs or {})}
        units = (*self._unit_attrs, *unit_attrs)
        _check_attributes(_trace.target(), (*units, *(one for one in attributes if attributes[one] is not None)))
        key = (known, units, tuple(sorted(map(str, attributes.items()))))
        emitted = self._emitted.get(key)
        if emitted is None:
            emitted = self._emitted[key] = self._emit(compilation, known, units, attributes)
        if block is None and declared is None:
            _check_single_thread(self._kernel.__name__, emitted)
        self._launch(compilation, emitted, grid_sizes, blocks, clusters, smem, stream)

    # -- the device function -------------------------------------------------------------------------------------------

    def _block_size(self, blocks: list[Any]) -> tuple[int, int, int] | None:
        static = [int(one) if _is_static(one) else None for one in blocks]
        declared = self._kernel.known_block_size
        if declared is None:
            return None if None in static else tuple(static)  # type: ignore[return-value]
        for axis, have, want in zip(_AXES, static, declared, strict=True):
            if have is not None and have != want:
                raise ValueError(
                    f"kernel '{self._kernel.__name__}' is declared with known_block_size {declared}, but block.{axis} "
                    f"of this launch is {have}" + where_text()
                )
        return tuple(declared)

    def _emit(
        self, compilation: Compilation, known: Any, units: tuple[str, ...], values: dict[str, Any]
    ) -> EmittedKernel:
        kernel = self._kernel
        name = compilation.kernel_name(kernel.func.__name__, kernel.fixed_name)
        self._operands: list[ir.Value] = []
        prepared = {one: self._prepare(one, value) for one, value in self._bound.arguments.items()}
        types = [value.type for value in self._operands]
        here = _trace.location() or ir.Location.current
        attributes = {
            "sym_name": ir.StringAttr.get(name),
            "function_type": ir.TypeAttr.get(ir.FunctionType.get(types, [])),
            "gpu.kernel": ir.UnitAttr.get(),
        }
        if known is not None:
            attributes["known_block_size"] = ir.DenseI32ArrayAttr.get(list(known))
        wish = waves_per_eu(compilation.hints.get("waves_per_eu"))
        if wish is not None:
            text = str(wish[0]) if wish[1] is None else f"{wish[0]},{wish[1]}"
            attributes["passthrough"] = ir.ArrayAttr.get(
                [ir.ArrayAttr.get([ir.StringAttr.get("amdgpu-waves-per-eu"), ir.StringAttr.get(text)])]
            )
        for one in units:
            attributes[one] = ir.UnitAttr.get()
        attributes.update({one: _attribute(value) for one, value in values.items() if value is not None})
        with ir.InsertionPoint(compilation.gpu_module_body):
            op = ir.Operation.create("gpu.func", regions=1, attributes=attributes, loc=here)
        entry = op.regions[0].blocks.append(*types, arg_locs=[here] * len(types))
        scope = _trace.KernelScope(name, entry, compilation.gpu_module_body, block_size=known)
        arguments = list(entry.arguments)
        trace = _trace.current()
        with ir.InsertionPoint(entry), trace.in_kernel(scope):
            parameters = self._bound.signature.parameters
            values = {one: make(arguments) for one, make in prepared.items()}
            keywords = {
                one: values.pop(one) for one in prepared if parameters[one].kind is inspect.Parameter.KEYWORD_ONLY
            }
            _trace.call_traced(kernel.traced, *kernel.receiver, *values.values(), **keywords)
            build_op("gpu.return", [])
        scope.check_lds()
        if scope.records_events:
            assert compilation.trace_buffer is not None
            types = [*types, compilation.trace_buffer.type]
            entry.add_argument(types[-1], here)
            op.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(types, []))
            self._operands = [*self._operands, compilation.trace_buffer]
        for key, value in scope.attributes.items():
            op.attributes[key] = value if isinstance(value, ir.Attribute) else _attribute(value)
        emitted = EmittedKernel(name, op.operation, scope, self._operands, kernel)
        compilation.kernels.append(emitted)
        return emitted

    def _prepare(self, name: str, value: Any) -> Any:
        """Return what makes the body's argument from the block arguments, and collect the operands of the launch."""
        parameter = self._bound.signature.parameters[name]
        annotation, optional = split_optional(self._kernel.annotations.get(name, parameter.annotation))
        absent = value is None and (optional or parameter.default is None)
        if absent:
            found = active()
            assert found is not None
            found.absent.append(f"argument '{name}' of kernel '{self._kernel.__name__}'")
        if absent or is_compile_time(annotation):
            return lambda arguments: value
        exemplar = self._convert(name, value, annotation)
        start = len(self._operands)
        values = extract_to_ir_values(exemplar)
        self._operands += values
        stop = len(self._operands)
        return lambda arguments: construct_from_ir_values(exemplar, arguments[start:stop])

    def _convert(self, name: str, value: Any, annotation: Any) -> Any:
        where = f"kernel '{self._kernel.__name__}': argument '{name}'"
        if isinstance(annotation, NumericMeta) and isinstance(value, (bool, int, float, Numeric, ir.Value)):
            if isinstance(value, (bool, int, float)) or (
                isinstance(value, ir.Value) and not isinstance(value, Numeric)
            ):
                return annotation(value)
            return value
        if isinstance(value, (bool, int, float)):
            suggestion = type(as_numeric(value)).__name__
            raise TypeError(
                f"{where} is a Python number. Pass fx.{suggestion}({value!r}) for a run-time value, or declare the "
                "parameter fx.Constexpr for a compile-time one" + where_text()
            )
        if value is None:
            raise TypeError(f"{where} is None. {MAKE_OPTIONAL}" + where_text())
        if hasattr(value, "__dlpack__"):
            raise TypeError(
                f"{where} is a {type(value).__module__}.{type(value).__qualname__} that exists while the program is "
                "traced. Make it a parameter of the @flyc.jit function, and pass it at the call" + where_text()
            )
        try:
            extract_to_ir_values(value)
        except TypeError as error:
            raise TypeError(f"{where}: {error}" + where_text()) from None
        return value

    # -- the launch ----------------------------------------------------------------------------------------------------

    def _launch(
        self,
        compilation: Compilation,
        kernel: EmittedKernel,
        grid: list[Any],
        block: list[Any],
        cluster: list[Any] | None,
        smem: Any,
        stream: Any,
    ) -> None:
        shared = _shared_bytes(kernel, smem)
        kernel.launches.append(_launch_facts(kernel, block, smem))
        token = _stream_token(compilation, stream)
        sizes = [_index(one) for one in [*grid, *block]]
        clusters = [] if cluster is None else [_index(one) for one in cluster]
        dynamic = [] if shared is None else [shared]
        segments = [1, *[1] * 6, *([1] * 3 if clusters else [0] * 3), len(dynamic), len(kernel.operands), 0]
        symbol = ir.SymbolRefAttr.get([GPU_MODULE, kernel.name])
        build_op(
            "gpu.launch_func",
            [token, *sizes, *clusters, *dynamic, *kernel.operands],
            [stream_type()],
            {"kernel": symbol, "operandSegmentSizes": ir.DenseI32ArrayAttr.get(segments)},
        )


def _is_static(value: Any) -> bool:
    return isinstance(value, int) or (isinstance(value, Numeric) and value.is_static())


def _extents(value: Any, what: str) -> list[Any]:
    parts = list(value) if isinstance(value, (tuple, list)) else [value]
    if not 1 <= len(parts) <= 3:
        raise ValueError(f"{what} has one to three extents, got {len(parts)}" + where_text())
    parts = [_extent(one, f"{what}.{axis}") for axis, one in zip(_AXES, parts, strict=False)]
    return [*parts, *[1] * (3 - len(parts))]


def _extent(value: Any, what: str) -> Any:
    scalar = getattr(value, "__dsl_scalar__", None)
    if scalar is not None:
        value = scalar()
    if hasattr(type(value), "__index__") and not isinstance(value, (Numeric, ir.Value, bool)):
        value = value.__index__()
    if isinstance(value, bool) or not isinstance(value, (int, Numeric, ir.Value)):
        raise TypeError(f"{what} must be an integer, got {type(value).__name__}" + where_text())
    if isinstance(value, Numeric) and not type(value).is_integer:
        raise TypeError(f"{what} must be an integer, got {type(value).__name__}" + where_text())
    if _is_static(value) and not 0 <= int(value) < 2**32:
        raise ValueError(f"{what} must be from 0 to 2**32-1, got {int(value)}" + where_text())
    return value


_MOST_THREADS = 1024  # of a workgroup, on every GPU that is compiled for


def _check_block(name: str, block: list[Any]) -> None:
    """Refuse a workgroup that no device can have, as far as it is known while tracing."""
    sizes = [int(one) if _is_static(one) else 1 for one in block]
    if 0 in sizes:
        raise ValueError(f"kernel '{name}': block {tuple(sizes)} has an extent that is not positive" + where_text())
    if math.prod(sizes) > _MOST_THREADS:
        raise ValueError(
            f"kernel '{name}': block {tuple(sizes)} has {math.prod(sizes)} threads, but a workgroup has at most "
            f"{_MOST_THREADS}. Use a smaller block and a larger grid" + where_text()
        )


def _check_single_thread(name: str, kernel: EmittedKernel) -> None:
    """Refuse a launch that says no block, where the kernel asks which thread it is."""
    if fly.asks_for_thread(kernel.op):
        raise ValueError(
            f"kernel '{name}' asks for the index of its thread, but this launch says no block, which is one thread: "
            ".launch(grid=..., block=256), or block=1 if that is meant" + where_text()
        )


def _check_attributes(arch: Arch, names: Iterable[str]) -> None:
    """Refuse attributes of the other vendor's functions, which nothing would read."""
    dialect, owner = ("rocdl", "AMD") if arch.nvidia else ("nvvm", "NVIDIA")
    for name in names:
        if name.startswith(f"{dialect}."):
            raise ValueError(
                f"the attribute {name} is for {owner} GPUs, but the kernel is compiled for {arch.name}" + where_text()
            )


def _check_cluster(arch: Arch, cluster: list[Any] | None) -> None:
    sizes = [int(one) if _is_static(one) else None for one in cluster or ()]
    if any(one != 1 for one in sizes) and not arch.clusters:
        raise ValueError(
            f"{arch.name} has no clusters of workgroups (gfx1250 and sm_90a have): launch without cluster="
            + where_text()
        )


def _index(value: Any) -> ir.Value:
    if isinstance(value, ir.Value):
        value = as_numeric(value)
    return Index(value).ir_value()


def _shared_bytes(kernel: EmittedKernel, smem: Any) -> ir.Value | None:
    needed = kernel.scope.dynamic_lds_bytes
    if smem is None:
        return Int32(needed).ir_value() if needed else None
    if _is_static(smem):
        if int(smem) < needed:
            raise ValueError(
                f"smem={int(smem)} is less than the {needed} bytes of dynamic LDS that kernel '{kernel.name}' allocates"
                + where_text()
            )
        if kernel.scope.dynamic_lds_bytes < int(smem):
            kernel.scope.dynamic_lds_bytes = int(smem)
            kernel.scope.check_lds()
        return Int32(int(smem)).ir_value()
    return Int32(smem).ir_value()


def _launch_facts(kernel: EmittedKernel, block: list[Any], smem: Any) -> dict[str, Any]:
    """Return what of a launch is known while tracing, for the note."""
    static = all(map(_is_static, block))
    shared = kernel.scope.dynamic_lds_bytes if smem is None else int(smem) if _is_static(smem) else None
    return {"block": [int(one) for one in block] if static else None, "shared_bytes": shared}


def _stream_token(compilation: Compilation, stream: Any) -> ir.Value:
    if stream is None:
        assert compilation.stream is not None
        return compilation.stream
    if isinstance(stream, Stream):
        try:
            return stream.async_token()
        except TypeError:  # a host object
            address = Int64(stream.handle() or 0).ir_value()
            return Stream(build("llvm.inttoptr", [address], type_of(llvm.PointerType))).async_token()
    if isinstance(stream, ir.Value):  # `stream.value` of the host function's parameter
        kind = stream.type
        if is_stream(stream) or (isinstance(kind, llvm.PointerType) and kind.address_space == 0):
            return Stream(stream).async_token()
        raise TypeError(f"stream= takes an fx.Stream or the value of one, not a value of type {kind}" + where_text())
    raise TypeError(f"stream= takes an fx.Stream, got {type(stream).__name__}" + where_text())


def _attribute(value: Any) -> ir.Attribute:
    if isinstance(value, ir.Attribute):
        return value
    if isinstance(value, bool):
        return ir.BoolAttr.get(value)
    if isinstance(value, int):
        return ir.IntegerAttr.get(ir.IntegerType.get_signless(32), value)
    if isinstance(value, str):
        return ir.StringAttr.get(value)
    if isinstance(value, (list, tuple)):
        return ir.ArrayAttr.get([_attribute(one) for one in value])
    raise TypeError(f"an attribute value is a bool, int, str, list or MLIR attribute, got {type(value).__name__}")


def block_size_of(value: Any) -> tuple[int, int, int] | None:
    """Return a checked `known_block_size`.

    Raises:
        TypeError: not a sequence of ints.
        ValueError: not three, or one below 1.
    """
    if value is None:
        return None
    if isinstance(value, str) or not isinstance(value, (tuple, list)):
        raise TypeError(f"known_block_size is a sequence of three ints, got {type(value).__name__}")
    parts = []
    for one in value:
        if isinstance(one, bool) or not _is_static(one):
            raise TypeError(f"known_block_size is a sequence of three ints, got {one!r} in it")
        parts.append(int(one))
    if len(parts) != 3:
        raise ValueError(f"known_block_size has three extents, got {len(parts)}")
    if any(one < 1 for one in parts):
        raise ValueError(f"known_block_size extents must be positive, got {tuple(parts)}")
    return tuple(parts)  # type: ignore[return-value]
