// SPDX-License-Identifier: Apache-2.0
// A 64x64x64 f16 tile on four waves: 16 MFMAs per wave, operands straight from memory.
// RUN: fly-opt %s --fly-rewrite-func-signature --fly-canonicalize --fly-layout-lowering --canonicalize --fly-convert-atom-call-to-ssa-form --fly-promote-regmem-to-vectorssa --convert-fly-to-rocdl --canonicalize | FileCheck %s

!atom = !fly.copy_atom<!fly.universal_copy<64>, 16>
!mma = !fly.tiled_mma<!fly.mma_atom<!fly_rocdl.cdna3.mfma<16x16x16, (f16, f16) -> f32>>, !fly.layout<(2,2,1):(1,2,0)>>
!matrix = !fly.memref<f16, global, (64,64):(64,1), align<16>>
!result = !fly.memref<f32, global, (64,64):(64,1)>

// CHECK-LABEL: gpu.func @gemm(
// CHECK-SAME: %{{.+}}: !llvm.ptr<1>, %{{.+}}: !llvm.ptr<1>, %{{.+}}: !llvm.ptr<1>) kernel
// CHECK-NOT: llvm.alloca
// CHECK-COUNT-16: llvm.load {{.*}} -> vector<4xf16>
// CHECK-COUNT-16: rocdl.mfma.f32.16x16x16f16
// CHECK-NOT: rocdl.mfma
// CHECK-COUNT-16: llvm.store {{.*}} : f32
// CHECK-NOT: fly.
gpu.module @module {
  gpu.func @gemm(%a: !matrix, %b: !matrix, %c: !result) kernel {
    %x = gpu.thread_id x
    %t = arith.index_cast %x : index to i32
    %thread = fly.make_int_tuple(%t) : (i32) -> !fly.int_tuple<?>
    %mma = fly.static : !mma
    %atom = fly.make_copy_atom {valBits = 16 : i32} : !atom
    %pa = fly.tiled_mma.partition(a, %mma, %a, %thread) : (!mma, !matrix, !fly.int_tuple<?>) -> !fly.memref<f16, global, (4,2,4):(1,2048,16), align<8>>
    %pb = fly.tiled_mma.partition(b, %mma, %b, %thread) : (!mma, !matrix, !fly.int_tuple<?>) -> !fly.memref<f16, global, (4,2,4):(1,2048,16), align<8>>
    %pc = fly.tiled_mma.partition(c, %mma, %c, %thread) : (!mma, !result, !fly.int_tuple<?>) -> !fly.memref<f32, global, ((4,1),2,2):((64,0),2048,32)>
    %fa = fly.mma.make_fragment(a, %mma, %a) : (!mma, !matrix) -> !fly.memref<f16, register, (4,2,4):(1,16,4)>
    %fb = fly.mma.make_fragment(b, %mma, %b) : (!mma, !matrix) -> !fly.memref<f16, register, (4,2,4):(1,16,4)>
    %fc = fly.mma.make_fragment(c, %mma, %c) : (!mma, !result) -> !fly.memref<f32, register, ((4,1),2,2):((1,0),8,4)>
    fly.copy(%atom, %pa, %fa) : (!atom, !fly.memref<f16, global, (4,2,4):(1,2048,16), align<8>>, !fly.memref<f16, register, (4,2,4):(1,16,4)>) -> ()
    fly.copy(%atom, %pb, %fb) : (!atom, !fly.memref<f16, global, (4,2,4):(1,2048,16), align<8>>, !fly.memref<f16, register, (4,2,4):(1,16,4)>) -> ()
    %zero = arith.constant dense<0.0> : vector<16xf32>
    fly.memref.store_vec(%zero, %fc) : (vector<16xf32>, !fly.memref<f32, register, ((4,1),2,2):((1,0),8,4)>) -> ()
    fly.gemm(%mma, %fc, %fa, %fb, %fc) : (!mma, !fly.memref<f32, register, ((4,1),2,2):((1,0),8,4)>, !fly.memref<f16, register, (4,2,4):(1,16,4)>, !fly.memref<f16, register, (4,2,4):(1,16,4)>, !fly.memref<f32, register, ((4,1),2,2):((1,0),8,4)>) -> ()
    %sum = fly.memref.load_vec(%fc) : (!fly.memref<f32, register, ((4,1),2,2):((1,0),8,4)>) -> vector<16xf32>
    fly.memref.store_vec(%sum, %pc) : (vector<16xf32>, !fly.memref<f32, global, ((4,1),2,2):((64,0),2048,32)>) -> ()
    gpu.return
  }
}
