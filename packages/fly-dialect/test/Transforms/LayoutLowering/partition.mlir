// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-layout-lowering | FileCheck %s

!mma = !fly.tiled_mma<!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>, !fly.layout<(2,2,1):(1,2,0)>>

// A thread's part of C starts at (m, n) = (thread in atom / 16 * 4 + 16 * atom m, thread mod 16 + 16 * atom n).
// CHECK-LABEL: func.func @mma(
// CHECK-SAME: %[[T:.+]]: i32
func.func @mma(%t: i32) -> !fly.coord_tensor<(?{div=4},?), ((4,1),2,2):((1E0,0),32E0,32E1)> {
  // CHECK-DAG: %[[C64:.+]] = arith.constant 64 : i32
  // CHECK-DAG: %[[LANE:.+]] = arith.remsi %[[T]], %[[C64]]
  // CHECK-DAG: %[[WAVE:.+]] = arith.divsi %[[T]], %[[C64]]
  // CHECK: fly.make_view
  %mma = fly.static : !mma
  %thread = fly.make_int_tuple(%t) : (i32) -> !fly.int_tuple<?>
  %tensor = fly.static : !fly.coord_tensor<(0,0), (64,64):(1E0,1E1)>
  %part = fly.tiled_mma.partition(c, %mma, %tensor, %thread) : (!mma, !fly.coord_tensor<(0,0), (64,64):(1E0,1E1)>, !fly.int_tuple<?>) -> !fly.coord_tensor<(?{div=4},?), ((4,1),2,2):((1E0,0),32E0,32E1)>
  return %part : !fly.coord_tensor<(?{div=4},?), ((4,1),2,2):((1E0,0),32E0,32E1)>
}

// An atom layout that is not column-major: both type and value go through (v, m, n, k).
!rows = !fly.tiled_mma<!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>, !fly.layout<(2,2,1):(2,1,0)>>

// CHECK-LABEL: func.func @row_major_atoms
func.func @row_major_atoms() -> !fly.coord_tensor<(0,22), ((4,1),2,2):((1E0,0),32E0,32E1)> {
  // CHECK: fly.make_int_tuple() : () -> !fly.int_tuple<(0,22)>
  %mma = fly.static : !rows
  %thread = fly.make_int_tuple() : () -> !fly.int_tuple<70>
  %tensor = fly.static : !fly.coord_tensor<(0,0), (64,64):(1E0,1E1)>
  %part = fly.tiled_mma.partition(c, %mma, %tensor, %thread) : (!rows, !fly.coord_tensor<(0,0), (64,64):(1E0,1E1)>, !fly.int_tuple<70>) -> !fly.coord_tensor<(0,22), ((4,1),2,2):((1E0,0),32E0,32E1)>
  return %part : !fly.coord_tensor<(0,22), ((4,1),2,2):((1E0,0),32E0,32E1)>
}

!copy = !fly.tiled_copy<!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.layout<((2,4),4):((16,1),4)>, !fly.tile<[4|8]>>

// CHECK-LABEL: func.func @copy(
// CHECK-SAME: %[[T:.+]]: i32, %[[P:.+]]: !fly.ptr<f16, global, align<16>>
func.func @copy(%t: i32, %p: !fly.ptr<f16, global, align<16>>) -> !fly.memref<f16, global, ((4,1),2,2):((1,0),64,8), align<8>> {
  // CHECK: %[[OFFSET:.+]] = fly.make_int_tuple(%{{.+}}) : (i32) -> !fly.int_tuple<?{div=4}>
  // CHECK: %[[ITER:.+]] = fly.add_offset(%[[P]], %[[OFFSET]])
  // CHECK: %[[VIEW:.+]] = fly.make_view(%[[ITER]], %{{.+}}) : {{.+}} -> !fly.memref<f16, global, ((4,1),2,2):((1,0),64,8), align<8>>
  // CHECK: return %[[VIEW]]
  %copy = fly.static : !copy
  %thread = fly.make_int_tuple(%t) : (i32) -> !fly.int_tuple<?>
  %layout = fly.static : !fly.layout<(8,16):(16,1)>
  %tensor = fly.make_view(%p, %layout) : (!fly.ptr<f16, global, align<16>>, !fly.layout<(8,16):(16,1)>) -> !fly.memref<f16, global, (8,16):(16,1), align<16>>
  %part = fly.tiled_copy.partition_src(%copy, %tensor, %thread) : (!copy, !fly.memref<f16, global, (8,16):(16,1), align<16>>, !fly.int_tuple<?>) -> !fly.memref<f16, global, ((4,1),2,2):((1,0),64,8), align<8>>
  return %part : !fly.memref<f16, global, ((4,1),2,2):((1,0),64,8), align<8>>
}

// Retiling leaves the registers where they are.
// CHECK-LABEL: func.func @retile(
// CHECK-SAME: %[[P:.+]]: !fly.ptr<f16, register>
func.func @retile(%p: !fly.ptr<f16, register>) -> !fly.memref<f16, register, ((4,1),2,2):((1,0),4,8)> {
  // CHECK: fly.make_view(%[[P]], %{{.+}}) : {{.+}} -> !fly.memref<f16, register, ((4,1),2,2):((1,0),4,8)>
  %copy = fly.static : !copy
  %layout = fly.static : !fly.layout<(4,2,2):(1,4,8)>
  %fragment = fly.make_view(%p, %layout) : (!fly.ptr<f16, register>, !fly.layout<(4,2,2):(1,4,8)>) -> !fly.memref<f16, register, (4,2,2):(1,4,8)>
  %retiled = fly.tiled_copy.retile(%copy, %fragment) : (!copy, !fly.memref<f16, register, (4,2,2):(1,4,8)>) -> !fly.memref<f16, register, ((4,1),2,2):((1,0),4,8)>
  return %retiled : !fly.memref<f16, register, ((4,1),2,2):((1,0),4,8)>
}
