// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --verify-diagnostics --pass-pipeline="builtin.module(convert-fly-to-nvvm,canonicalize)" | FileCheck %s

// A tile is reduced into a box; which way is the atom's. Integers of a map have a sign or none.

!map = !fly_nvvm.tensor_map<[16, 32], i32, swizzle = 128>
!add = !fly.copy_atom<!fly_nvvm.sm90.tma_reduce<[16, 32], i32, swizzle = 128, kind = add>, 32>
!xor = !fly.copy_atom<!fly_nvvm.sm90.tma_reduce<[16, 32], i32, swizzle = 128, kind = xor>, 32>
!tile = !fly.memref<i32, shared, (16,32):(32,1), align<1024>, S<3,4,3>>
!origin = !fly.int_tuple<(?,?)>
!layout = !fly.layout<(16,32):(1E1,1E0)>
!box = !fly.coord_tensor<(?,?), (16,32):(1E1,1E0)>

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // CHECK: gpu.func @reduce(%[[MAP:.*]]: !llvm.array<16 x i64>, %[[TILE:.*]]: !llvm.ptr<3>, %[[X:.*]]: i32, %[[Y:.*]]: i32)
    gpu.func @reduce(%map: !map, %tile: !tile, %x: i32, %y: i32) kernel {
      // CHECK: %[[ADDRESS:.*]] = fly_nvvm.tensor_map_address %[[MAP]]
      %add = fly.make_copy_atom(%map : !map) {valBits = 32 : i32} : !add
      %at = fly.make_int_tuple(%x, %y) : (i32, i32) -> !origin
      %shape = fly.static : !layout
      %box = fly.make_view(%at, %shape) : (!origin, !layout) -> !box
      // CHECK: nvvm.cp.async.bulk.tensor.reduce %[[ADDRESS]], %[[TILE]], box[%[[X]], %[[Y]]] {redKind = #nvvm.tma_redux_kind<add>}
      fly.copy_atom_call(%add, %tile, %box) : (!add, !tile, !box) -> ()
      %xor = fly.make_copy_atom(%map : !map) {valBits = 32 : i32} : !xor
      // CHECK: nvvm.cp.async.bulk.tensor.reduce {{.*}} {redKind = #nvvm.tma_redux_kind<xor>}
      fly.copy_atom_call(%xor, %tile, %box) : (!xor, !tile, !box) -> ()
      gpu.return
    }
  }

  // CHECK-LABEL: func.func @signs
  // CHECK-DAG: %[[WITHOUT:.*]] = arith.constant 2 : i32
  // CHECK-DAG: %[[WITH:.*]] = arith.constant 3 : i32
  func.func @signs(%base: !fly.ptr<i32, global>, %n: i64, %m: i64, %pitch: i64) {
    // CHECK: %[[FIRST:.*]] = llvm.getelementptr %{{.*}}[0, 0]
    // CHECK: llvm.store %[[WITHOUT]], %
    %unsigned = fly_nvvm.make_tensor_map %base, extents = [%n, %m], strides = [%pitch] {written} : !fly.ptr<i32, global> -> !map
    // CHECK: llvm.call @flydsl_tensor_map
    // CHECK: llvm.store %[[WITH]], %
    %signed = fly_nvvm.make_tensor_map %base, extents = [%n, %m], strides = [%pitch] {isSigned, written} : !fly.ptr<i32, global> -> !map
    return
  }
}

// -----

!map = !fly_nvvm.tensor_map<[16, 32], f32, swizzle = 128>
!add = !fly.copy_atom<!fly_nvvm.sm90.tma_reduce<[16, 32], f32, swizzle = 128, kind = add>, 32>
!tile = !fly.memref<f32, shared, (16,16):(16,1), align<1024>, S<3,4,3>>
!box = !fly.coord_tensor<(?,?), (16,32):(1E1,1E0)>

func.func @tile(%map: !map, %tile: !tile, %x: i32) {
  %add = fly.make_copy_atom(%map : !map) {valBits = 32 : i32} : !add
  %at = fly.make_int_tuple(%x, %x) : (i32, i32) -> !fly.int_tuple<(?,?)>
  %shape = fly.static : !fly.layout<(16,32):(1E1,1E0)>
  %box = fly.make_view(%at, %shape) : (!fly.int_tuple<(?,?)>, !fly.layout<(16,32):(1E1,1E0)>) -> !box
  // expected-error @+2 {{the copy moves boxes of 16, 32, outermost extent first}}
  // expected-error @+1 {{failed to legalize}}
  fly.copy_atom_call(%add, %tile, %box) : (!add, !tile, !box) -> ()
  return
}

// -----

!map = !fly_nvvm.tensor_map<[8, 32], f32, swizzle = 128>
!add = !fly.copy_atom<!fly_nvvm.sm90.tma_reduce<[16, 32], f32, swizzle = 128, kind = add>, 32>

func.func @another_map(%map: !map) {
  // expected-error @+3 {{is made of a tensor map of its box, elements and swizzle}}
  // expected-error @+2 {{stateless copy atom takes no construction arguments}}
  // expected-error @+1 {{failed to legalize}}
  %add = fly.make_copy_atom(%map : !map) {valBits = 32 : i32} : !add
  return
}
