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

// CHECK-LABEL: func.func @folds_algebra(
// CHECK-SAME: ) -> (!fly.int_tuple<32>, !fly.layout<(2,4):(1,8)>)
// CHECK: %[[V0:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<32>
// CHECK: %[[V1:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<(2,4)>
// CHECK: %[[V2:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<(1,8)>
// CHECK: %[[V3:.+]] = fly.make_layout(%[[V1]], %[[V2]]) : (!fly.int_tuple<(2,4)>, !fly.int_tuple<(1,8)>) -> !fly.layout<(2,4):(1,8)>
// CHECK: return %[[V0]], %[[V3]] : !fly.int_tuple<32>, !fly.layout<(2,4):(1,8)>
func.func @folds_algebra() -> (!fly.int_tuple<32>, !fly.layout<(2,4):(1,8)>) {
  %shape = fly.make_shape() : () -> !fly.int_tuple<(4,8)>
  %stride = fly.make_stride() : () -> !fly.int_tuple<(8,1)>
  %layout = fly.make_layout(%shape, %stride) : (!fly.int_tuple<(4,8)>, !fly.int_tuple<(8,1)>) -> !fly.layout<(4,8):(8,1)>
  %size = fly.size(%layout) : (!fly.layout<(4,8):(8,1)>) -> !fly.int_tuple<32>
  %tiler = fly.static : !fly.layout<(2,4):(4,1)>
  %composed = fly.composition(%layout, %tiler) : (!fly.layout<(4,8):(8,1)>, !fly.layout<(2,4):(4,1)>) -> !fly.layout<(2,4):(1,8)>
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

// CHECK-LABEL: func.func @atoms(
// CHECK-SAME: ) -> (!fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.layout<((2,4),4):((16,1),4)>, !fly.tile<[4|8]>>, !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(4,4,1):(1,4,0)>>)
// CHECK: %[[V0:.+]] = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly.universal_copy<64>, 16>
// CHECK: %[[V1:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<((2,4),4)>
// CHECK: %[[V2:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<((16,1),4)>
// CHECK: %[[V3:.+]] = fly.make_layout(%[[V1]], %[[V2]]) : (!fly.int_tuple<((2,4),4)>, !fly.int_tuple<((16,1),4)>) -> !fly.layout<((2,4),4):((16,1),4)>
// CHECK: %[[V4:.+]] = fly.static : !fly.tile<[4|8]>
// CHECK: %[[V5:.+]] = fly.make_tiled_copy(%[[V0]], %[[V3]], %[[V4]]) : (!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.layout<((2,4),4):((16,1),4)>, !fly.tile<[4|8]>) -> !fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.layout<((2,4),4):((16,1),4)>, !fly.tile<[4|8]>>
// CHECK: %[[V6:.+]] = fly.make_mma_atom : !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>
// CHECK: %[[V7:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<(4,4,1)>
// CHECK: %[[V8:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<(1,4,0)>
// CHECK: %[[V9:.+]] = fly.make_layout(%[[V7]], %[[V8]]) : (!fly.int_tuple<(4,4,1)>, !fly.int_tuple<(1,4,0)>) -> !fly.layout<(4,4,1):(1,4,0)>
// CHECK: %[[V10:.+]] = fly.static : !fly.tile<[*|*|*]>
// CHECK: %[[V11:.+]] = fly.make_tiled_mma(%[[V6]], %[[V9]], %[[V10]]) : (!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(4,4,1):(1,4,0)>, !fly.tile<[*|*|*]>) -> !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(4,4,1):(1,4,0)>>
// CHECK: return %[[V5]], %[[V11]] : !fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.layout<((2,4),4):((16,1),4)>, !fly.tile<[4|8]>>, !fly.tiled_mma<!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.layout<(4,4,1):(1,4,0)>>
func.func @atoms() -> (!copy, !mma) {
  %copy = fly.static : !copy
  %mma = fly.static : !mma
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

// Too few operands are an error of the lowering.
// CHECK-LABEL: func.func @incomplete
func.func @incomplete() -> !fly.int_tuple<(?,2)> {
  // CHECK: fly.make_coord() : () -> !fly.int_tuple<(?,2)>
  %coord = fly.make_coord() : () -> !fly.int_tuple<(?,2)>
  return %coord : !fly.int_tuple<(?,2)>
}

// A map that fly.static would make is read from where it is.
// CHECK-LABEL: func.func @inner_map
func.func @inner_map(%layout: !fly.composed_layout<S<2,0,3> o 5 o (4,8):(8,1)>) -> !fly.swizzle<S<2,0,3>> {
  // CHECK: fly.composed_get_inner
  %inner = fly.composed_get_inner(%layout) : (!fly.composed_layout<S<2,0,3> o 5 o (4,8):(8,1)>) -> !fly.swizzle<S<2,0,3>>
  return %inner : !fly.swizzle<S<2,0,3>>
}
