// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-default-pipeline=chip=gfx942 | FileCheck %s
// RUN: fly-opt %s --fly-default-pipeline="chip=gfx950 O=3 fast=true" | FileCheck %s --check-prefix=CDNA4
// RUN: fly-opt %s --fly-default-pipeline=chip=gfx1201-w7900 --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=RDNA
// RUN: fly-opt /dev/null --fly-default-pipeline="chip=gfx1250-strict debug-info=true ktrace=true mark-uninitialised=true l=a.bc,b.bc" --dump-pass-pipeline 2>&1 | FileCheck %s --check-prefix=OPTIONS

// What the compiler runs, from layouts to a code object.
// CHECK: gpu.binary @module
// CHECK-SAME: chip = "gfx942"
// CHECK-SAME: kernels = <[#gpu.kernel_metadata<"scale"
// CHECK-SAME: vgpr_spill_count = 0
// CDNA4: #rocdl.target<O = 3, chip = "gfx950", flags = {fast}>
// RDNA: convert-gpu-to-rocdl{{.*}}chipset=gfx1201{{ }}
// RDNA: rocdl-attach-target{{.*}}chip=gfx1201-w7900{{.*}}wave64=false
// OPTIONS: fly-check-host-functions
// OPTIONS: fly-argument-effects,
// OPTIONS: fly-rewrite-func-signature
// OPTIONS: convert-fly-ktrace-to-rocdl{chip=gfx1250}
// OPTIONS: fly-mark-uninitialised
// OPTIONS: convert-fly-to-rocdl{exact-alignment=true}
// OPTIONS: convert-fly-messages-to-llvm
// OPTIONS: fly-define-integer-division
// OPTIONS: rocdl-attach-target{{.*}}chip=gfx1250-strict{{.*}} l={a.bc,b.bc}
// OPTIONS: fly-define-host-float-conversions
// OPTIONS: gpu-to-llvm
// OPTIONS: fly-plain-global-locations
// OPTIONS: ensure-debug-info-scope-on-llvm-func
// OPTIONS: gpu-module-to-binary
gpu.module @module {
  gpu.func @scale(%x: !fly.memref<f32, global, (64,4):(4,1), align<16>>, %i: i32, %factor: f32) kernel {
    %slice = fly.make_coord(%i) : (i32) -> !fly.int_tuple<(?,*)>
    %row = fly.slice(%x, %slice) : (!fly.memref<f32, global, (64,4):(4,1), align<16>>, !fly.int_tuple<(?,*)>) -> !fly.memref<f32, global, 4:1, align<16>>
    %values = fly.memref.load_vec(%row) : (!fly.memref<f32, global, 4:1, align<16>>) -> vector<4xf32>
    %factors = vector.broadcast %factor : f32 to vector<4xf32>
    %scaled = arith.mulf %values, %factors : vector<4xf32>
    fly.memref.store_vec(%scaled, %row) : (vector<4xf32>, !fly.memref<f32, global, 4:1, align<16>>) -> ()
    gpu.return
  }
}
