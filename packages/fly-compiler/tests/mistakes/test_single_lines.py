# SPDX-License-Identifier: Apache-2.0
"""What those write who bring other languages along: one line each, and what they are told."""

import numpy as np
import torch
from teaching import teaches

import flydsl.expr as fx

# -- Triton ------------------------------------------------------------------------------------------------------------


@teaches(AttributeError, "x[i] = value for one element")
def test_a_store_with_a_mask(x: fx.Tensor, n: fx.Int32):
    fx.store(x, 1.0, mask=n > 3)  # here


@teaches(AttributeError, "fx.grid_dim.x")
def test_the_number_of_programs(x: fx.Tensor, n: fx.Int32):
    fx.num_programs(0)  # here


@teaches(AttributeError, "fx.full(shape, 0.0, dtype)")
def test_zeros(x: fx.Tensor, n: fx.Int32):
    fx.zeros((4,), fx.Float32)  # here


@teaches(AttributeError, "vector.reduce('add')")
def test_a_sum_along_an_axis(x: fx.Tensor, n: fx.Int32):
    fx.sum(x.load(), axis=0)  # here


@teaches(AttributeError, "fx.ceildiv(a, b)")
def test_cdiv(x: fx.Tensor, n: fx.Int32):
    fx.cdiv(n, 4)  # here


@teaches(TypeError, "a tensor is memory")
def test_adding_to_a_pointer_that_is_a_tensor(x: fx.Tensor, n: fx.Int32):
    x + fx.thread_idx.x  # here


@teaches(TypeError, "the address of an element is x.iter + i")
def test_an_atomic_on_a_tensor(x: fx.Tensor, n: fx.Int32):
    fx.atomic_add(x, 1.0)  # here


@teaches(TypeError, "the address of an element is x.iter + i")
def test_an_atomic_on_an_element(x: fx.Tensor, n: fx.Int32):
    fx.atomic_add(x[0], 1.0)  # here


@teaches(TypeError, "v.reshape((4, 1))")
def test_expanding_a_vector(x: fx.Tensor, n: fx.Int32):
    fx.full(4, 1.0, fx.Float32)[:, None]  # here


@teaches(AttributeError, "vector.broadcast_to(shape)")
def test_broadcasting_by_a_function(x: fx.Tensor, n: fx.Int32):
    fx.broadcast_to(fx.full(1, 1.0, fx.Float32), (4,))  # here


@teaches(AttributeError, "it is the class of the elements itself")
def test_the_type_of_a_pointer(x: fx.Tensor, n: fx.Int32):
    n.to(x.dtype.element_ty)  # here


@teaches(AttributeError, "here it is fx.barrier()")
def test_a_debug_barrier(x: fx.Tensor, n: fx.Int32):
    fx.debug_barrier()  # here


@teaches(AttributeError, "fx.zipped_divide(tensor, tile)")
def test_a_block_pointer(x: fx.Tensor, n: fx.Int32):
    fx.make_block_ptr(x, (64,), (1,), (0,), (16,), (0,))  # here


@teaches(AttributeError, "1.0 / (1.0 + fx.exp(-x))")
def test_the_sigmoid(x: fx.Tensor, n: fx.Int32):
    fx.sigmoid(x[0])  # here


@teaches(AttributeError, "mark_layout_dynamic(divisibility=n)")
def test_a_hint_of_divisibility(x: fx.Tensor, n: fx.Int32):
    fx.multiple_of(n, 16)  # here


@teaches(AttributeError, "did you mean Float32")
def test_a_type_in_lower_case(x: fx.Tensor, n: fx.Int32):
    n.to(fx.float32)  # here


# -- CUDA --------------------------------------------------------------------------------------------------------------


@teaches(NameError, "fx.block_idx")
def test_the_index_of_a_block(x: fx.Tensor, n: fx.Int32):
    blockIdx.x  # noqa: F821 # here


@teaches(AttributeError, "fx.SharedAllocator().allocate")
def test_an_array_in_shared_memory(x: fx.Tensor, n: fx.Int32):
    fx.shared_array(64, fx.Float32)  # here


@teaches(AttributeError, "fx.gpu.shuffle_down(value, offset, width)")
def test_a_shuffle_with_a_mask(x: fx.Tensor, n: fx.Int32):
    fx.shfl_down_sync(0xFFFFFFFF, x[0], 1)  # here


@teaches(RuntimeError, "convert with .to(fx.Float32)")
def test_a_cast_in_brackets(x: fx.Tensor, n: fx.Int32):
    x[0] = (float)(n)  # here


@teaches(AttributeError, "here it is x[i]")
def test_a_read_only_load(x: fx.Tensor, n: fx.Int32):
    fx.ldg(x.iter)  # here


@teaches(AttributeError, "the address of an element is x.iter + i")
def test_the_address_of_an_element(x: fx.Tensor, n: fx.Int32):
    x[3].iter  # here


@teaches(TypeError, "p[0] or p.load() is what it points to")
def test_dereferencing(x: fx.Tensor, n: fx.Int32):
    (*x.iter,)  # here


@teaches(TypeError, "the index is fx.thread_idx.x, without a call")
def test_calling_the_index(x: fx.Tensor, n: fx.Int32):
    x[fx.thread_idx()] = 1.0  # here


@teaches(AttributeError, "the lanes of a wave go together")
def test_a_barrier_of_a_wave(x: fx.Tensor, n: fx.Int32):
    fx.syncwarp()  # here


@teaches(AttributeError, "here it is fx.exp")
def test_the_exponential_of_floats(x: fx.Tensor, n: fx.Int32):
    fx.expf(x[0])  # here


@teaches(AttributeError, "fx.num_warp_threads()")
def test_the_size_of_a_wave(x: fx.Tensor, n: fx.Int32):
    fx.warpSize  # here


@teaches(ValueError, "a placeholder is {}")
def test_placeholders_of_c(x: fx.Tensor, n: fx.Int32):
    fx.printf("%d", n)  # here


# -- CuTe --------------------------------------------------------------------------------------------------------------


@teaches(AttributeError, "fx.make_view(pointer, layout)")
def test_a_tensor_of_a_pointer(x: fx.Tensor, n: fx.Int32):
    fx.make_tensor(x.iter, fx.make_layout(4, 1))  # here


@teaches(TypeError, "fx.make_ordered_layout(shape, 0)")
def test_a_layout_without_strides(x: fx.Tensor, n: fx.Int32):
    fx.make_layout((4, 8))  # here


@teaches(AttributeError, "fx.thread_idx.x, fx.barrier()")
def test_the_architecture(x: fx.Tensor, n: fx.Int32):
    fx.arch.thread_idx()  # here


@teaches(AttributeError, "fx.make_copy_atom")
def test_a_copy_by_itself(x: fx.Tensor, n: fx.Int32):
    fx.autovec_copy(x, x)  # here


@teaches(TypeError, "t.shape[0]")
def test_the_size_of_a_mode(x: fx.Tensor, n: fx.Int32):
    fx.size(x, mode=[0])  # here


@teaches(AttributeError, "Python's range(...)")
def test_a_range_of_the_language(x: fx.Tensor, n: fx.Int32):
    fx.range(4, unroll=2)  # here


@teaches(AttributeError, "a plain `if`")
def test_a_dynamic_expression(x: fx.Tensor, n: fx.Int32):
    fx.dynamic_expr(n > 2)  # here


@teaches(AttributeError, "fx.SharedAllocator()")
def test_an_allocator_by_another_name(x: fx.Tensor, n: fx.Int32):
    fx.SmemAllocator()  # here


@teaches(AttributeError, ".allocate(fx.Array[dtype, n]).peek()")
def test_allocating_a_tensor(x: fx.Tensor, n: fx.Int32):
    fx.SharedAllocator().allocate_tensor(fx.Float32, 4)  # here


@teaches(TypeError, "fx.copy(atom, src, dst)")
def test_a_copy_without_an_atom(x: fx.Tensor, n: fx.Int32):
    fx.copy(x, x)  # here


@teaches(TypeError, "fx.gemm(tiled_mma, d, a, b, c)")
def test_a_product_without_an_atom(x: fx.Tensor, n: fx.Int32):
    fx.gemm(x, x, x)  # here


@teaches(AttributeError, "fx.printf('{}', x[i])")
def test_printing_a_tensor(x: fx.Tensor, n: fx.Int32):
    fx.print_tensor(x)  # here


@teaches(AttributeError, "fx.make_tiled_copy")
def test_a_slice_of_an_atom(x: fx.Tensor, n: fx.Int32):
    fx.make_copy_atom(fx.UniversalCopy32b(), fx.Float32).get_slice(n)  # here


@teaches(AttributeError, "fx.make_identity_layout(shape)")
def test_an_identity_tensor(x: fx.Tensor, n: fx.Int32):
    fx.make_identity_tensor((8, 8))  # here


# -- torch and NumPy ---------------------------------------------------------------------------------------------------


@teaches(RuntimeError, "`t is not None`")
def test_a_tensor_as_condition(x: fx.Tensor, n: fx.Int32):
    if x:  # here
        x[0] = 1.0


@teaches(RuntimeError, "needs a Boolean condition, got a tensor")
def test_the_negation_of_a_tensor(x: fx.Tensor, n: fx.Int32):
    not x  # here


@teaches(TypeError, "compare what is in it")
def test_comparing_a_tensor(x: fx.Tensor, n: fx.Int32):
    x[0] = x == 0  # here


@teaches(AttributeError, "v.to(fx.Int32).reduce('max') != 0")
def test_any_lane(x: fx.Tensor, n: fx.Int32):
    (fx.full(4, 1.0, fx.Float32) > 0.0).any()  # here


@teaches(AttributeError, "v.reduce('add')")
def test_the_sum_of_lanes(x: fx.Tensor, n: fx.Int32):
    fx.full(4, 1.0, fx.Float32).sum()  # here


@teaches(TypeError, "(a * b).reduce('add')")
def test_the_product_of_vectors(x: fx.Tensor, n: fx.Int32):
    fx.full(4, 1.0, fx.Float32) @ fx.full(4, 1.0, fx.Float32)  # here


@teaches(TypeError, "numpy.concatenate computes on the host")
def test_concatenating_tensors(x: fx.Tensor, n: fx.Int32):
    np.concatenate([x, x])  # here


@teaches(TypeError, "torch.exp computes on the host")
def test_the_exponential_of_a_tensor(x: fx.Tensor, n: fx.Int32):
    torch.exp(x)  # here


@teaches(TypeError, "by .item(), or an argument")
def test_an_element_of_a_torch_tensor(x: fx.Tensor, n: fx.Int32):
    x[0] = torch.zeros(4)[0]  # here


@teaches(AttributeError, "fx.clampf")
def test_clamping_a_number(x: fx.Tensor, n: fx.Int32):
    x[0].clamp(0.0, 1.0)  # here


@teaches(AttributeError, "fx.sqrt(...)")
def test_the_root_as_a_method(x: fx.Tensor, n: fx.Int32):
    x[0].sqrt()  # here


@teaches(ValueError, "v.to(dtype)")
def test_converting_a_vector_by_its_class(x: fx.Tensor, n: fx.Int32):
    fx.Int8(fx.full(4, 1.0, fx.Float32))  # here


# -- Python ------------------------------------------------------------------------------------------------------------


@teaches(TypeError, "a ** b % m")
def test_a_power_with_a_modulus(x: fx.Tensor, n: fx.Int32):
    pow(n, 2, 5)  # here


@teaches(TypeError, "there are no complex numbers")
def test_storing_a_complex_number(x: fx.Tensor, n: fx.Int32):
    x[0] = 1j  # here


@teaches(TypeError, "None is no number")
def test_storing_none(x: fx.Tensor, n: fx.Int32):
    x[0] = None  # here


@teaches(TypeError, "an element is one number")
def test_storing_a_tuple(x: fx.Tensor, n: fx.Int32):
    x[0] = (1.0, 2.0)  # here


@teaches(AttributeError, "cannot be deleted")
def test_deleting_an_element(x: fx.Tensor, n: fx.Int32):
    del x[0]  # here


@teaches(AttributeError, "fx.ctpop")
def test_counting_bits(x: fx.Tensor, n: fx.Int32):
    n.bit_count()  # here


@teaches(RuntimeError, "was raised and caught while tracing", "as an `else` branch")
def test_an_exception_for_some_threads(x: fx.Tensor, n: fx.Int32):
    try:
        if n > 3:
            raise ValueError("too many")  # here
    except ValueError:
        x[0] = 1.0
