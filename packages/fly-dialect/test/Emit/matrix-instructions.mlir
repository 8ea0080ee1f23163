// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu-module-to-binary{format=fatbin})'

// A matrix instruction that a chip does not have: the error says what it has instead.

// expected-error @+2 {{cannot generate code for 'gfx950': gfx950 has no llvm.amdgcn.mfma.f32.16x16x8.xf32; it has mfma.f32.16x16x4f32}}
// expected-error @+1 {{An error happened while serializing the module.}}
gpu.module @xf32 [#rocdl.target<chip = "gfx950">] {
  llvm.func @k(%p: !llvm.ptr<1>, %a: vector<2xf32>, %c: vector<4xf32>) attributes {gpu.kernel, rocdl.kernel} {
    %z = llvm.mlir.constant(0 : i32) : i32
    %r = rocdl.mfma.f32.16x16x8.xf32 %a, %a, %c, %z, %z, %z : (vector<2xf32>, vector<2xf32>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
    llvm.store %r, %p : vector<4xf32>, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// expected-error @+2 {{gfx942 has no llvm.amdgcn.smfmac.i32.16x16x128.i8; it has smfmac.i32.16x16x64.i8}}
// expected-error @+1 {{An error happened while serializing the module.}}
gpu.module @sparse [#rocdl.target<chip = "gfx942">] {
  llvm.func @k(%p: !llvm.ptr<1>, %a: vector<4xi32>, %b: vector<8xi32>) attributes {gpu.kernel, rocdl.kernel} {
    %z = llvm.mlir.constant(0 : i32) : i32
    %r = rocdl.smfmac.i32.16x16x128.i8 %a, %b, %a, %z, %z, %z : (vector<4xi32>, vector<8xi32>, vector<4xi32>, i32, i32, i32) -> vector<4xi32>
    llvm.store %r, %p : vector<4xi32>, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// expected-error @+2 {{gfx1201 has no llvm.amdgcn.mfma.f32.16x16x4f32; it has wmma}}
// expected-error @+1 {{An error happened while serializing the module.}}
gpu.module @other_family [#rocdl.target<chip = "gfx1201">] {
  llvm.func @k(%p: !llvm.ptr<1>, %a: f32, %c: vector<4xf32>) attributes {gpu.kernel, rocdl.kernel} {
    %z = llvm.mlir.constant(0 : i32) : i32
    %r = rocdl.mfma.f32.16x16x4f32 %a, %a, %c, %z, %z, %z : (f32, f32, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
    llvm.store %r, %p : vector<4xf32>, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// expected-error @+2 {{gfx942 has no llvm.amdgcn.wmma.f32.16x16x16.f16}}
// expected-error @+1 {{An error happened while serializing the module.}}
gpu.module @wave32 [#rocdl.target<chip = "gfx942">] {
  llvm.func @k(%p: !llvm.ptr<1>, %a: vector<8xf16>, %c: vector<8xf32>) attributes {gpu.kernel, rocdl.kernel} {
    %r = rocdl.wmma.f32.16x16x16.f16 %a, %a, %c : (vector<8xf16>, vector<8xf16>, vector<8xf32>) -> vector<8xf32>
    llvm.store %r, %p : vector<8xf32>, !llvm.ptr<1>
    llvm.return
  }
}
