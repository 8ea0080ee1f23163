// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --pass-pipeline="builtin.module(convert-fly-to-nvvm,canonicalize)" | FileCheck %s
// RUN: fly-opt %s --pass-pipeline="builtin.module(convert-fly-to-nvvm,canonicalize,gpu.module(convert-gpu-to-nvvm{index-bitwidth=0 use-bare-ptr-memref-call-conv=true},fly-nvvm-kernel-parameters))" | FileCheck %s --check-prefix=KERNEL

!map = !fly_nvvm.tensor_map<[128, 64], bf16, swizzle = 128>
!load = !fly.copy_atom<!fly_nvvm.sm90.tma_load<[128, 64], bf16, swizzle = 128, multicast = false, evictFirst = false>, 16>
!once = !fly.copy_atom<!fly_nvvm.sm90.tma_load<[128, 64], bf16, swizzle = 128, multicast = false, evictFirst = true>, 16>
!store = !fly.copy_atom<!fly_nvvm.sm90.tma_store<[128, 64], bf16, swizzle = 128>, 16>
!tile = !fly.memref<bf16, shared, (128,64):(64,1), align<1024>, S<3,4,3>>
!origin = !fly.int_tuple<(?,?)>
!layout = !fly.layout<(128,64):(1E1,1E0)>

// CHECK-DAG: llvm.mlir.global external @flydsl_artifact
// CHECK-DAG: llvm.func @flydsl_tensor_map(!llvm.ptr, !llvm.ptr, !llvm.ptr) -> i32

module attributes {gpu.container_module} {
  // KERNEL: llvm.func @copy(%[[MAP:.*]]: !llvm.ptr {llvm.align = 64 : i64, llvm.byval = !llvm.array<128 x i8>, nvvm.grid_constant}
  // KERNEL-SAME: nvvm.minctasm = 1
  gpu.module @kernels {
    // CHECK: gpu.func @copy(%[[MAP:.*]]: !llvm.array<16 x i64>, %[[BARRIER:.*]]: !llvm.ptr<3>, %[[TILE:.*]]: !llvm.ptr<3>, %[[X:.*]]: i32, %[[Y:.*]]: i32)
    gpu.func @copy(%map: !map, %barrier: !fly.ptr<i64, shared>, %tile: !tile, %x: i32, %y: i32) kernel
        attributes {known_block_size = array<i32: 384, 1, 1>} {
      nvvm.setmaxregister decrease 40
      // CHECK: %[[POLICY:.*]] = arith.constant 1364590687093260288 : i64
      // CHECK: %[[ADDRESS:.*]] = fly_nvvm.tensor_map_address %[[MAP]]
      %new = fly.make_copy_atom(%map : !map) {valBits = 16 : i32} : !load
      %load = fly.atom.set_value(%new, "barrier", %barrier) : (!load, !fly.ptr<i64, shared>) -> !load
      %at = fly.make_int_tuple(%x, %y) : (i32, i32) -> !origin
      %shape = fly.static : !layout
      %box = fly.make_view(%at, %shape) : (!origin, !layout) -> !fly.coord_tensor<(?,?), (128,64):(1E1,1E0)>
      // CHECK: %[[TO:.*]] = llvm.addrspacecast %[[TILE]] : !llvm.ptr<3> to !llvm.ptr<7>
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global %[[TO]], %[[ADDRESS]], %[[BARRIER]], box[%[[X]], %[[Y]]] :
      // KERNEL: nvvm.cp.async.bulk.tensor.shared.cluster.global %{{.*}}, %[[MAP]],
      fly.copy_atom_call(%load, %box, %tile) : (!load, !fly.coord_tensor<(?,?), (128,64):(1E1,1E0)>, !tile) -> ()
      %once = fly.make_copy_atom(%map : !map) {valBits = 16 : i32} : !once
      %load_once = fly.atom.set_value(%once, "barrier", %barrier) : (!once, !fly.ptr<i64, shared>) -> !once
      // CHECK: nvvm.cp.async.bulk.tensor.shared.cluster.global {{.*}}, %[[BARRIER]], box[%[[X]], %[[Y]]] l2_cache_hint = %[[POLICY]]
      fly.copy_atom_call(%load_once, %box, %tile) : (!once, !fly.coord_tensor<(?,?), (128,64):(1E1,1E0)>, !tile) -> ()
      %store = fly.make_copy_atom(%map : !map) {valBits = 16 : i32} : !store
      // CHECK: nvvm.cp.async.bulk.tensor.global.shared.cta %{{.*}}, %[[TILE]], box[%[[X]], %[[Y]]]
      fly.copy_atom_call(%store, %tile, %box) : (!store, !tile, !fly.coord_tensor<(?,?), (128,64):(1E1,1E0)>) -> ()
      gpu.return
    }
  }

  // CHECK-LABEL: func.func @host
  func.func @host(%base: !fly.ptr<bf16, global>, %k: i64, %m: i64, %pitch: i64, %tile: !tile, %barrier: !fly.ptr<i64, shared>, %x: i32) {
    %one = arith.constant 1 : index
    // CHECK: llvm.alloca %{{.*}} x i8 {alignment = 64 : i64}
    // CHECK: llvm.call @flydsl_tensor_map
    // CHECK: %[[LOADED:.*]] = llvm.load %{{.*}} : !llvm.ptr -> !llvm.array<16 x i64>
    %map = fly_nvvm.make_tensor_map %base, extents = [%k, %m], strides = [%pitch] : !fly.ptr<bf16, global> -> !map
    // CHECK: gpu.launch_func @kernels::@copy {{.*}} args(%[[LOADED]] : !llvm.array<16 x i64>
    gpu.launch_func @kernels::@copy blocks in (%one, %one, %one) threads in (%one, %one, %one) args(%map : !map, %barrier : !fly.ptr<i64, shared>, %tile : !tile, %x : i32, %x : i32)
    return
  }

  // How many bytes the L2 fetches together, as the driver counts: 256 where nothing is said.
  // CHECK-LABEL: func.func @fetches
  // CHECK-DAG: %[[OF_256:.*]] = arith.constant 3 : i32
  // CHECK-DAG: %[[OF_128:.*]] = arith.constant 2 : i32
  // CHECK-DAG: %[[OF_64:.*]] = arith.constant 1 : i32
  func.func @fetches(%base: !fly.ptr<bf16, global>, %k: i64, %m: i64, %pitch: i64) {
    // CHECK: %[[USUAL:.*]] = llvm.getelementptr %{{.*}}[0, 9]
    // CHECK-NEXT: llvm.store %[[OF_256]], %[[USUAL]]
    %usual = fly_nvvm.make_tensor_map %base, extents = [%k, %m], strides = [%pitch] : !fly.ptr<bf16, global> -> !map
    // CHECK: %[[LESS:.*]] = llvm.getelementptr %{{.*}}[0, 9]
    // CHECK-NEXT: llvm.store %[[OF_128]], %[[LESS]]
    %less = fly_nvvm.make_tensor_map %base, extents = [%k, %m], strides = [%pitch] {fetched = 128 : i32} : !fly.ptr<bf16, global> -> !map
    // CHECK: %[[LEAST:.*]] = llvm.getelementptr %{{.*}}[0, 9]
    // CHECK-NEXT: llvm.store %[[OF_64]], %[[LEAST]]
    %least = fly_nvvm.make_tensor_map %base, extents = [%k, %m], strides = [%pitch] {fetched = 64 : i32} : !fly.ptr<bf16, global> -> !map
    return
  }
}
