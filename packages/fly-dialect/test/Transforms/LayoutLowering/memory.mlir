// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-layout-lowering | FileCheck %s

// CHECK-LABEL: func.func @load_store(
// CHECK-SAME: %[[P:.+]]: !fly.ptr<f32, global>, %[[I:.+]]: i32
func.func @load_store(%p: !fly.ptr<f32, global>, %i: i32) {
  %layout = fly.static : !fly.layout<(4,8):(8,1)>
  %tensor = fly.make_view(%p, %layout) : (!fly.ptr<f32, global>, !fly.layout<(4,8):(8,1)>) -> !fly.memref<f32, global, (4,8):(8,1)>
  // CHECK: %[[ROW:.+]] = arith.muli %[[I]], %{{.+}}
  // CHECK: %[[INDEX:.+]] = arith.addi %[[ROW]], %{{.+}}
  // CHECK: %[[OFFSET:.+]] = fly.make_int_tuple(%[[INDEX]]) : (i32) -> !fly.int_tuple<?{div=2}>
  // CHECK: %[[ELEMENT:.+]] = fly.add_offset(%[[P]], %[[OFFSET]])
  // CHECK: %[[VALUE:.+]] = fly.ptr.load(%[[ELEMENT]]) : (!fly.ptr<f32, global>) -> f32
  %coord = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<(?,2)>
  %value = fly.memref.load(%tensor, %coord) : (!fly.memref<f32, global, (4,8):(8,1)>, !fly.int_tuple<(?,2)>) -> f32
  // CHECK: %[[TARGET:.+]] = fly.add_offset(%[[P]], %{{.+}}) : (!fly.ptr<f32, global>, !fly.int_tuple<11>)
  // CHECK: fly.ptr.store(%[[VALUE]], %[[TARGET]])
  %target = fly.make_int_tuple() : () -> !fly.int_tuple<(1,3)>
  fly.memref.store(%value, %tensor, %target) : (f32, !fly.memref<f32, global, (4,8):(8,1)>, !fly.int_tuple<(1,3)>) -> ()
  return
}

// CHECK-LABEL: func.func @coordinate(
// CHECK-SAME: %[[I:.+]]: i32
func.func @coordinate(%i: i32) -> !fly.int_tuple<(6,?)> {
  %base = fly.make_int_tuple() : () -> !fly.int_tuple<(5,5)>
  %layout = fly.static : !fly.layout<(4,8):(1E0,1E1)>
  %tensor = fly.make_view(%base, %layout) : (!fly.int_tuple<(5,5)>, !fly.layout<(4,8):(1E0,1E1)>) -> !fly.coord_tensor<(5,5), (4,8):(1E0,1E1)>
  // CHECK: %[[SUM:.+]] = arith.addi %[[I]], %{{.+}}
  // CHECK: fly.make_int_tuple(%[[SUM]]) : (i32) -> !fly.int_tuple<(6,?)>
  %coord = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<(1,?)>
  %value = fly.memref.load(%tensor, %coord) : (!fly.coord_tensor<(5,5), (4,8):(1E0,1E1)>, !fly.int_tuple<(1,?)>) -> !fly.int_tuple<(6,?)>
  return %value : !fly.int_tuple<(6,?)>
}

// CHECK-LABEL: func.func @allocations
func.func @allocations() {
  // CHECK: %[[A:.+]] = fly.make_ptr() {dictAttrs = {allocSize = 32 : i64}} : () -> !fly.ptr<f16, register>
  %layout = fly.static : !fly.layout<(4,8):(1,4)>
  %a = fly.memref.alloca(%layout) : (!fly.layout<(4,8):(1,4)>) -> !fly.memref<f16, register, (4,8):(1,4)>
  // CHECK: fly.make_ptr() {dictAttrs = {allocSize = 32 : i64}} : () -> !fly.ptr<f32, register>
  %b = fly.make_fragment_like(%a, f32) : (!fly.memref<f16, register, (4,8):(1,4)>) -> !fly.memref<f32, register, (4,8):(1,4)>
  %coord = fly.make_int_tuple() : () -> !fly.int_tuple<(0,1)>
  // CHECK: fly.add_offset(%[[A]], %{{.+}}) : (!fly.ptr<f16, register>, !fly.int_tuple<4>)
  %value = fly.memref.load(%a, %coord) : (!fly.memref<f16, register, (4,8):(1,4)>, !fly.int_tuple<(0,1)>) -> f16
  return
}

// Offsets of equal kind are fused; a run-time offset is applied before a static one.
// CHECK-LABEL: func.func @nested_offsets(
// CHECK-SAME: %[[P:.+]]: !fly.ptr<f16, global>, %[[X:.+]]: i32, %[[Y:.+]]: i32
func.func @nested_offsets(%p: !fly.ptr<f16, global>, %x: i32, %y: i32) -> f16 {
  %three = fly.make_int_tuple() : () -> !fly.int_tuple<3>
  %dx = fly.make_int_tuple(%x) : (i32) -> !fly.int_tuple<?>
  %dy = fly.make_int_tuple(%y) : (i32) -> !fly.int_tuple<?>
  // CHECK-DAG: %[[STATIC:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<6>
  // CHECK-DAG: %[[SUM:.+]] = arith.addi %[[X]], %[[Y]]
  // CHECK-DAG: %[[DYNAMIC:.+]] = fly.make_int_tuple(%[[SUM]]) : (i32) -> !fly.int_tuple<?>
  // CHECK: %[[BASE:.+]] = fly.add_offset(%[[P]], %[[DYNAMIC]])
  // CHECK: %[[LAST:.+]] = fly.add_offset(%[[BASE]], %[[STATIC]])
  // CHECK: fly.ptr.load(%[[LAST]])
  %0 = fly.add_offset(%p, %three) : (!fly.ptr<f16, global>, !fly.int_tuple<3>) -> !fly.ptr<f16, global>
  %1 = fly.add_offset(%0, %dx) : (!fly.ptr<f16, global>, !fly.int_tuple<?>) -> !fly.ptr<f16, global>
  %2 = fly.add_offset(%1, %three) : (!fly.ptr<f16, global>, !fly.int_tuple<3>) -> !fly.ptr<f16, global>
  %3 = fly.add_offset(%2, %dy) : (!fly.ptr<f16, global>, !fly.int_tuple<?>) -> !fly.ptr<f16, global>
  %value = fly.ptr.load(%3) : (!fly.ptr<f16, global>) -> f16
  return %value : f16
}

// A static offset that others use too is not moved behind a run-time one.
// CHECK-LABEL: func.func @shared_offset(
// CHECK-SAME: %[[P:.+]]: !fly.ptr<f16, global>, %[[X:.+]]: i32
func.func @shared_offset(%p: !fly.ptr<f16, global>, %x: i32) -> (f16, f16) {
  %three = fly.make_int_tuple() : () -> !fly.int_tuple<3>
  %dx = fly.make_int_tuple(%x) : (i32) -> !fly.int_tuple<?>
  // CHECK: %[[SHARED:.+]] = fly.add_offset(%[[P]], %{{.+}}) : (!fly.ptr<f16, global>, !fly.int_tuple<3>)
  // CHECK: fly.add_offset(%[[SHARED]], %{{.+}}) : (!fly.ptr<f16, global>, !fly.int_tuple<?>)
  %0 = fly.add_offset(%p, %three) : (!fly.ptr<f16, global>, !fly.int_tuple<3>) -> !fly.ptr<f16, global>
  %1 = fly.add_offset(%0, %dx) : (!fly.ptr<f16, global>, !fly.int_tuple<?>) -> !fly.ptr<f16, global>
  %a = fly.ptr.load(%0) : (!fly.ptr<f16, global>) -> f16
  %b = fly.ptr.load(%1) : (!fly.ptr<f16, global>) -> f16
  return %a, %b : f16, f16
}

// The swizzle of a composed layout acts on what the offset contributes.
// CHECK-LABEL: func.func @decomposition(
// CHECK-SAME: %[[P:.+]]: !fly.ptr<f16, shared>
func.func @decomposition(%p: !fly.ptr<f16, shared>) -> !fly.memref<f16, shared, (8,8):(8,1)> {
  // CHECK: %[[OFFSET:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<6>
  // CHECK: %[[ITER:.+]] = fly.add_offset(%[[P]], %[[OFFSET]])
  // CHECK: %[[VIEW:.+]] = fly.make_view(%[[ITER]], %{{.+}}) : (!fly.ptr<f16, shared>, !fly.layout<(8,8):(8,1)>)
  // CHECK: return %[[VIEW]]
  %layout = fly.static : !fly.composed_layout<S<2,0,3> o 1 o [S<1,0,2> o 4 o (8,8):(8,1)]>
  %tensor = fly.make_view(%p, %layout) : (!fly.ptr<f16, shared>, !fly.composed_layout<S<2,0,3> o 1 o [S<1,0,2> o 4 o (8,8):(8,1)]>) -> !fly.memref<f16, shared, S<2,0,3> o 1 o [S<1,0,2> o 4 o (8,8):(8,1)]>
  %plain = fly.decomposition(%tensor) : (!fly.memref<f16, shared, S<2,0,3> o 1 o [S<1,0,2> o 4 o (8,8):(8,1)]>) -> !fly.memref<f16, shared, (8,8):(8,1)>
  return %plain : !fly.memref<f16, shared, (8,8):(8,1)>
}

// A result that must keep its type, although fused offsets know a better alignment.
// CHECK-LABEL: func.func @exact_type(
func.func @exact_type(%p: !fly.ptr<f16, global, align<16>>) -> !fly.ptr<f16, global, align<8>> {
  // CHECK: %[[FUSED:.+]] = fly.add_offset({{.+}}) : (!fly.ptr<f16, global, align<16>>, !fly.int_tuple<8>) -> !fly.ptr<f16, global, align<16>>
  // CHECK: fly.recast_iter(%[[FUSED]]) : (!fly.ptr<f16, global, align<16>>) -> !fly.ptr<f16, global, align<8>>
  %four = fly.make_int_tuple() : () -> !fly.int_tuple<4>
  %0 = fly.add_offset(%p, %four) : (!fly.ptr<f16, global, align<16>>, !fly.int_tuple<4>) -> !fly.ptr<f16, global, align<8>>
  %1 = fly.add_offset(%0, %four) : (!fly.ptr<f16, global, align<8>>, !fly.int_tuple<4>) -> !fly.ptr<f16, global, align<8>>
  return %1 : !fly.ptr<f16, global, align<8>>
}
