// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --pass-pipeline='builtin.module(gpu-module-to-binary{format=isa})' | FileCheck %s

// What the options of #rocdl.target do to an f32 square root: by default it is correctly rounded and denormals are kept.

// CHECK-LABEL: gpu.binary @exact
// CHECK-SAME: v_sqrt_f32
// CHECK-SAME: v_fma_f32
// CHECK-SAME: .amdhsa_float_denorm_mode_32 3
gpu.module @exact [#rocdl.target<chip = "gfx942">] {
  llvm.func @root(%a: !llvm.ptr<1>, %x: f32) attributes {gpu.kernel, rocdl.kernel} {
    %r = llvm.intr.sqrt(%x) : (f32) -> f32
    llvm.store %r, %a : f32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// CHECK-LABEL: gpu.binary @approximate
// CHECK-SAME: v_sqrt_f32
// CHECK-NOT: v_fma_f32
// CHECK-SAME: .amdhsa_float_denorm_mode_32 0
gpu.module @approximate [#rocdl.target<chip = "gfx942", flags = {unsafe_sqrt, daz}>] {
  llvm.func @root(%a: !llvm.ptr<1>, %x: f32) attributes {gpu.kernel, rocdl.kernel} {
    %r = llvm.intr.sqrt(%x) : (f32) -> f32
    llvm.store %r, %a : f32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// CHECK-LABEL: gpu.binary @fast
// CHECK-NOT: v_fma_f32
// CHECK-SAME: v_sqrt_f32
// CHECK-NOT: v_fma_f32
gpu.module @fast [#rocdl.target<chip = "gfx942", flags = {fast}>] {
  llvm.func @root(%a: !llvm.ptr<1>, %x: f32) attributes {gpu.kernel, rocdl.kernel} {
    %r = llvm.intr.sqrt(%x) : (f32) -> f32
    llvm.store %r, %a : f32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// A product's name after the architecture is no concern of code generation.

// CHECK-LABEL: gpu.binary @suffix
// CHECK-SAME: chip = "gfx1201-w7900"
// CHECK-SAME: amdgcn-amd-amdhsa--gfx1201
gpu.module @suffix [#rocdl.target<chip = "gfx1201-w7900">] {
  llvm.func @empty() attributes {gpu.kernel, rocdl.kernel} {
    llvm.return
  }
}

// -----

// An offset that the program computes cannot be in the instruction.

// CHECK-LABEL: gpu.binary @immediate
// CHECK-SAME: v_add_u32
// CHECK-SAME: buffer_load_dword v{{[0-9]+}}, s[{{[0-9:]+}}], 0 offen lds
gpu.module @immediate [#rocdl.target<chip = "gfx942">] {
  llvm.mlir.global external @lds() {addr_space = 3 : i32, alignment = 16 : i64, dso_local} : !llvm.array<4096 x i8>
  llvm.func @load(%b: !llvm.ptr<8>, %i: i32) attributes {gpu.kernel, rocdl.kernel} {
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %lds = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %t = rocdl.workitem.id.x : i32
    rocdl.raw.ptr.buffer.load.lds %b, %lds, %c4, %t, %c0, %i, %c0
    llvm.return
  }
}
