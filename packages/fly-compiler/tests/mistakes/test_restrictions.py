# SPDX-License-Identifier: Apache-2.0
"""What the language refuses by contract, each with the reason, the line, and what to write instead."""

import numpy as np
from teaching import teaches

import flydsl.compiler as flyc
import flydsl.expr as fx
from flydsl.expr.extern import ffi

DOWNWARD = fx.arith.RoundingMode.downward

# -- numbers and vectors -----------------------------------------------------------------------------------------------


@teaches(ValueError, "NaN")
def test_not_a_number_as_integer(x: fx.Tensor, n: fx.Int32):
    fx.Int32(float("nan"))  # here


@teaches(OverflowError, "infinity")
def test_infinity_as_integer(x: fx.Tensor, n: fx.Int32):
    fx.Int32(float("inf"))  # here


@teaches(ValueError, "takes a Python number", "builtins.str")
def test_a_number_from_a_text(x: fx.Tensor, n: fx.Int32):
    fx.Float32("1.0")  # here


@teaches(ValueError, "no common type", "cast one of them")
def test_two_narrow_floats(x: fx.Tensor, n: fx.Int32):
    x[0].to(fx.Float8E4M3FN) + x[1].to(fx.Float8E5M2)  # here


@teaches(TypeError, "Boolean")
def test_the_negative_of_a_boolean(x: fx.Tensor, n: fx.Int32):
    -(n > 3)  # here


@teaches(TypeError, "rounding_mode")
def test_a_rounding_mode_for_an_integer(x: fx.Tensor, n: fx.Int32):
    n.to(fx.Float32, rounding_mode=DOWNWARD)  # here


@teaches(TypeError, "slice")
def test_a_python_slice_of_a_vector(x: fx.Tensor, n: fx.Int32):
    fx.full(4, 0.0, fx.Float32)[0:2]  # here


@teaches(IndexError, "out of range", "4")
def test_a_lane_that_is_not_there(x: fx.Tensor, n: fx.Int32):
    fx.full(4, 0.0, fx.Float32)[7]  # here


@teaches(RuntimeError, "must be static", "one dynamic index into the flat order")
def test_a_run_time_coordinate_of_a_vector(x: fx.Tensor, n: fx.Int32):
    fx.full((2, 2), 0.0, fx.Float32)[n, 0]  # here


@teaches(ValueError, "reshape", "(3,)")
def test_a_shape_of_another_size(x: fx.Tensor, n: fx.Int32):
    fx.full(4, 0.0, fx.Float32).reshape((3,))  # here


@teaches(TypeError, "~")
def test_the_complement_of_floats(x: fx.Tensor, n: fx.Int32):
    ~fx.full(4, 0.0, fx.Float32)  # here


@teaches(ValueError, "at least one operand")
def test_the_maximum_of_nothing(x: fx.Tensor, n: fx.Int32):
    fx.max()  # here


@teaches(TypeError, "Index", "convert the operands first")
def test_the_maximum_of_indices(x: fx.Tensor, n: fx.Int32):
    fx.max(fx.Index(n), fx.Index(3))  # here


# -- layouts -----------------------------------------------------------------------------------------------------------


@teaches(TypeError, "divisor", "tuple")
def test_dividing_by_a_bare_number(x: fx.Tensor, n: fx.Int32):
    fx.zipped_divide(fx.make_layout((8, 8), (1, 8)), 4)  # here


@teaches(TypeError, "list")
def test_the_rank_of_a_list(x: fx.Tensor, n: fx.Int32):
    fx.rank([1, 2])  # here


@teaches(IndexError, "2")
def test_a_mode_that_is_not_there(x: fx.Tensor, n: fx.Int32):
    fx.make_layout((4, 8), (8, 1))[2]  # here


@teaches(ValueError, "coord")
def test_a_coordinate_of_another_profile(x: fx.Tensor, n: fx.Int32):
    fx.slice(fx.make_layout((4, 8), (8, 1)), (None, 0, 0))  # here


@teaches(ValueError, "static")
def test_a_tile_of_run_time_extent(x: fx.Tensor, n: fx.Int32):
    fx.make_tile(n, 4)  # here


@teaches(TypeError, "stride", "composed")
def test_the_stride_of_a_composed_layout(x: fx.Tensor, n: fx.Int32):
    swizzle = fx.static(fx.SwizzleType.get(2, 3, 3))
    _ = fx.make_composed_layout(swizzle, fx.make_layout((8, 8), (8, 1))).stride  # here


@teaches(TypeError, "bits", "Float16")
def test_recasting_by_types(x: fx.Tensor, n: fx.Int32):
    fx.recast_layout(fx.make_layout((4, 8), (8, 1)), fx.Float16, fx.Float32)  # here


@teaches(ValueError, "static")
def test_threads_in_a_run_time_layout(x: fx.Tensor, n: fx.Int32):
    fx.make_layout_tv(fx.make_layout(n, 1), fx.make_layout(4, 1))  # here


# -- memory ------------------------------------------------------------------------------------------------------------


@teaches(TypeError, "None")
def test_a_bare_none_as_coordinate(x: fx.Tensor, n: fx.Int32):
    x[None]  # here


@teaches(TypeError, "Float32", "type")
def test_registers_of_no_type(x: fx.Tensor, n: fx.Int32):
    fx.make_rmem_tensor(4, "f32")  # here


@teaches(TypeError, "coordinate")
def test_the_type_of_a_coordinate_tensor(x: fx.Tensor, n: fx.Int32):
    _ = fx.make_view((0, 0), fx.make_identity_layout((4, 4))).dtype  # here


@teaches(ValueError, "register")
def test_the_address_of_registers(x: fx.Tensor, n: fx.Int32):
    fx.ptrtoint(fx.get_iter(fx.make_rmem_tensor(4, fx.Float32)))  # here


@teaches(TypeError, "recast_iter takes a numeric class", "got <class 'dict'>")
def test_recasting_a_pointer_to_no_number(x: fx.Tensor, n: fx.Int32):
    fx.recast_iter(dict, fx.get_iter(x))  # here


@teaches(ValueError, "positive", "-4")
def test_allocating_nothing(x: fx.Tensor, n: fx.Int32):
    fx.SharedAllocator().allocate(-4)  # here


@teaches(RuntimeError, "base_ptr", "static=False")
def test_the_base_of_static_lds(x: fx.Tensor, n: fx.Int32):
    _ = fx.SharedAllocator().base_ptr  # here


@teaches(AttributeError, "'c'", "a, b")
def test_a_field_that_is_not_stored(x: fx.Tensor, n: fx.Int32):
    storage = fx.SharedAllocator().allocate(fx.Struct["a" : fx.Int32, "b" : fx.Int32])
    _ = storage.c  # here


@teaches(TypeError, "Float32", "Int32")
def test_an_atomic_of_another_type(x: fx.Tensor, n: fx.Int32):
    fx.atomic_add(fx.get_iter(x), n)  # here


@teaches(ValueError, "Release")
def test_a_load_that_releases(x: fx.Tensor, n: fx.Int32):
    fx.generic_load(fx.get_iter(x), memory_order=fx.AtomicOrdering.Release)  # here


@teaches(ValueError, "count", "0")
def test_loading_nothing(x: fx.Tensor, n: fx.Int32):
    fx.generic_load(fx.get_iter(x), count=0)  # here


# -- copies and matrix instructions ------------------------------------------------------------------------------------


@teaches(ValueError, "rank")
def test_copying_between_ranks(x: fx.Tensor, n: fx.Int32):
    atom = fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32)
    fx.copy(atom, fx.make_rmem_tensor((1, 2, 2), fx.Float32), fx.make_rmem_tensor((1, 4), fx.Float32))  # here


@teaches(ValueError, "gemm: K of a and b differ: 4 and 3")
def test_a_product_of_other_extents(x: fx.Tensor, n: fx.Int32):
    mma = fx.make_mma_atom(fx.UniversalFMA(fx.Float32))
    a, b, c = (fx.make_rmem_tensor(shape, fx.Float32) for shape in ((1, 2, 4), (1, 2, 3), (1, 2, 2)))
    fx.gemm(mma, c, a, b, c)  # here


@teaches(ValueError, "traversal_order", "traversal_layout")
def test_two_orders_of_a_product(x: fx.Tensor, n: fx.Int32):
    mma = fx.make_mma_atom(fx.UniversalFMA(fx.Float32))
    a, c = fx.make_rmem_tensor((1, 2, 2), fx.Float32), fx.make_rmem_tensor((1, 2, 2), fx.Float32)
    fx.gemm(mma, c, a, a, c, traversal_order=fx.GemmTraversalOrder.MNK, traversal_layout=fx.make_layout(8, 1))  # here


@teaches(ValueError, "64")
def test_a_copy_to_lds_of_64_bits(x: fx.Tensor, n: fx.Int32):
    fx.rocdl.BufferCopyLDS64b()  # here


@teaches(ValueError, "global")
def test_a_buffer_of_registers(x: fx.Tensor, n: fx.Int32):
    fx.rocdl.make_buffer_tensor(fx.make_rmem_tensor(4, fx.Float32))  # here


@teaches(ValueError, "vmcnt", "63")
def test_waiting_for_too_many(x: fx.Tensor, n: fx.Int32):
    fx.rocdl.s_waitcnt(vmcnt=64)  # here


@teaches(TypeError, "vmcnt")
def test_waiting_for_a_run_time_number(x: fx.Tensor, n: fx.Int32):
    fx.rocdl.s_waitcnt(vmcnt=n)  # here


@teaches(ValueError, "width", "power of two")
def test_reducing_three_lanes(x: fx.Tensor, n: fx.Int32):
    fx.coop.warp_reduce(n, fx.ReductionOp.ADD, width=3)  # here


# -- structs and functions from elsewhere ------------------------------------------------------------------------------


@fx.struct
class Pair:
    a: fx.Int32
    b: fx.Int32


@teaches(AttributeError, "'a'", "replace")
def test_assigning_a_field(x: fx.Tensor, n: fx.Int32):
    Pair(1, 2).a = n  # here


@teaches(TypeError, "'c'")
def test_a_field_too_much(x: fx.Tensor, n: fx.Int32):
    Pair(1, 2, c=3)  # here


@teaches(TypeError, "union")
def test_the_value_of_a_union(x: fx.Tensor, n: fx.Int32):
    fx.Union["a" : fx.Int32, "b" : fx.Float32](1)  # here


@teaches(TypeError, "takes 1 arguments, got 2")
def test_an_external_function_with_too_much(x: fx.Tensor, n: fx.Int32):
    ffi("f", ["int32"], "int32")(n, n)  # here


@teaches(ValueError, "'half'", "float32")
def test_an_external_function_of_an_unknown_type(x: fx.Tensor, n: fx.Int32):
    ffi("f", ["half"], "int32")(n)  # here


@teaches(ValueError, "printf")
def test_printing_a_vector(x: fx.Tensor, n: fx.Int32):
    fx.printf("{}", Pair(n, n))  # here


# -- what is said before anything is traced ----------------------------------------------------------------------------


def test_hints():
    @flyc.kernel
    def kernel(x: fx.Tensor):
        x[0] = 1.0

    def launch_with(**hints):
        @flyc.jit
        def launch(x: fx.Tensor):
            kernel(x).launch(block=(64,))

        launch.compile_hints.update(hints)
        try:
            launch(np.zeros(64, np.float32))
        except Exception as error:
            return f"{type(error).__name__}: {error}"
        return "nothing"

    for hints, parts in (
        ({"waves_per_eu": True}, ("TypeError", "waves_per_eu")),
        ({"waves_per_eu": -1}, ("ValueError", "waves_per_eu")),
        ({"waves_per_eu": (4, 2)}, ("ValueError", "waves_per_eu")),
        ({"maxnreg": 64}, ("ValueError", "maxnreg", "waves_per_eu")),
        ({"llvm_options": {"no-such-option": 1}}, ("RuntimeError", "Unknown LLVM option", "no-such-option")),
        ({"llvm_options": {"amdgpu-waitcnt-forcezero": [1]}}, ("TypeError", "amdgpu-waitcnt-forcezero")),
    ):
        text = launch_with(**hints)
        assert all(part in text for part in parts), (hints, text)
