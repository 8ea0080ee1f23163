// SPDX-License-Identifier: Apache-2.0
// Text and ops that are refused. Where the reference crashes, there is an ordinary error.
// RUN: fly-opt %s --split-input-file --verify-diagnostics

// expected-error@+1 {{expected an integer, '?', '*' or '('}}
func.func private @empty_tuple(!fly.int_tuple<()>)
// -----
// expected-error@+1 {{expected an integer}}
func.func private @plus(!fly.int_tuple<+4>)
// -----
// expected-error@+1 {{integer does not fit int32}}
func.func private @wide(!fly.int_tuple<2147483648>)
// -----
// expected-error@+1 {{unexpected character}}
func.func private @path(!fly.int_tuple<1E0F>)
// -----
// expected-error@+1 {{expected 'i32', 'i64', 'div=' or '}' in dynamic integer}}
func.func private @width(!fly.int_tuple<?{i16}>)
// -----
// expected-error@+1 {{in dynamic integer}}
func.func private @order(!fly.int_tuple<(1,?{div=4 i64})>)
// -----
// expected-error@+1 {{expected a basis element such as 1E0, got 4}}
func.func private @basis(!fly.basis<4>)
// -----
// expected-error@+1 {{expected ':' and a stride in layout}}
func.func private @no_stride(!fly.layout<(4,8)>)
// -----
// expected-error@+1 {{expected}}
func.func private @bare_swizzle(!fly.composed_layout<S<1,0,2>>)
// -----
// expected-error@+1 {{only the outer part of a composed layout may stand in brackets}}
func.func private @bracketed_inner(!fly.composed_layout<[8:1 o 1 o 4:1] o 0 o 4:1>)
// -----
// expected-error@+1 {{expected}}
func.func private @empty_tile(!fly.tile<[]>)
// -----
// expected-error@+1 {{expected}}
func.func private @comma_tile(!fly.tile<[4,8]>)
// -----
// expected-error@+1 {{alignment must be a positive multiple of element byte size (2), got 3}}
func.func private @align(!fly.ptr<f16, global, align<3>>)
// -----
// expected-error@+1 {{alignment must be a positive multiple of element byte size (2), got 0}}
func.func private @align_zero(!fly.memref<f16, global, 4:1, align<0>>)
// -----
// expected-error@+1 {{alignment does not fit 32 bits}}
func.func private @align_wide(!fly.ptr<f16, global, align<4294967298>>)
// -----
// expected-error@+1 {{to be one of: generic, global, shared, register}}
func.func private @space(!fly.ptr<f16, local>)
// -----
// expected-error@+1 {{element type must be an integer or a float, got 'index'}}
func.func private @element(!fly.ptr<index, global>)
// -----
// expected-error@+1 {{element type must be an integer or a float, got 'vector<4xf32>'}}
func.func private @vector_element(!fly.memref<vector<4xf32>, global, 4:1>)
// -----
// expected-error@+1 {{expected}}
func.func private @suffix_order(!fly.ptr<f16, shared, S<2,3,3>, align<16>>)
// -----
// expected-error@+1 {{expected 3 dimensions in MNK dimension list}}
func.func private @fma_rank(!fly.universal_fma<1x1, (f32, f32) -> f32>)
// -----
// expected-error@+1 {{expected 1x1x1 dimensions for universal FMA, got 1x1x2}}
func.func private @fma_extent(!fly.universal_fma<1x1x2, (f32, f32) -> f32>)
// -----
// expected-error@+1 {{expected all element types to be the same for universal FMA}}
func.func private @fma_types(!fly.universal_fma<1x1x1, (f32, f16) -> f32>)
// -----
// expected-error@+1 {{universal copy must move at least one bit, got 0}}
func.func private @copy_bits(!fly.universal_copy<0>)
// -----
// expected-error@+1 {{expected atomic operation to be one of: add, max, min, and, or, inc, dec}}
func.func private @atomic(!fly.universal_atomic<xor, i32>)
// -----
// expected-error@+1 {{universal atomic needs an integer or float scalar, got 'vector<2xf16>'}}
func.func private @atomic_vector(!fly.universal_atomic<add, vector<2xf16>>)
// -----
func.func @wrong_result(%l: !fly.layout<(4,8):(8,1)>) {
  // expected-error@+2 {{are incompatible with return type(s) of operation}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = fly.coalesce(%l) : (!fly.layout<(4,8):(8,1)>) -> !fly.layout<32:1>
  return
}
// -----
func.func @no_tensor(%l: !fly.layout<(4,8):(8,1)>) {
  // expected-error@+2 {{GetLayoutOp: expected TensorLikeType, got '!fly.layout<(4,8):(8,1)>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = fly.get_layout(%l) : (!fly.layout<(4,8):(8,1)>) -> !fly.layout<(4,8):(8,1)>
  return
}
// -----
func.func @operand_class(%n: i32) {
  // expected-error@+1 {{operand #0 must be layout, composed_layout, memref or coord_tensor, but got 'i32'}}
  %0 = fly.get_shape(%n) : (i32) -> !fly.int_tuple<4>
  return
}
// -----
func.func @index_leaf(%n: index) {
  // expected-error@+1 {{operand #0 must be variadic of 32-bit or 64-bit integer, but got 'index'}}
  %0 = fly.make_int_tuple(%n) : (index) -> !fly.int_tuple<?>
  return
}
// -----
func.func @dynamic_tiled_copy(%a: !fly.copy_atom<!fly.universal_copy<64>, 16>, %l: !fly.layout<(?,4):(1,2)>, %t: !fly.tile<[4|8]>) {
  // expected-error@+2 {{MakeTiledCopyOp: LayoutType is not static, got '!fly.layout<(?,4):(1,2)>'}}
  // expected-error@+1 {{failed to infer returned types}}
  %0 = fly.make_tiled_copy(%a, %l, %t) : (!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.layout<(?,4):(1,2)>, !fly.tile<[4|8]>) -> !fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.layout<(8,4):(1,2)>, !fly.tile<[4|8]>>
  return
}
// -----
func.func @empty_group(%a: !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, %r: !fly.memref<f32, register, 1:1>) {
  // expected-error@+1 {{A and B operand groups must each contain at least one tensor}}
  "fly.mma_atom_call"(%a, %r, %r, %r) <{operandSegmentSizes = array<i32: 1, 1, 1, 0, 1>}> : (!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.memref<f32, register, 1:1>, !fly.memref<f32, register, 1:1>, !fly.memref<f32, register, 1:1>) -> ()
  return
}
// -----
func.func @dst_keyword(%a: !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, %f: f32) {
  // expected-error@+1 {{expected 'dst'}}
  fly.mma_atom_call_ssa(%a, %f, %f, %f) [foo = %f] : (!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, f32, f32, f32, f32) -> ()
  return
}
// -----
func.func @operand_keyword(%tm: !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(4,4,1):(1,4,0)>>, %v: !fly.memref<f32, global, (64,64):(64,1)>) {
  // expected-error@+1 {{expected operand to be one of: a, b, c, d}}
  %0 = fly.mma.make_fragment(e, %tm, %v) : (!fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(4,4,1):(1,4,0)>>, !fly.memref<f32, global, (64,64):(64,1)>) -> !fly.memref<f32, register, 1:1>
  return
}

// -----

// expected-error@+1 {{the thread-value layout of a tiled copy must be static, got (4,?):(1,4)}}
func.func private @dynamic_copy(!fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<32>, 32>, !fly.layout<(4,?):(1,4)>, !fly.tile<[4|4]>>)

// -----

// expected-error@+1 {{the atom layout of a tiled matrix operation must be static, got (2,?,1):(1,2,0)}}
func.func private @dynamic_mma(!fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(2,?,1):(1,2,0)>>)
