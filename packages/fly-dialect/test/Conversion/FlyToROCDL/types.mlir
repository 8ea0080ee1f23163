// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --convert-fly-to-rocdl | FileCheck %s

// Pointers and tensors of any rank become bare LLVM pointers by address space.

// CHECK-LABEL: func.func @spaces(
// CHECK-SAME: %{{.*}}: !llvm.ptr, %{{.*}}: !llvm.ptr<1>, %{{.*}}: !llvm.ptr<3>, %{{.*}}: !llvm.ptr<5>)
func.func @spaces(%a: !fly.ptr<f16, generic>, %b: !fly.memref<f32, global, (4,8):(8,1)>,
                  %c: !fly.memref<i8, shared, (4,(2,3)):(1,(12,4))>, %d: !fly.ptr<bf16, register>) {
  return
}

// -----

// CHECK-LABEL: func.func @buffer(
// CHECK-SAME: %{{.*}}: !llvm.struct<(ptr<8>, i32)>)
func.func @buffer(%a: !fly.memref<f16, #fly_rocdl.buffer_desc, 8:1>) {
  return
}

// -----

// Floats that LLVM does not have are integers of their width.

// CHECK-LABEL: func.func @narrow_floats(
// CHECK-SAME: %{{.*}}: i8, %{{.*}}: vector<4xi4>, %{{.*}}: vector<2xbf16>)
func.func @narrow_floats(%a: f8E4M3FN, %b: vector<4xf4E2M1FN>, %c: vector<2xbf16>) {
  return
}

// -----

// Atoms are their state; stateless ones are empty.

// CHECK-LABEL: func.func @atoms(
// CHECK-SAME: %{{.*}}: !llvm.struct<()>, %{{.*}}: !llvm.struct<(i32)>, %{{.*}}: !llvm.struct<(i32, i32)>, %{{.*}}: !llvm.struct<(i32, i32)>, %{{.*}}: !llvm.struct<()>, %{{.*}}: !llvm.struct<()>)
func.func @atoms(
    %a: !fly.copy_atom<!fly.universal_copy<128>, 16>,
    %b: !fly.copy_atom<!fly_rocdl.cdna3.buffer_copy<128>, 16>,
    %c: !fly.copy_atom<!fly_rocdl.cdna4.buffer_load_async_lds<128>, 8>,
    %d: !fly.mma_atom<!fly_rocdl.cdna4.mfma_scale<16x16x128, (f8E4M3FN, f8E4M3FN) -> f32, opselA = 0, opselB = 0>>,
    %e: !fly.copy_atom<!fly_rocdl.cdna4.global_load_async_lds<96>, 8>,
    %f: !fly.tiled_mma<!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>, !fly.layout<(1,1,1):(1,1,1)>>) {
  return
}

// -----

// Launches and calls follow the signatures.

module attributes {gpu.container_module} {
  gpu.module @kernels {
    // CHECK-LABEL: gpu.func @kernel(
    // CHECK-SAME: %{{.*}}: !llvm.ptr<1>, %{{.*}}: i32) kernel
    gpu.func @kernel(%a: !fly.memref<f16, global, (4,8):(8,1)>, %n: i32) kernel {
      gpu.return
    }
  }
  // CHECK-LABEL: func.func @host(
  // CHECK-SAME: %[[A:.*]]: !llvm.ptr<1>, %[[N:.*]]: i32)
  func.func @host(%a: !fly.memref<f16, global, (4,8):(8,1)>, %n: i32) {
    %c1 = arith.constant 1 : index
    // CHECK: gpu.launch_func @kernels::@kernel
    // CHECK-SAME: args(%[[A]] : !llvm.ptr<1>, %[[N]] : i32)
    gpu.launch_func @kernels::@kernel blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1)
        args(%a : !fly.memref<f16, global, (4,8):(8,1)>, %n : i32)
    return
  }
}
