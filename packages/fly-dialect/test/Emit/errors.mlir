// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu-module-to-binary{format=fatbin})'

// Whatever LLVM or lld cannot do is an error on the module; the process goes on to the next one.

// expected-error @+2 {{cannot generate code for 'gfx942': gfx942 has no llvm.amdgcn.mfma.f32.16x16x32.f16; it has mfma.f32.16x16x16f16}}
// expected-error @+1 {{An error happened while serializing the module.}}
gpu.module @no_such_instruction [#rocdl.target<chip = "gfx942">] {
  llvm.func @k(%a: !llvm.ptr<1>, %x: vector<8xf16>, %c: vector<4xf32>) attributes {gpu.kernel, rocdl.kernel} {
    %z = llvm.mlir.constant(0 : i32) : i32
    %r = rocdl.mfma.f32.16x16x32.f16 %x, %x, %c, %z, %z, %z : (vector<8xf16>, vector<8xf16>, vector<4xf32>, i32, i32, i32) -> vector<4xf32>
    llvm.store %r, %a : vector<4xf32>, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// expected-error @+2 {{linking failed: undefined symbol: __ocml_exp_f32}}
// expected-error @+1 {{An error happened while serializing the module.}}
gpu.module @no_device_library [#rocdl.target<chip = "gfx942">] {
  llvm.func @__ocml_exp_f32(f32) -> f32
  llvm.func @k(%a: !llvm.ptr<1>, %x: f32) attributes {gpu.kernel, rocdl.kernel} {
    %r = llvm.call @__ocml_exp_f32(%x) : (f32) -> f32
    llvm.store %r, %a : f32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// expected-error @+2 {{local memory (70000) exceeds limit (65536) in function 'k'}}
// expected-error @+1 {{An error happened while serializing the module.}}
gpu.module @too_much_lds [#rocdl.target<chip = "gfx942">] {
  llvm.mlir.global external @lds() {addr_space = 3 : i32, alignment = 16 : i64, dso_local} : !llvm.array<70000 x i8>
  llvm.func @k(%a: !llvm.ptr<1>, %i: i32) attributes {gpu.kernel, rocdl.kernel} {
    %p = llvm.mlir.addressof @lds : !llvm.ptr<3>
    %q = llvm.getelementptr %p[%i] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, f32
    %v = llvm.load %q : !llvm.ptr<3> -> f32
    llvm.store %v, %a : f32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// expected-error @+2 {{unknown AMD GPU architecture 'gfx999'}}
// expected-error @+1 {{An error happened while serializing the module.}}
gpu.module @unknown_chip [#rocdl.target<chip = "gfx999">] {
  llvm.func @k() attributes {gpu.kernel, rocdl.kernel} {
    llvm.return
  }
}

// -----

// expected-error @+2 {{waves of 'gfx942' have 64 lanes, but the target asks for 32}}
// expected-error @+1 {{An error happened while serializing the module.}}
gpu.module @wrong_wave_size [#rocdl.target<chip = "gfx942", flags = {no_wave64}>] {
  llvm.func @k() attributes {gpu.kernel, rocdl.kernel} {
    llvm.return
  }
}

// -----

// expected-error @+2 {{cannot generate code for 'gfx942': <inline asm>:1:2: invalid instruction}}
// expected-error @+1 {{An error happened while serializing the module.}}
gpu.module @bad_assembly [#rocdl.target<chip = "gfx942">] {
  llvm.func @k(%a: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
    %r = llvm.inline_asm "v_nonsense $0, $1", "=v,v" %a : (!llvm.ptr<1>) -> i32
    llvm.store %r, %a : i32, !llvm.ptr<1>
    llvm.return
  }
}

// -----

// After all of that, a good one still compiles.
gpu.module @good [#rocdl.target<chip = "gfx942">] {
  llvm.func @k() attributes {gpu.kernel, rocdl.kernel} {
    llvm.return
  }
}
