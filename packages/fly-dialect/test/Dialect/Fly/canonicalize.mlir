// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --canonicalize --split-input-file | FileCheck %s

// MLIR's canonicalize on the algebra. The passes of the default pipeline do not depend on it.

//===----------------------------------------------------------------------===//
// Static results
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @static_tuple
func.func @static_tuple() -> !fly.int_tuple<(12,32)> {
  // CHECK-NEXT: %[[T:.*]] = fly.make_int_tuple() : () -> !fly.int_tuple<(12,32)>
  // CHECK-NEXT: return %[[T]]
  %a = fly.static : !fly.int_tuple<(4,8)>
  %b = fly.make_shape() : () -> !fly.int_tuple<(3,4)>
  %c = fly.int_tuple_mul(%a, %b) : (!fly.int_tuple<(4,8)>, !fly.int_tuple<(3,4)>) -> !fly.int_tuple<(12,32)>
  return %c : !fly.int_tuple<(12,32)>
}

// CHECK-LABEL: func.func @static_layout
func.func @static_layout(%l: !fly.layout<(8,12):(12,1)>, %t: !fly.tile<[4|6]>) -> !fly.layout<((4,6),(2,2)):((12,1),(48,6))> {
  // CHECK-DAG: %[[SHAPE:.*]] = fly.make_int_tuple() : () -> !fly.int_tuple<((4,6),(2,2))>
  // CHECK-DAG: %[[STRIDE:.*]] = fly.make_int_tuple() : () -> !fly.int_tuple<((12,1),(48,6))>
  // CHECK: %[[LAYOUT:.*]] = fly.make_layout(%[[SHAPE]], %[[STRIDE]])
  // CHECK-NEXT: return %[[LAYOUT]]
  %d = fly.zipped_divide(%l, %t) : (!fly.layout<(8,12):(12,1)>, !fly.tile<[4|6]>) -> !fly.layout<((4,6),(2,2)):((12,1),(48,6))>
  return %d : !fly.layout<((4,6),(2,2)):((12,1),(48,6))>
}

// A static part of what is dynamic.
// CHECK-LABEL: func.func @static_part
func.func @static_part(%l: !fly.layout<(4,?):(1,4)>) -> i32 {
  // CHECK-NEXT: %[[C:.*]] = arith.constant 4 : i32
  // CHECK-NEXT: return %[[C]]
  %m = fly.get(%l) {mode = array<i32: 0>} : (!fly.layout<(4,?):(1,4)>) -> !fly.layout<4:1>
  %s = fly.size(%m) : (!fly.layout<4:1>) -> !fly.int_tuple<4>
  %i = fly.get_scalar(%s) : (!fly.int_tuple<4>) -> i32
  return %i : i32
}

// -----

//===----------------------------------------------------------------------===//
// Extractors of constructors
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @layout_parts
// CHECK-SAME: (%[[S:.*]]: !fly.int_tuple<(4,?)>, %[[D:.*]]: !fly.int_tuple<(1,?)>)
func.func @layout_parts(%s: !fly.int_tuple<(4,?)>, %d: !fly.int_tuple<(1,?)>) -> (!fly.int_tuple<(4,?)>, !fly.int_tuple<(1,?)>) {
  // CHECK-NEXT: return %[[S]], %[[D]]
  %l = fly.make_layout(%s, %d) : (!fly.int_tuple<(4,?)>, !fly.int_tuple<(1,?)>) -> !fly.layout<(4,?):(1,?)>
  %a = fly.get_shape(%l) : (!fly.layout<(4,?):(1,?)>) -> !fly.int_tuple<(4,?)>
  %b = fly.get_stride(%l) : (!fly.layout<(4,?):(1,?)>) -> !fly.int_tuple<(1,?)>
  return %a, %b : !fly.int_tuple<(4,?)>, !fly.int_tuple<(1,?)>
}

// CHECK-LABEL: func.func @view_parts
// CHECK-SAME: (%[[P:.*]]: !fly.ptr<f16, global>, %[[L:.*]]: !fly.layout<(4,?):(1,4)>)
func.func @view_parts(%p: !fly.ptr<f16, global>, %l: !fly.layout<(4,?):(1,4)>) -> (!fly.ptr<f16, global>, !fly.layout<(4,?):(1,4)>) {
  // CHECK-NEXT: return %[[P]], %[[L]]
  %v = fly.make_view(%p, %l) : (!fly.ptr<f16, global>, !fly.layout<(4,?):(1,4)>) -> !fly.memref<f16, global, (4,?):(1,4)>
  %i = fly.get_iter(%v) : (!fly.memref<f16, global, (4,?):(1,4)>) -> !fly.ptr<f16, global>
  %m = fly.get_layout(%v) : (!fly.memref<f16, global, (4,?):(1,4)>) -> !fly.layout<(4,?):(1,4)>
  return %i, %m : !fly.ptr<f16, global>, !fly.layout<(4,?):(1,4)>
}

// The shape of a view is that of its layout.
// CHECK-LABEL: func.func @shape_of_view
// CHECK-SAME: %[[S:[^:]*]]: !fly.int_tuple<(4,?)>
func.func @shape_of_view(%p: !fly.ptr<f16, global>, %s: !fly.int_tuple<(4,?)>, %d: !fly.int_tuple<(1,?)>) -> !fly.int_tuple<(4,?)> {
  // CHECK-NEXT: return %[[S]]
  %l = fly.make_layout(%s, %d) : (!fly.int_tuple<(4,?)>, !fly.int_tuple<(1,?)>) -> !fly.layout<(4,?):(1,?)>
  %v = fly.make_view(%p, %l) : (!fly.ptr<f16, global>, !fly.layout<(4,?):(1,?)>) -> !fly.memref<f16, global, (4,?):(1,?)>
  %a = fly.get_shape(%v) : (!fly.memref<f16, global, (4,?):(1,?)>) -> !fly.int_tuple<(4,?)>
  return %a : !fly.int_tuple<(4,?)>
}

// CHECK-LABEL: func.func @composed_parts
// CHECK-SAME: (%[[O:.*]]: !fly.int_tuple<?>, %[[L:.*]]: !fly.layout<(8,?):(?,1)>)
func.func @composed_parts(%o: !fly.int_tuple<?>, %l: !fly.layout<(8,?):(?,1)>) -> (!fly.swizzle<S<2,0,3>>, !fly.int_tuple<?>, !fly.layout<(8,?):(?,1)>) {
  // CHECK-NEXT: %[[W:.*]] = fly.static : !fly.swizzle<S<2,0,3>>
  // CHECK-NEXT: return %[[W]], %[[O]], %[[L]]
  %w = fly.static : !fly.swizzle<S<2,0,3>>
  %c = fly.make_composed_layout(%w, %o, %l) : (!fly.swizzle<S<2,0,3>>, !fly.int_tuple<?>, !fly.layout<(8,?):(?,1)>) -> !fly.composed_layout<S<2,0,3> o ? o (8,?):(?,1)>
  %x = fly.composed_get_inner(%c) : (!fly.composed_layout<S<2,0,3> o ? o (8,?):(?,1)>) -> !fly.swizzle<S<2,0,3>>
  %y = fly.composed_get_offset(%c) : (!fly.composed_layout<S<2,0,3> o ? o (8,?):(?,1)>) -> !fly.int_tuple<?>
  %z = fly.composed_get_outer(%c) : (!fly.composed_layout<S<2,0,3> o ? o (8,?):(?,1)>) -> !fly.layout<(8,?):(?,1)>
  return %x, %y, %z : !fly.swizzle<S<2,0,3>>, !fly.int_tuple<?>, !fly.layout<(8,?):(?,1)>
}

// CHECK-LABEL: func.func @leaves
// CHECK-SAME: (%[[A:.*]]: i32, %[[B:.*]]: i64)
func.func @leaves(%a: i32, %b: i64) -> (i32, i32, i64, i64) {
  // CHECK-NEXT: %[[C:.*]] = arith.constant 4 : i32
  // CHECK-NEXT: return %[[C]], %[[A]], %[[B]], %[[B]]
  %t = fly.make_int_tuple(%a, %b) : (i32, i64) -> !fly.int_tuple<(4,(?,?{i64}))>
  %l:3 = fly.get_leaves(%t) : (!fly.int_tuple<(4,(?,?{i64}))>) -> (i32, i32, i64)
  %g = fly.get(%t) {mode = array<i32: 1, 1>} : (!fly.int_tuple<(4,(?,?{i64}))>) -> !fly.int_tuple<?{i64}>
  %s = fly.get_scalar(%g) : (!fly.int_tuple<?{i64}>) -> i64
  return %l#0, %l#1, %l#2, %s : i32, i32, i64, i64
}

// -----

//===----------------------------------------------------------------------===//
// Constructors of what has been extracted
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @same_layout
// CHECK-SAME: (%[[L:.*]]: !fly.layout<(4,?):(1,?)>)
func.func @same_layout(%l: !fly.layout<(4,?):(1,?)>) -> !fly.layout<(4,?):(1,?)> {
  // CHECK-NEXT: return %[[L]]
  %s = fly.get_shape(%l) : (!fly.layout<(4,?):(1,?)>) -> !fly.int_tuple<(4,?)>
  %d = fly.get_stride(%l) : (!fly.layout<(4,?):(1,?)>) -> !fly.int_tuple<(1,?)>
  %m = fly.make_layout(%s, %d) : (!fly.int_tuple<(4,?)>, !fly.int_tuple<(1,?)>) -> !fly.layout<(4,?):(1,?)>
  return %m : !fly.layout<(4,?):(1,?)>
}

// Parts of two layouts make a third.
// CHECK-LABEL: func.func @other_layout
// CHECK: fly.make_layout
func.func @other_layout(%l: !fly.layout<(4,?):(1,?)>, %o: !fly.layout<(4,?):(1,?)>) -> !fly.layout<(4,?):(1,?)> {
  %s = fly.get_shape(%l) : (!fly.layout<(4,?):(1,?)>) -> !fly.int_tuple<(4,?)>
  %d = fly.get_stride(%o) : (!fly.layout<(4,?):(1,?)>) -> !fly.int_tuple<(1,?)>
  %m = fly.make_layout(%s, %d) : (!fly.int_tuple<(4,?)>, !fly.int_tuple<(1,?)>) -> !fly.layout<(4,?):(1,?)>
  return %m : !fly.layout<(4,?):(1,?)>
}

// CHECK-LABEL: func.func @same_view
// CHECK-SAME: (%[[V:.*]]: !fly.memref<f16, global, (4,?):(1,4)>)
func.func @same_view(%v: !fly.memref<f16, global, (4,?):(1,4)>) -> !fly.memref<f16, global, (4,?):(1,4)> {
  // CHECK-NEXT: return %[[V]]
  %i = fly.get_iter(%v) : (!fly.memref<f16, global, (4,?):(1,4)>) -> !fly.ptr<f16, global>
  %m = fly.get_layout(%v) : (!fly.memref<f16, global, (4,?):(1,4)>) -> !fly.layout<(4,?):(1,4)>
  %w = fly.make_view(%i, %m) : (!fly.ptr<f16, global>, !fly.layout<(4,?):(1,4)>) -> !fly.memref<f16, global, (4,?):(1,4)>
  return %w : !fly.memref<f16, global, (4,?):(1,4)>
}

// CHECK-LABEL: func.func @same_tuple
// CHECK-SAME: (%[[T:.*]]: !fly.int_tuple<(4,(?,?{i64}))>)
func.func @same_tuple(%t: !fly.int_tuple<(4,(?,?{i64}))>) -> !fly.int_tuple<(4,(?,?{i64}))> {
  // CHECK-NEXT: return %[[T]]
  %l:2 = fly.get_leaves(%t) {dynamicOnly = true} : (!fly.int_tuple<(4,(?,?{i64}))>) -> (i32, i64)
  %u = fly.make_int_tuple(%l#0, %l#1) : (i32, i64) -> !fly.int_tuple<(4,(?,?{i64}))>
  return %u : !fly.int_tuple<(4,(?,?{i64}))>
}

// CHECK-LABEL: func.func @swapped_tuple
// CHECK: fly.make_int_tuple
func.func @swapped_tuple(%t: !fly.int_tuple<(?,?)>) -> !fly.int_tuple<(?,?)> {
  %l:2 = fly.get_leaves(%t) {dynamicOnly = true} : (!fly.int_tuple<(?,?)>) -> (i32, i32)
  %u = fly.make_int_tuple(%l#1, %l#0) : (i32, i32) -> !fly.int_tuple<(?,?)>
  return %u : !fly.int_tuple<(?,?)>
}

// -----

//===----------------------------------------------------------------------===//
// Picking and ordering, which takes no arithmetic
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @aliases
// CHECK-SAME: (%[[N:.*]]: i32)
func.func @aliases(%n: i32) -> !fly.int_tuple<(4,?)> {
  // CHECK-NEXT: fly.make_int_tuple(%[[N]])
  %s = fly.make_shape(%n) : (i32) -> !fly.int_tuple<(4,?)>
  return %s : !fly.int_tuple<(4,?)>
}

// CHECK-LABEL: func.func @modes
// CHECK-SAME: (%[[M:.*]]: i32, %[[N:.*]]: i32)
func.func @modes(%m: i32, %n: i32) -> !fly.layout<(?,(4,?)):(1,(?,2))> {
  // CHECK: %[[S:.*]] = fly.make_int_tuple(%[[N]], %[[M]]) : (i32, i32) -> !fly.int_tuple<(?,(4,?))>
  // CHECK: %[[D:.*]] = fly.make_int_tuple(%[[N]]) : (i32) -> !fly.int_tuple<(1,(?,2))>
  // CHECK: %[[L:.*]] = fly.make_layout(%[[S]], %[[D]])
  // CHECK-NEXT: return %[[L]]
  %s = fly.make_shape(%m, %n) : (i32, i32) -> !fly.int_tuple<(4,?,?)>
  %d = fly.make_stride(%n) : (i32) -> !fly.int_tuple<(?,2,1)>
  %l = fly.make_layout(%s, %d) : (!fly.int_tuple<(4,?,?)>, !fly.int_tuple<(?,2,1)>) -> !fly.layout<(4,?,?):(?,2,1)>
  %o = fly.select(%l) {indices = array<i32: 2, 0, 1>} : (!fly.layout<(4,?,?):(?,2,1)>) -> !fly.layout<(?,4,?):(1,?,2)>
  %g = fly.group(%o) {begin = 1 : i32, end = 3 : i32} : (!fly.layout<(?,4,?):(1,?,2)>) -> !fly.layout<(?,(4,?)):(1,(?,2))>
  return %g : !fly.layout<(?,(4,?)):(1,(?,2))>
}

// A product takes arithmetic, which is the lowering's.
// CHECK-LABEL: func.func @product
// CHECK: fly.size
func.func @product(%m: i32, %n: i32) -> !fly.int_tuple<?> {
  %s = fly.make_shape(%m, %n) : (i32, i32) -> !fly.int_tuple<(?,?)>
  %p = fly.size(%s) : (!fly.int_tuple<(?,?)>) -> !fly.int_tuple<?>
  return %p : !fly.int_tuple<?>
}

// -----

//===----------------------------------------------------------------------===//
// Neutral operands
//===----------------------------------------------------------------------===//

// CHECK-LABEL: func.func @neutral
// CHECK-SAME: (%[[T:.*]]: !fly.int_tuple<(?,?)>, %[[ONE:.*]]: !fly.int_tuple<(1,1)>, %[[ZERO:.*]]: !fly.int_tuple<(0,0)>)
func.func @neutral(%t: !fly.int_tuple<(?,?)>, %one: !fly.int_tuple<(1,1)>, %zero: !fly.int_tuple<(0,0)>) -> (!fly.int_tuple<(?,?)>, !fly.int_tuple<(?,?)>, !fly.int_tuple<(?,?)>, !fly.int_tuple<(?,?)>) {
  // CHECK-NEXT: return %[[T]], %[[T]], %[[T]], %[[T]]
  %a = fly.int_tuple_add(%t, %zero) : (!fly.int_tuple<(?,?)>, !fly.int_tuple<(0,0)>) -> !fly.int_tuple<(?,?)>
  %s = fly.int_tuple_sub(%t, %zero) : (!fly.int_tuple<(?,?)>, !fly.int_tuple<(0,0)>) -> !fly.int_tuple<(?,?)>
  %m = fly.int_tuple_mul(%t, %one) : (!fly.int_tuple<(?,?)>, !fly.int_tuple<(1,1)>) -> !fly.int_tuple<(?,?)>
  %d = fly.int_tuple_div(%t, %one) : (!fly.int_tuple<(?,?)>, !fly.int_tuple<(1,1)>) -> !fly.int_tuple<(?,?)>
  return %a, %s, %m, %d : !fly.int_tuple<(?,?)>, !fly.int_tuple<(?,?)>, !fly.int_tuple<(?,?)>, !fly.int_tuple<(?,?)>
}

// -----

//===----------------------------------------------------------------------===//
// What stays
//===----------------------------------------------------------------------===//

// Views of memory move pointers; accesses have effects; atoms with state are not in their types.
// CHECK-LABEL: func.func @stays
func.func @stays(%v: !fly.memref<f32, global, (4,?):(1,4)>, %c: !fly.int_tuple<(*,?)>, %x: i32, %a: !fly.copy_atom<!fly_rocdl.cdna3.buffer_copy<128>, 32>) -> (!fly.memref<f32, global, 4:1>, !fly.copy_atom<!fly_rocdl.cdna3.buffer_copy<128>, 32>) {
  // CHECK: fly.slice
  %s = fly.slice(%v, %c) : (!fly.memref<f32, global, (4,?):(1,4)>, !fly.int_tuple<(*,?)>) -> !fly.memref<f32, global, 4:1>
  // CHECK: fly.atom.set_value
  %b = fly.atom.set_value(%a, "soffset", %x) : (!fly.copy_atom<!fly_rocdl.cdna3.buffer_copy<128>, 32>, i32) -> !fly.copy_atom<!fly_rocdl.cdna3.buffer_copy<128>, 32>
  return %s, %b : !fly.memref<f32, global, 4:1>, !fly.copy_atom<!fly_rocdl.cdna3.buffer_copy<128>, 32>
}
