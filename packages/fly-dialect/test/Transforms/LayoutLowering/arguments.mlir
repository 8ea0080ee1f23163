// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-layout-lowering | FileCheck %s

// Tensors that are arguments: their pointers are read with get_iter, their static layouts are in their types.

// CHECK-LABEL: func.func @copy(
// CHECK-SAME: %[[ARG0:.+]]: !fly.copy_atom<!fly.universal_copy<64>, 16>, %[[ARG1:.+]]: !fly.memref<f16, global, (4,2):(1,16)>, %[[ARG2:.+]]: !fly.memref<f16, register, (4,2):(1,4)>
// CHECK: %[[V0:.+]] = fly.get_iter(%[[ARG2]]) : (!fly.memref<f16, register, (4,2):(1,4)>) -> !fly.ptr<f16, register>
// CHECK: %[[V1:.+]] = fly.get_iter(%[[ARG1]]) : (!fly.memref<f16, global, (4,2):(1,16)>) -> !fly.ptr<f16, global>
// CHECK: %[[V2:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<0>
// CHECK: %[[V3:.+]] = fly.add_offset(%[[V1]], %[[V2]]) : (!fly.ptr<f16, global>, !fly.int_tuple<0>) -> !fly.ptr<f16, global>
// CHECK: %[[V4:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<1>
// CHECK: %[[V5:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<4>
// CHECK: %[[V6:.+]] = fly.make_layout(%[[V5]], %[[V4]]) : (!fly.int_tuple<4>, !fly.int_tuple<1>) -> !fly.layout<4:1>
// CHECK: %[[V7:.+]] = fly.make_view(%[[V3]], %[[V6]]) : (!fly.ptr<f16, global>, !fly.layout<4:1>) -> !fly.memref<f16, global, 4:1>
// CHECK: %[[V8:.+]] = fly.add_offset(%[[V0]], %[[V2]]) : (!fly.ptr<f16, register>, !fly.int_tuple<0>) -> !fly.ptr<f16, register>
// CHECK: %[[V9:.+]] = fly.make_view(%[[V8]], %[[V6]]) : (!fly.ptr<f16, register>, !fly.layout<4:1>) -> !fly.memref<f16, register, 4:1>
// CHECK: fly.copy_atom_call(%[[ARG0]], %[[V7]], %[[V9]])
// CHECK: %[[V10:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<16>
// CHECK: %[[V11:.+]] = fly.add_offset(%[[V1]], %[[V10]]) : (!fly.ptr<f16, global>, !fly.int_tuple<16>) -> !fly.ptr<f16, global>
// CHECK: %[[V12:.+]] = fly.make_view(%[[V11]], %[[V6]]) : (!fly.ptr<f16, global>, !fly.layout<4:1>) -> !fly.memref<f16, global, 4:1>
// CHECK: %[[V13:.+]] = fly.add_offset(%[[V0]], %[[V5]]) : (!fly.ptr<f16, register>, !fly.int_tuple<4>) -> !fly.ptr<f16, register>
// CHECK: %[[V14:.+]] = fly.make_view(%[[V13]], %[[V6]]) : (!fly.ptr<f16, register>, !fly.layout<4:1>) -> !fly.memref<f16, register, 4:1>
// CHECK: fly.copy_atom_call(%[[ARG0]], %[[V12]], %[[V14]])
// CHECK: return
func.func @copy(%a: !fly.copy_atom<!fly.universal_copy<64>, 16>, %g: !fly.memref<f16, global, (4,2):(1,16)>, %r: !fly.memref<f16, register, (4,2):(1,4)>) {
  fly.copy(%a, %g, %r) : (!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.memref<f16, global, (4,2):(1,16)>, !fly.memref<f16, register, (4,2):(1,4)>) -> ()
  return
}

// A predicate with one value per call gets a mode 0 of extent 1 and stride 0.
// CHECK-LABEL: func.func @predicated(
// CHECK-SAME: %[[ARG0:.+]]: !fly.copy_atom<!fly.universal_copy<64>, 16>, %[[ARG1:.+]]: !fly.memref<f16, global, (4,2):(1,16)>, %[[ARG2:.+]]: !fly.memref<f16, register, (4,2):(1,4)>, %[[ARG3:.+]]: !fly.memref<i1, register, 2:1>
// CHECK: %[[V0:.+]] = fly.get_iter(%[[ARG3]]) : (!fly.memref<i1, register, 2:1>) -> !fly.ptr<i1, register>
// CHECK: %[[V1:.+]] = fly.get_iter(%[[ARG2]]) : (!fly.memref<f16, register, (4,2):(1,4)>) -> !fly.ptr<f16, register>
// CHECK: %[[V2:.+]] = fly.get_iter(%[[ARG1]]) : (!fly.memref<f16, global, (4,2):(1,16)>) -> !fly.ptr<f16, global>
// CHECK: %[[V3:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<0>
// CHECK: %[[V4:.+]] = fly.add_offset(%[[V2]], %[[V3]]) : (!fly.ptr<f16, global>, !fly.int_tuple<0>) -> !fly.ptr<f16, global>
// CHECK: %[[V5:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<1>
// CHECK: %[[V6:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<4>
// CHECK: %[[V7:.+]] = fly.make_layout(%[[V6]], %[[V5]]) : (!fly.int_tuple<4>, !fly.int_tuple<1>) -> !fly.layout<4:1>
// CHECK: %[[V8:.+]] = fly.make_view(%[[V4]], %[[V7]]) : (!fly.ptr<f16, global>, !fly.layout<4:1>) -> !fly.memref<f16, global, 4:1>
// CHECK: %[[V9:.+]] = fly.add_offset(%[[V1]], %[[V3]]) : (!fly.ptr<f16, register>, !fly.int_tuple<0>) -> !fly.ptr<f16, register>
// CHECK: %[[V10:.+]] = fly.make_view(%[[V9]], %[[V7]]) : (!fly.ptr<f16, register>, !fly.layout<4:1>) -> !fly.memref<f16, register, 4:1>
// CHECK: %[[V11:.+]] = fly.add_offset(%[[V0]], %[[V3]]) : (!fly.ptr<i1, register>, !fly.int_tuple<0>) -> !fly.ptr<i1, register>
// CHECK: %[[V12:.+]] = fly.make_layout(%[[V5]], %[[V3]]) : (!fly.int_tuple<1>, !fly.int_tuple<0>) -> !fly.layout<1:0>
// CHECK: %[[V13:.+]] = fly.make_view(%[[V11]], %[[V12]]) : (!fly.ptr<i1, register>, !fly.layout<1:0>) -> !fly.memref<i1, register, 1:0>
// CHECK: fly.copy_atom_call(%[[ARG0]], %[[V8]], %[[V10]], %[[V13]])
// CHECK: %[[V14:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<16>
// CHECK: %[[V15:.+]] = fly.add_offset(%[[V2]], %[[V14]]) : (!fly.ptr<f16, global>, !fly.int_tuple<16>) -> !fly.ptr<f16, global>
// CHECK: %[[V16:.+]] = fly.make_view(%[[V15]], %[[V7]]) : (!fly.ptr<f16, global>, !fly.layout<4:1>) -> !fly.memref<f16, global, 4:1>
// CHECK: %[[V17:.+]] = fly.add_offset(%[[V1]], %[[V6]]) : (!fly.ptr<f16, register>, !fly.int_tuple<4>) -> !fly.ptr<f16, register>
// CHECK: %[[V18:.+]] = fly.make_view(%[[V17]], %[[V7]]) : (!fly.ptr<f16, register>, !fly.layout<4:1>) -> !fly.memref<f16, register, 4:1>
// CHECK: %[[V19:.+]] = fly.add_offset(%[[V0]], %[[V5]]) : (!fly.ptr<i1, register>, !fly.int_tuple<1>) -> !fly.ptr<i1, register>
// CHECK: %[[V20:.+]] = fly.make_view(%[[V19]], %[[V12]]) : (!fly.ptr<i1, register>, !fly.layout<1:0>) -> !fly.memref<i1, register, 1:0>
// CHECK: fly.copy_atom_call(%[[ARG0]], %[[V16]], %[[V18]], %[[V20]])
// CHECK: return
func.func @predicated(%a: !fly.copy_atom<!fly.universal_copy<64>, 16>, %g: !fly.memref<f16, global, (4,2):(1,16)>, %r: !fly.memref<f16, register, (4,2):(1,4)>, %p: !fly.memref<i1, register, 2:1>) {
  fly.copy(%a, %g, %r, %p) : (!fly.copy_atom<!fly.universal_copy<64>, 16>, !fly.memref<f16, global, (4,2):(1,16)>, !fly.memref<f16, register, (4,2):(1,4)>, !fly.memref<i1, register, 2:1>) -> ()
  return
}

// CHECK-LABEL: func.func @gemm(
// CHECK-SAME: %[[ARG0:.+]]: !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32
// CHECK: %[[V0:.+]] = fly.get_iter(%[[ARG3:.+]]) : (!fly.memref<f32, register, (1,2):(0,1)>) -> !fly.ptr<f32, register>
// CHECK: %[[V1:.+]] = fly.get_iter(%[[ARG2:.+]]) : (!fly.memref<f32, register, (1,2):(0,1)>) -> !fly.ptr<f32, register>
// CHECK: %[[V2:.+]] = fly.get_iter(%[[ARG1:.+]]) : (!fly.memref<f32, register, (1,2,2):(0,1,2)>) -> !fly.ptr<f32, register>
// CHECK: %[[V3:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<0>
// CHECK: %[[V4:.+]] = fly.add_offset(%[[V1]], %[[V3]]) : (!fly.ptr<f32, register>, !fly.int_tuple<0>) -> !fly.ptr<f32, register>
// CHECK: %[[V5:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<1>
// CHECK: %[[V6:.+]] = fly.make_layout(%[[V5]], %[[V3]]) : (!fly.int_tuple<1>, !fly.int_tuple<0>) -> !fly.layout<1:0>
// CHECK: %[[V7:.+]] = fly.make_view(%[[V4]], %[[V6]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK: %[[V8:.+]] = fly.add_offset(%[[V0]], %[[V3]]) : (!fly.ptr<f32, register>, !fly.int_tuple<0>) -> !fly.ptr<f32, register>
// CHECK: %[[V9:.+]] = fly.make_view(%[[V8]], %[[V6]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK: %[[V10:.+]] = fly.add_offset(%[[V2]], %[[V3]]) : (!fly.ptr<f32, register>, !fly.int_tuple<0>) -> !fly.ptr<f32, register>
// CHECK: %[[V11:.+]] = fly.make_view(%[[V10]], %[[V6]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK: fly.mma_atom_call(%[[ARG0]], %[[V11]], %[[V7]], %[[V9]], %[[V11]])
// CHECK: %[[V12:.+]] = fly.add_offset(%[[V0]], %[[V5]]) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
// CHECK: %[[V13:.+]] = fly.make_view(%[[V12]], %[[V6]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK: %[[V14:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<2>
// CHECK: %[[V15:.+]] = fly.add_offset(%[[V2]], %[[V14]]) : (!fly.ptr<f32, register>, !fly.int_tuple<2>) -> !fly.ptr<f32, register>
// CHECK: %[[V16:.+]] = fly.make_view(%[[V15]], %[[V6]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK: fly.mma_atom_call(%[[ARG0]], %[[V16]], %[[V7]], %[[V13]], %[[V16]])
// CHECK: %[[V17:.+]] = fly.add_offset(%[[V1]], %[[V5]]) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
// CHECK: %[[V18:.+]] = fly.make_view(%[[V17]], %[[V6]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK: %[[V19:.+]] = fly.add_offset(%[[V2]], %[[V5]]) : (!fly.ptr<f32, register>, !fly.int_tuple<1>) -> !fly.ptr<f32, register>
// CHECK: %[[V20:.+]] = fly.make_view(%[[V19]], %[[V6]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK: fly.mma_atom_call(%[[ARG0]], %[[V20]], %[[V18]], %[[V9]], %[[V20]])
// CHECK: %[[V21:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<3>
// CHECK: %[[V22:.+]] = fly.add_offset(%[[V2]], %[[V21]]) : (!fly.ptr<f32, register>, !fly.int_tuple<3>) -> !fly.ptr<f32, register>
// CHECK: %[[V23:.+]] = fly.make_view(%[[V22]], %[[V6]]) : (!fly.ptr<f32, register>, !fly.layout<1:0>) -> !fly.memref<f32, register, 1:0>
// CHECK: fly.mma_atom_call(%[[ARG0]], %[[V23]], %[[V18]], %[[V13]], %[[V23]])
// CHECK: return
func.func @gemm(%m: !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, %d: !fly.memref<f32, register, (1,2,2):(0,1,2)>, %a: !fly.memref<f32, register, (1,2):(0,1)>, %b: !fly.memref<f32, register, (1,2):(0,1)>) {
  fly.gemm(%m, %d, %a, %b, %d) : (!fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2):(0,1)>, !fly.memref<f32, register, (1,2):(0,1)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>) -> ()
  return
}

// CHECK-LABEL: func.func @load(
// CHECK-SAME: %[[ARG0:.+]]: !fly.memref<f32, global, (4,8):(8,1)>, %[[ARG1:.+]]: i32
// CHECK: %[[C3_I32:.+]] = arith.constant 3 : i32
// CHECK: %[[C8_I32:.+]] = arith.constant 8 : i32
// CHECK: %[[V0:.+]] = fly.get_iter(%[[ARG0]]) : (!fly.memref<f32, global, (4,8):(8,1)>) -> !fly.ptr<f32, global>
// CHECK: %[[V1:.+]] = arith.muli %[[ARG1]], %[[C8_I32]] : i32
// CHECK: %[[V2:.+]] = arith.addi %[[V1]], %[[C3_I32]] : i32
// CHECK: %[[V3:.+]] = fly.make_int_tuple(%[[V2]]) : (i32) -> !fly.int_tuple<?>
// CHECK: %[[V4:.+]] = fly.add_offset(%[[V0]], %[[V3]]) : (!fly.ptr<f32, global>, !fly.int_tuple<?>) -> !fly.ptr<f32, global>
// CHECK: %[[V5:.+]] = fly.ptr.load(%[[V4]]) : (!fly.ptr<f32, global>) -> f32
// CHECK: return %[[V5]] : f32
func.func @load(%m: !fly.memref<f32, global, (4,8):(8,1)>, %i: i32) -> f32 {
  %c = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<(?,3)>
  %v = fly.memref.load(%m, %c) : (!fly.memref<f32, global, (4,8):(8,1)>, !fly.int_tuple<(?,3)>) -> f32
  return %v : f32
}

// CHECK-LABEL: func.func @load_vec(
// CHECK-SAME: %[[ARG0:.+]]: !fly.memref<f32, register, (4,2):(1,16)>
// CHECK: %[[CST:.+]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK: %[[V0:.+]] = fly.get_iter(%[[ARG0]]) : (!fly.memref<f32, register, (4,2):(1,16)>) -> !fly.ptr<f32, register>
// CHECK: %[[V1:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<0>
// CHECK: %[[V2:.+]] = fly.add_offset(%[[V0]], %[[V1]]) : (!fly.ptr<f32, register>, !fly.int_tuple<0>) -> !fly.ptr<f32, register>
// CHECK: %[[V3:.+]] = fly.ptr.load(%[[V2]]) : (!fly.ptr<f32, register>) -> vector<4xf32>
// CHECK: %[[V4:.+]] = vector.insert_strided_slice %[[V3]], %[[CST]] {offsets = [0], strides = [1]} : vector<4xf32> into vector<8xf32>
// CHECK: %[[V5:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<16>
// CHECK: %[[V6:.+]] = fly.add_offset(%[[V0]], %[[V5]]) : (!fly.ptr<f32, register>, !fly.int_tuple<16>) -> !fly.ptr<f32, register>
// CHECK: %[[V7:.+]] = fly.ptr.load(%[[V6]]) : (!fly.ptr<f32, register>) -> vector<4xf32>
// CHECK: %[[V8:.+]] = vector.insert_strided_slice %[[V7]], %[[V4]] {offsets = [4], strides = [1]} : vector<4xf32> into vector<8xf32>
// CHECK: return %[[V8]] : vector<8xf32>
func.func @load_vec(%m: !fly.memref<f32, register, (4,2):(1,16)>) -> vector<8xf32> {
  %v = fly.memref.load_vec(%m) : (!fly.memref<f32, register, (4,2):(1,16)>) -> vector<8xf32>
  return %v : vector<8xf32>
}

// CHECK-LABEL: func.func @slice(
// CHECK-SAME: %[[ARG0:.+]]: !fly.memref<f32, global, (4,8):(8,1)>
// CHECK: %[[V0:.+]] = fly.get_iter(%[[ARG0]]) : (!fly.memref<f32, global, (4,8):(8,1)>) -> !fly.ptr<f32, global>
// CHECK: %[[V1:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<16>
// CHECK: %[[V2:.+]] = fly.add_offset(%[[V0]], %[[V1]]) : (!fly.ptr<f32, global>, !fly.int_tuple<16>) -> !fly.ptr<f32, global>
// CHECK: %[[V3:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<1>
// CHECK: %[[V4:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<8>
// CHECK: %[[V5:.+]] = fly.make_layout(%[[V4]], %[[V3]]) : (!fly.int_tuple<8>, !fly.int_tuple<1>) -> !fly.layout<8:1>
// CHECK: %[[V6:.+]] = fly.make_view(%[[V2]], %[[V5]]) : (!fly.ptr<f32, global>, !fly.layout<8:1>) -> !fly.memref<f32, global, 8:1>
// CHECK: return %[[V6]] : !fly.memref<f32, global, 8:1>
func.func @slice(%m: !fly.memref<f32, global, (4,8):(8,1)>) -> !fly.memref<f32, global, 8:1> {
  %c = fly.make_int_tuple() : () -> !fly.int_tuple<(2,*)>
  %v = fly.slice(%m, %c) : (!fly.memref<f32, global, (4,8):(8,1)>, !fly.int_tuple<(2,*)>) -> !fly.memref<f32, global, 8:1>
  return %v : !fly.memref<f32, global, 8:1>
}

// An atom that moves a whole tile is called once.
// CHECK-LABEL: func.func @whole_tile(
// CHECK-SAME: %[[ARG0:.+]]: !fly.memref<f16, global, (32,64):(1024,1)>, %[[ARG1:.+]]: !fly.memref<f16, shared, (32,64):(64,1)>
// CHECK: %[[V0:.+]] = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 16>
// CHECK: fly.copy_atom_call(%[[V0]], %[[ARG0]], %[[ARG1]])
// CHECK: return
func.func @whole_tile(%g: !fly.memref<f16, global, (32,64):(1024,1)>, %s: !fly.memref<f16, shared, (32,64):(64,1)>) {
  %a = fly.make_copy_atom {valBits = 16 : i32} : !fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 16>
  fly.copy(%a, %g, %s) : (!fly.copy_atom<!fly_rocdl.gfx1250.tdm<rank = 2, warps = 1, pad = 0, 0, cache = 0, barrier = false, timeout = false>, 16>, !fly.memref<f16, global, (32,64):(1024,1)>, !fly.memref<f16, shared, (32,64):(64,1)>) -> ()
  return
}
