// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --verify-diagnostics --pass-pipeline='builtin.module(gpu-module-to-binary{format=fatbin})'

// expected-error @+2 {{unknown NVIDIA GPU architecture 'sm_999'}}
// expected-error @+1 {{An error happened while serializing the module.}}
gpu.module @chip [#nvvm.target<chip = "sm_999">] {
  llvm.func @empty() attributes {nvvm.kernel} {
    llvm.return
  }
}

// -----

// expected-error @+2 {{cannot generate code for 'sm_90a': undefined function 'missing'}}
// expected-error @+1 {{An error happened while serializing the module.}}
gpu.module @undefined [#nvvm.target<chip = "sm_90a">] {
  llvm.func @missing()
  llvm.func @calls() attributes {nvvm.kernel} {
    llvm.call @missing() : () -> ()
    llvm.return
  }
}
