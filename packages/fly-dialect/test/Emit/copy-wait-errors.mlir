// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu-module-to-binary{format=isa})'

// Waits for copies to LDS that cannot be computed.

// expected-error @+1 {{An error happened while serializing the module.}}
gpu.module @nothing_written [#rocdl.target<chip = "gfx950">] {
  llvm.mlir.global internal @a() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.mlir.global internal @b() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.func @nothing_written(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i32) attributes {gpu.kernel, rocdl.kernel} {
    %a = llvm.mlir.addressof @a : !llvm.ptr<3>
    %b = llvm.mlir.addressof @b : !llvm.ptr<3>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    // expected-error @+1 {{a wait for copies names LDS that no copy of this kernel writes ('b'); name what the copies write to}}
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %b : (!llvm.ptr<3>) -> ()
    llvm.return
  }
}

// -----

// expected-error @+1 {{An error happened while serializing the module.}}
gpu.module @no_copy [#rocdl.target<chip = "gfx942">] {
  llvm.mlir.global internal @a() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.mlir.global internal @b() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.func @no_copy(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i32) attributes {gpu.kernel, rocdl.kernel} {
    %a = llvm.mlir.addressof @a : !llvm.ptr<3>
    %b = llvm.mlir.addressof @b : !llvm.ptr<3>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    // expected-error @+1 {{a wait for copies names LDS that no copy of this kernel writes ('a')}}
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %a : (!llvm.ptr<3>) -> ()
    llvm.return
  }
}

// -----

// expected-error @+1 {{An error happened while serializing the module.}}
gpu.module @other_memory [#rocdl.target<chip = "gfx950">] {
  llvm.mlir.global internal @a() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.mlir.global internal @b() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.func @other_memory(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i32) attributes {gpu.kernel, rocdl.kernel} {
    %a = llvm.mlir.addressof @a : !llvm.ptr<3>
    %b = llvm.mlir.addressof @b : !llvm.ptr<3>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    // expected-error @+1 {{a wait for copies names memory other than LDS: '!llvm.ptr<1>'}}
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %in : (!llvm.ptr<1>) -> ()
    llvm.return
  }
}

// -----

// expected-error @+1 {{An error happened while serializing the module.}}
gpu.module @other_chip [#rocdl.target<chip = "gfx1201">] {
  llvm.mlir.global internal @a() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.mlir.global internal @b() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<1024 x i32>
  llvm.func @other_chip(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>, %n: i32) attributes {gpu.kernel, rocdl.kernel} {
    %a = llvm.mlir.addressof @a : !llvm.ptr<3>
    %b = llvm.mlir.addressof @b : !llvm.ptr<3>
    %c0 = llvm.mlir.constant(0 : i32) : i32
    %c1 = llvm.mlir.constant(1 : i32) : i32
    %c4 = llvm.mlir.constant(4 : i32) : i32
    %t = rocdl.workitem.id.x : i32
    %from = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.call_intrinsic "llvm.amdgcn.global.load.lds"(%from, %a, %c4, %c0, %c0) : (!llvm.ptr<1>, !llvm.ptr<3>, i32, i32, i32) -> ()
    // expected-error @+1 {{waits for copies to LDS are computed for gfx9}}
    llvm.inline_asm has_side_effects "fly.wait_for_copies", "v" %a : (!llvm.ptr<3>) -> ()
    llvm.return
  }
}
