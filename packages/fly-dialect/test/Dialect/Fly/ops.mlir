// SPDX-License-Identifier: Apache-2.0
// The syntax of every op. What is inferred is the business of LayoutAlgebra/.
// RUN: fly-opt %s > %t && FileCheck %s < %t
// RUN: fly-opt %t | diff %t -
// RUN: fly-opt %s --mlir-print-op-generic | fly-opt | diff %t -

!layout = !fly.layout<(4,8):(8,1)>
!tuple = !fly.int_tuple<(4,8)>
!leaf = !fly.int_tuple<3>
!ptr = !fly.ptr<f16, global, align<16>>
!memref = !fly.memref<f16, global, (4,8):(8,1), align<16>>
!fragment = !fly.memref<f16, register, (4,2):(1,4)>
!fma = !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
!mfma = !fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>
!tiled_mma = !fly.tiled_mma<!mfma, !fly.layout<(2,2,1):(1,2,4)>>
!copy = !fly.copy_atom<!fly.universal_copy<64>, 16>
!tiled_copy = !fly.tiled_copy<!copy, !fly.layout<((2,4),4):((16,1),4)>, !fly.tile<[4|8]>>

// CHECK-LABEL: @constructors
func.func @constructors(%n: i32, %m: i64, %p: !ptr, %t: !tuple, %l: !layout, %s: !fly.swizzle<S<2,0,3>>) {
  // CHECK: fly.static : !fly.tile<[4|8]>
  %0 = fly.static : !fly.tile<[4|8]>
  // CHECK: fly.static {tag = 1 : i32} : !fly.tile<[4|8]>
  %00 = fly.static {tag = 1 : i32} : !fly.tile<[4|8]>
  // CHECK: fly.make_int_tuple(%{{.*}}, %{{.*}}) : (i32, i64) -> !fly.int_tuple<(4,?,?{i64 div=8})>
  %1 = fly.make_int_tuple(%n, %m) : (i32, i64) -> !fly.int_tuple<(4,?,?{i64 div=8})>
  // CHECK: fly.make_shape() : () -> !fly.int_tuple<(4,8)>
  %2 = fly.make_shape() : () -> !tuple
  // CHECK: fly.make_stride(
  %3 = fly.make_stride(%n) : (i32) -> !fly.int_tuple<(1,?)>
  // CHECK: fly.make_coord(
  %4 = fly.make_coord(%n) : (i32) -> !fly.int_tuple<(*,?)>
  // CHECK: fly.make_layout(%{{.*}}, %{{.*}}) : (!fly.int_tuple<(4,8)>, !fly.int_tuple<(1,?)>) -> !fly.layout<(4,8):(1,?)>
  %5 = fly.make_layout(%2, %3) : (!tuple, !fly.int_tuple<(1,?)>) -> !fly.layout<(4,8):(1,?)>
  // CHECK: fly.make_layout_like(
  %6 = fly.make_layout_like(%l) : (!layout) -> !layout
  // CHECK: fly.make_ordered_layout(
  %7 = fly.make_ordered_layout(%t, %t) : (!tuple, !tuple) -> !fly.layout<(4,8):(1,4)>
  // CHECK: fly.make_composed_layout(
  %8 = fly.make_composed_layout(%s, %t, %l) : (!fly.swizzle<S<2,0,3>>, !tuple, !layout) -> !fly.composed_layout<S<2,0,3> o (4,8) o (4,8):(8,1)>
  // CHECK: fly.make_identity_layout(
  %9 = fly.make_identity_layout(%t) : (!tuple) -> !fly.layout<(4,8):(1E0,1E1)>
  // CHECK: fly.make_view(
  %10 = fly.make_view(%p, %l) : (!ptr, !layout) -> !memref
  // CHECK: fly.make_fragment_like(%{{.*}}) : (!fly.memref<f16, global, (4,8):(8,1), align<16>>) -> !fly.memref<f16, register, (4,8):(1,4)>
  %11 = fly.make_fragment_like(%10) : (!memref) -> !fly.memref<f16, register, (4,8):(1,4)>
  // CHECK: fly.make_fragment_like(%{{.*}}, f32) : (!fly.layout<(4,8):(8,1)>) -> !fly.memref<f32, register, (4,8):(1,4)>
  %12 = fly.make_fragment_like(%l, f32) : (!layout) -> !fly.memref<f32, register, (4,8):(1,4)>
  // CHECK: fly.make_fragment_layout_like(
  %13 = fly.make_fragment_layout_like(%l) : (!layout) -> !fly.layout<(4,8):(1,4)>
  return
}

// CHECK-LABEL: @extractors
func.func @extractors(%t: !fly.int_tuple<(?,2)>, %i: !fly.int_tuple<?{i64}>, %l: !layout, %v: !memref,
                      %c: !fly.composed_layout<S<2,0,3> o 5 o (4,8):(8,1)>) {
  // CHECK: fly.get_scalar(%{{.*}}) : (!fly.int_tuple<?{i64}>) -> i64
  %0 = fly.get_scalar(%i) : (!fly.int_tuple<?{i64}>) -> i64
  // CHECK: %{{.*}}:2 = fly.get_leaves(%{{.*}}) : (!fly.int_tuple<(?,2)>) -> (i32, i32)
  %1:2 = fly.get_leaves(%t) : (!fly.int_tuple<(?,2)>) -> (i32, i32)
  // CHECK: fly.get_leaves(%{{.*}}) {dynamicOnly = true} : (!fly.int_tuple<(?,2)>) -> i32
  %2 = fly.get_leaves(%t) {dynamicOnly = true} : (!fly.int_tuple<(?,2)>) -> i32
  // CHECK: fly.get_leaves(%{{.*}}) {dynamicOnly = true} : (!fly.int_tuple<7>) -> ()
  %seven = fly.static : !fly.int_tuple<7>
  fly.get_leaves(%seven) {dynamicOnly = true} : (!fly.int_tuple<7>) -> ()
  // CHECK: fly.get_shape(
  %3 = fly.get_shape(%v) : (!memref) -> !tuple
  // CHECK: fly.get_stride(
  %4 = fly.get_stride(%l) : (!layout) -> !fly.int_tuple<(8,1)>
  // CHECK: fly.get_layout(
  %5 = fly.get_layout(%v) : (!memref) -> !layout
  // CHECK: fly.get_iter(
  %6 = fly.get_iter(%v) : (!memref) -> !ptr
  // CHECK: fly.composed_get_inner(
  %7 = fly.composed_get_inner(%c) : (!fly.composed_layout<S<2,0,3> o 5 o (4,8):(8,1)>) -> !fly.swizzle<S<2,0,3>>
  // CHECK: fly.composed_get_offset(
  %8 = fly.composed_get_offset(%c) : (!fly.composed_layout<S<2,0,3> o 5 o (4,8):(8,1)>) -> !fly.int_tuple<5>
  // CHECK: fly.composed_get_outer(
  %9 = fly.composed_get_outer(%c) : (!fly.composed_layout<S<2,0,3> o 5 o (4,8):(8,1)>) -> !layout
  return
}

// CHECK-LABEL: @modes
func.func @modes(%t: !tuple, %l: !layout, %e: !leaf, %c: !fly.int_tuple<(*,3)>) {
  // CHECK: fly.get(%{{.*}}) {mode = array<i32: 1>} : (!fly.layout<(4,8):(8,1)>) -> !fly.layout<8:1>
  %0 = fly.get(%l) {mode = array<i32: 1>} : (!layout) -> !fly.layout<8:1>
  // CHECK: fly.take(%{{.*}}) {begin = 0 : i32, end = -1 : i32}
  %1 = fly.take(%t) {begin = 0 : i32, end = -1 : i32} : (!tuple) -> !tuple
  // CHECK: fly.select(%{{.*}}) {indices = array<i32: 1, 0>}
  %2 = fly.select(%t) {indices = array<i32: 1, 0>} : (!tuple) -> !fly.int_tuple<(8,4)>
  // CHECK: fly.group(%{{.*}}) {begin = 0 : i32, end = 2 : i32}
  %3 = fly.group(%t) {begin = 0 : i32, end = 2 : i32} : (!tuple) -> !fly.int_tuple<((4,8))>
  // CHECK: fly.append (%{{.*}}, %{{.*}}) : (!fly.int_tuple<(4,8)>, !fly.int_tuple<3>) -> !fly.int_tuple<(4,8,3)>
  %4 = fly.append(%t, %e) : (!tuple, !leaf) -> !fly.int_tuple<(4,8,3)>
  // CHECK: fly.append<4> (%{{.*}}, %{{.*}}) : (!fly.int_tuple<(4,8)>, !fly.int_tuple<3>) -> !fly.int_tuple<(4,8,3,3)>
  %5 = fly.append<4> (%t, %e) : (!tuple, !leaf) -> !fly.int_tuple<(4,8,3,3)>
  // CHECK: fly.prepend<4> (
  %6 = fly.prepend<4>(%t, %e) : (!tuple, !leaf) -> !fly.int_tuple<(3,3,4,8)>
  // CHECK: fly.slice(
  %7 = fly.slice(%l, %c) : (!layout, !fly.int_tuple<(*,3)>) -> !fly.layout<4:8>
  // CHECK: fly.dice(
  %8 = fly.dice(%l, %c) : (!layout, !fly.int_tuple<(*,3)>) -> !fly.layout<8:1>
  return
}

// CHECK-LABEL: @algebra
func.func @algebra(%t: !tuple, %l: !layout, %tile: !fly.tile<[2|4]>) {
  // CHECK: fly.int_tuple_add(%{{.*}}, %{{.*}}) : (!fly.int_tuple<(4,8)>, !fly.int_tuple<(4,8)>) -> !fly.int_tuple<(8,16)>
  %0 = fly.int_tuple_add(%t, %t) : (!tuple, !tuple) -> !fly.int_tuple<(8,16)>
  // CHECK: fly.elem_less(%{{.*}}, %{{.*}}) : (!fly.int_tuple<(4,8)>, !fly.int_tuple<(4,8)>) -> i1
  %1 = fly.elem_less(%t, %t) : (!tuple, !tuple) -> i1
  // CHECK: fly.coalesce(%{{.*}}) : (!fly.layout<(4,8):(8,1)>) -> !fly.layout<(4,8):(8,1)>
  %2 = fly.coalesce(%l) : (!layout) -> !layout
  // CHECK: fly.coalesce(%{{.*}}, %{{.*}}) : (!fly.layout<(4,8):(8,1)>, !fly.int_tuple<(4,8)>) -> !fly.layout<(4,8):(8,1)>
  %3 = fly.coalesce(%l, %t) : (!layout, !tuple) -> !layout
  // CHECK: fly.complement(%{{.*}}) : (!fly.layout<(4,8):(8,1)>) -> !fly.layout<1:0>
  %4 = fly.complement(%l) : (!layout) -> !fly.layout<1:0>
  // CHECK: fly.logical_divide(%{{.*}}, %{{.*}}) : (!fly.layout<(4,8):(8,1)>, !fly.tile<[2|4]>) -> !fly.layout<((2,2),(4,2)):((8,16),(1,4))>
  %5 = fly.logical_divide(%l, %tile) : (!layout, !fly.tile<[2|4]>) -> !fly.layout<((2,2),(4,2)):((8,16),(1,4))>
  // CHECK: fly.recast_layout(%{{.*}}) {new_type_bits = 16 : i32, old_type_bits = 8 : i32}
  %6 = fly.recast_layout(%l) {new_type_bits = 16 : i32, old_type_bits = 8 : i32} : (!layout) -> !fly.layout<(4,4):(4,1)>
  return
}

// CHECK-LABEL: @memory
func.func @memory(%p: !ptr, %v: !memref, %r: !fragment, %i: i64, %x: f16, %c: !fly.int_tuple<(1,2)>, %o: !leaf, %l: !layout) {
  // CHECK: fly.make_ptr() {dictAttrs = {allocSize = 8 : i64}} : () -> !fly.ptr<f16, register>
  %0 = fly.make_ptr() {dictAttrs = {allocSize = 8 : i64}} : () -> !fly.ptr<f16, register>
  // CHECK: fly.get_dyn_shared() : !fly.ptr<i8, shared, align<1024>>
  %1 = fly.get_dyn_shared() : !fly.ptr<i8, shared, align<1024>>
  // CHECK: fly.inttoptr(%{{.*}}) : (i64) -> !fly.ptr<f16, global, align<16>>
  %2 = fly.inttoptr(%i) : (i64) -> !ptr
  // CHECK: fly.ptrtoint(%{{.*}}) : (!fly.ptr<f16, global, align<16>>) -> i64
  %3 = fly.ptrtoint(%p) : (!ptr) -> i64
  // CHECK: fly.to_llvm_ptr(%{{.*}}) {llvm_address_space = 1 : i32} : (!fly.ptr<f16, global, align<16>>) -> !llvm.ptr<1>
  %4 = fly.to_llvm_ptr(%p) {llvm_address_space = 1 : i32} : (!ptr) -> !llvm.ptr<1>
  // CHECK: fly.add_offset(
  %5 = fly.add_offset(%p, %o) : (!ptr, !leaf) -> !fly.ptr<f16, global>
  // CHECK: fly.ptr.load(%{{.*}}) : (!fly.ptr<f16, global, align<16>>) -> vector<8xf16>
  %6 = fly.ptr.load(%p) : (!ptr) -> vector<8xf16>
  // CHECK: fly.ptr.store(%{{.*}}, %{{.*}}) : (vector<8xf16>, !fly.ptr<f16, global, align<16>>) -> ()
  fly.ptr.store(%6, %p) : (vector<8xf16>, !ptr) -> ()
  // CHECK: fly.recast_iter(
  %7 = fly.recast_iter(%p) : (!ptr) -> !fly.ptr<i8, global, align<16>>
  // CHECK: fly.memref.alloca(
  %8 = fly.memref.alloca(%l) : (!layout) -> !fly.memref<f16, register, (4,8):(8,1)>
  // CHECK: fly.memref.load_vec(%{{.*}}) : (!fly.memref<f16, register, (4,2):(1,4)>) -> vector<8xf16>
  %9 = fly.memref.load_vec(%r) : (!fragment) -> vector<8xf16>
  // CHECK: fly.memref.store_vec(%{{.*}}, %{{.*}}) : (vector<8xf16>, !fly.memref<f16, register, (4,2):(1,4)>) -> ()
  fly.memref.store_vec(%9, %r) : (vector<8xf16>, !fragment) -> ()
  // CHECK: fly.memref.load(
  %10 = fly.memref.load(%v, %c) : (!memref, !fly.int_tuple<(1,2)>) -> f16
  // CHECK: fly.memref.store(%{{.*}}, %{{.*}}, %{{.*}}) : (f16, !fly.memref<f16, global, (4,8):(8,1), align<16>>, !fly.int_tuple<(1,2)>) -> ()
  fly.memref.store(%x, %v, %c) : (f16, !memref, !fly.int_tuple<(1,2)>) -> ()
  // CHECK: fly.print(%{{.*}}, %{{.*}}) {format = "i={} {}"} : (i64, f16) -> ()
  fly.print(%i, %x) {format = "i={} {}"} : (i64, f16) -> ()
  // CHECK: fly.extract_aligned_pointer_as_index %{{.*}} : <f16, global, (4,8):(8,1), align<16>> -> !llvm.ptr<1>
  %11 = fly.extract_aligned_pointer_as_index %v : <f16, global, (4,8):(8,1), align<16>> -> !llvm.ptr<1>
  return
}

// CHECK-LABEL: @atoms
func.func @atoms(%p: !ptr, %n: i32, %m: i64, %r: !fragment, %pred: !fly.memref<i1, register, 1:1>, %f: f32) {
  // CHECK: fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly.universal_copy<64>, 16>
  %copy = fly.make_copy_atom {valBits = 16 : i32} : !copy
  // CHECK: fly.make_copy_atom(%{{.*}}, %{{.*}} : !fly.ptr<f16, global, align<16>>, i64) {valBits = 16 : i32} : !fly.copy_atom<!fly.universal_copy<64>, 16>
  %built = fly.make_copy_atom(%p, %m : !ptr, i64) {valBits = 16 : i32} : !copy
  // CHECK: fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
  %mma = fly.make_mma_atom : !fma
  // CHECK: fly.atom.set_value(%{{.*}}, "soffset", %{{.*}}) : (!fly.copy_atom<!fly.universal_copy<64>, 16>, i32) -> !fly.copy_atom<!fly.universal_copy<64>, 16>
  %set = fly.atom.set_value(%copy, "soffset", %n) : (!copy, i32) -> !copy
  // CHECK: fly.copy_atom_call(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) :
  fly.copy_atom_call(%copy, %r, %r, %pred) : (!copy, !fragment, !fragment, !fly.memref<i1, register, 1:1>) -> ()
  // CHECK: fly.copy_atom_call_ssa(%{{.*}}, %{{.*}}) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!fly.copy_atom<!fly.universal_copy<64>, 16>, f32) -> f32
  %v = fly.copy_atom_call_ssa(%copy, %f) {operandSegmentSizes = array<i32: 1, 1, 0, 0>} : (!copy, f32) -> f32
  // CHECK: fly.copy_atom_call_ssa(%{{.*}}, %{{.*}}, %{{.*}}) {operandSegmentSizes = array<i32: 1, 1, 1, 0>}
  fly.copy_atom_call_ssa(%copy, %f, %r) {operandSegmentSizes = array<i32: 1, 1, 1, 0>} : (!copy, f32, !fragment) -> ()
  // CHECK: fly.mma_atom_call(%{{.*}}, %[[R:.*]], %[[R]], [%[[R]], %[[R]]], %[[R]]) :
  fly.mma_atom_call(%mma, %r, [%r], [%r, %r], %r) : (!fma, !fragment, !fragment, !fragment, !fragment, !fragment) -> ()
  // CHECK: fly.mma_atom_call_ssa(%{{.*}}, %[[F:.*]], %[[F]], %[[F]]) : (!fly.mma_atom<{{.*}}>, f32, f32, f32) -> f32
  %w = fly.mma_atom_call_ssa(%mma, %f, %f, %f) : (!fma, f32, f32, f32) -> f32
  // CHECK: fly.mma_atom_call_ssa(%{{.*}}, [%[[F:.*]], %[[F]]], %[[F]], %[[F]]) dst = %{{.*}} : (!fly.mma_atom<{{.*}}>, !fly.memref<f16, register, (4,2):(1,4)>, f32, f32, f32, f32) -> ()
  fly.mma_atom_call_ssa(%mma, [%f, %f], %f, %f) [dst = %r] : (!fma, !fragment, f32, f32, f32, f32) -> ()
  // CHECK: fly.copy(%{{.*}}, %{{.*}}, %{{.*}}) :
  fly.copy(%copy, %r, %r) : (!copy, !fragment, !fragment) -> ()
  return
}

// CHECK-LABEL: @tilings
func.func @tilings(%copy: !copy, %mfma: !mfma, %tm: !tiled_mma, %tc: !tiled_copy, %v: !fly.memref<f16, global, (64,64):(64,1)>,
                   %r: !fly.memref<f16, register, (4,2,2):(1,4,8)>, %s: !fly.int_tuple<(64,64)>, %thread: !leaf,
                   %d: !fly.memref<f32, register, (4,2,2):(1,4,8)>, %order: !fly.layout<(2,2,2):(4,2,1)>,
                   %al: !fly.layout<(2,2,1):(1,2,4)>, %perm: !fly.tile<[*|(16,2):(2,1)|*]>,
                   %tv: !fly.layout<((2,4),4):((16,1),4)>, %tile: !fly.tile<[4|8]>) {
  // CHECK: fly.make_tiled_copy(
  %0 = fly.make_tiled_copy(%copy, %tv, %tile) : (!copy, !fly.layout<((2,4),4):((16,1),4)>, !fly.tile<[4|8]>) -> !tiled_copy
  // CHECK: fly.make_tiled_mma(%{{.*}}, %{{.*}}) :
  %1 = fly.make_tiled_mma(%mfma, %al) : (!mfma, !fly.layout<(2,2,1):(1,2,4)>) -> !tiled_mma
  // CHECK: fly.make_tiled_mma(%{{.*}}, %{{.*}}, %{{.*}}) : {{.*}} -> !fly.tiled_mma<{{.*}}, !fly.layout<(2,2,1):(1,2,4)>, !fly.tile<[*|(16,2):(2,1)|*]>>
  %2 = fly.make_tiled_mma(%mfma, %al, %perm) : (!mfma, !fly.layout<(2,2,1):(1,2,4)>, !fly.tile<[*|(16,2):(2,1)|*]>) -> !fly.tiled_mma<!mfma, !fly.layout<(2,2,1):(1,2,4)>, !fly.tile<[*|(16,2):(2,1)|*]>>
  // CHECK: fly.get_copy_atom(
  %3 = fly.get_copy_atom(%tc) : (!tiled_copy) -> !copy
  // CHECK: fly.get_mma_atom(
  %4 = fly.get_mma_atom(%tm) : (!tiled_mma) -> !mfma
  // CHECK: fly.tiled_copy.partition_src(
  %5 = fly.tiled_copy.partition_src(%tc, %v, %thread) : (!tiled_copy, !fly.memref<f16, global, (64,64):(64,1)>, !leaf) -> !fly.memref<f16, global, ((4,1),16,8):((1,0),256,8)>
  // CHECK: fly.tiled_copy.retile(
  %6 = fly.tiled_copy.retile(%tc, %r) : (!tiled_copy, !fly.memref<f16, register, (4,2,2):(1,4,8)>) -> !fly.memref<f16, register, ((4,1),2,2):((1,0),4,8)>
  // CHECK: fly.tiled_mma.partition(a, %{{.*}}, %{{.*}}, %{{.*}}) :
  %7 = fly.tiled_mma.partition(#fly<mma_operand a>, %tm, %v, %thread) : (!tiled_mma, !fly.memref<f16, global, (64,64):(64,1)>, !leaf) -> !fly.memref<f16, global, (4,2,4):(1,2048,16)>
  // CHECK: fly.tiled_mma.partition_shape(%{{.*}}, %{{.*}}) {operand_id = #fly<mma_operand a>} :
  %8 = fly.tiled_mma.partition_shape(%tm, %s) {operand_id = #fly<mma_operand a>} : (!tiled_mma, !fly.int_tuple<(64,64)>) -> !fly.int_tuple<(4,2,4)>
  // CHECK: fly.mma.make_fragment(b, %{{.*}}, %{{.*}}) :
  %9 = fly.mma.make_fragment(b, %tm, %v) : (!tiled_mma, !fly.memref<f16, global, (64,64):(64,1)>) -> !fly.memref<f16, register, (4,2,4):(1,16,4)>
  // CHECK: fly.mma.make_fragment(a, %{{.*}}, %{{.*}}, stages = 3) :
  %10 = fly.mma.make_fragment(a, %tm, %v, stages = 3) : (!tiled_mma, !fly.memref<f16, global, (64,64):(64,1)>) -> !fly.memref<f16, register, (4,2,4,3):(1,16,4,32)>
  // CHECK: fly.gemm(%{{.*}}, %[[D:.*]], %[[A:.*]], %[[A]], %[[D]]) :
  fly.gemm(%tm, %d, %r, %r, %d) : (!tiled_mma, !fly.memref<f32, register, (4,2,2):(1,4,8)>, !fly.memref<f16, register, (4,2,2):(1,4,8)>, !fly.memref<f16, register, (4,2,2):(1,4,8)>, !fly.memref<f32, register, (4,2,2):(1,4,8)>) -> ()
  // CHECK: fly.gemm(%{{.*}}, %[[D]], [%[[A]], %[[A]]], %[[A]], %[[D]]) traversalLayout = %{{.*}} {traversalOrder = #fly<gemm_traversal_order kmn>} :
  fly.gemm(%tm, %d, [%r, %r], %r, %d) traversalLayout = %order {traversalOrder = #fly<gemm_traversal_order kmn>} : (!tiled_mma, !fly.memref<f32, register, (4,2,2):(1,4,8)>, !fly.memref<f16, register, (4,2,2):(1,4,8)>, !fly.memref<f16, register, (4,2,2):(1,4,8)>, !fly.memref<f16, register, (4,2,2):(1,4,8)>, !fly.memref<f32, register, (4,2,2):(1,4,8)>, !fly.layout<(2,2,2):(4,2,1)>) -> ()
  return
}
