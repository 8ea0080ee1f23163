// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-canonicalize | FileCheck %s

// CHECK-LABEL: func.func @aliases
func.func @aliases(%n: i32) -> (!fly.int_tuple<(4,?)>, !fly.int_tuple<(1,2)>) {
  // CHECK: %[[SHAPE:.+]] = fly.make_int_tuple(%{{.+}}) : (i32) -> !fly.int_tuple<(4,?)>
  %shape = fly.make_shape(%n) : (i32) -> !fly.int_tuple<(4,?)>
  // CHECK: %[[COORD:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<(1,2)>
  %coord = fly.make_coord() : () -> !fly.int_tuple<(1,2)>
  // CHECK: return %[[SHAPE]], %[[COORD]]
  return %shape, %coord : !fly.int_tuple<(4,?)>, !fly.int_tuple<(1,2)>
}

// CHECK-LABEL: func.func @folds_algebra
func.func @folds_algebra() -> (!fly.int_tuple<32>, !fly.layout<(2,4):(1,8)>) {
  %shape = fly.make_shape() : () -> !fly.int_tuple<(4,8)>
  %stride = fly.make_stride() : () -> !fly.int_tuple<(8,1)>
  %layout = fly.make_layout(%shape, %stride) : (!fly.int_tuple<(4,8)>, !fly.int_tuple<(8,1)>) -> !fly.layout<(4,8):(8,1)>
  // CHECK-NOT: fly.size
  // CHECK: %[[SIZE:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<32>
  %size = fly.size(%layout) : (!fly.layout<(4,8):(8,1)>) -> !fly.int_tuple<32>
  // CHECK: fly.make_layout({{.+}}) : (!fly.int_tuple<(2,4)>, !fly.int_tuple<(4,1)>)
  %tiler = fly.static : !fly.layout<(2,4):(4,1)>
  // CHECK-NOT: fly.composition
  // CHECK: %[[S:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<(2,4)>
  // CHECK: %[[D:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<(1,8)>
  // CHECK: %[[L:.+]] = fly.make_layout(%[[S]], %[[D]])
  %composed = fly.composition(%layout, %tiler) : (!fly.layout<(4,8):(8,1)>, !fly.layout<(2,4):(4,1)>) -> !fly.layout<(2,4):(1,8)>
  // CHECK: return %[[SIZE]], %[[L]]
  return %size, %composed : !fly.int_tuple<32>, !fly.layout<(2,4):(1,8)>
}

// CHECK-LABEL: func.func @static_values
func.func @static_values() -> (!fly.composed_layout<S<2,0,3> o 4 o (8,8):(8,1)>, !fly.coord_tensor<(0,0), (4,8):(1E0,1E1)>, !fly.tile<[4|8]>) {
  // CHECK: %[[SWIZZLE:.+]] = fly.static : !fly.swizzle<S<2,0,3>>
  // CHECK: %[[OFFSET:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<4>
  // CHECK: %[[OUTER:.+]] = fly.make_layout
  // CHECK: %[[COMPOSED:.+]] = fly.make_composed_layout(%[[SWIZZLE]], %[[OFFSET]], %[[OUTER]])
  %composed = fly.static : !fly.composed_layout<S<2,0,3> o 4 o (8,8):(8,1)>
  // CHECK: %[[BASE:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<(0,0)>
  // CHECK: %[[VIEW:.+]] = fly.make_view(%[[BASE]], %{{.+}})
  %tensor = fly.static : !fly.coord_tensor<(0,0), (4,8):(1E0,1E1)>
  // CHECK: %[[TILE:.+]] = fly.static : !fly.tile<[4|8]>
  %tile = fly.static : !fly.tile<[4|8]>
  // CHECK: return %[[COMPOSED]], %[[VIEW]], %[[TILE]]
  return %composed, %tensor, %tile : !fly.composed_layout<S<2,0,3> o 4 o (8,8):(8,1)>, !fly.coord_tensor<(0,0), (4,8):(1E0,1E1)>, !fly.tile<[4|8]>
}

!copy = !fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.layout<((2,4),4):((16,1),4)>, !fly.tile<[4|8]>>
!fma = !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
!mma = !fly.tiled_mma<!fma, !fly.layout<(4,4,1):(1,4,0)>>

// CHECK-LABEL: func.func @atoms
func.func @atoms() -> (!copy, !mma) {
  // CHECK: %[[ATOM:.+]] = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly.universal_copy<64>, 16>
  // CHECK: %[[TV:.+]] = fly.make_layout
  // CHECK: %[[TILE:.+]] = fly.static : !fly.tile<[4|8]>
  // CHECK: %[[COPY:.+]] = fly.make_tiled_copy(%[[ATOM]], %[[TV]], %[[TILE]])
  %copy = fly.static : !copy
  // CHECK: %[[FMA:.+]] = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
  // CHECK: %[[GROUPS:.+]] = fly.make_layout
  // CHECK: %[[MMA:.+]] = fly.make_tiled_mma(%[[FMA]], %[[GROUPS]]) :
  %mma = fly.static : !mma
  // CHECK: return %[[COPY]], %[[MMA]]
  return %copy, %mma : !copy, !mma
}

// A dynamic value stays what it is.
// CHECK-LABEL: func.func @dynamic
func.func @dynamic(%layout: !fly.layout<(4,?):(1,4)>) -> !fly.int_tuple<?{div=4}> {
  // CHECK: fly.size
  %size = fly.size(%layout) : (!fly.layout<(4,?):(1,4)>) -> !fly.int_tuple<?{div=4}>
  return %size : !fly.int_tuple<?{div=4}>
}

// CHECK-LABEL: func.func @basis
func.func @basis() -> !fly.basis<1E0> {
  // CHECK: fly.static : !fly.basis<1E0>
  %basis = fly.static : !fly.basis<1E0>
  return %basis : !fly.basis<1E0>
}
