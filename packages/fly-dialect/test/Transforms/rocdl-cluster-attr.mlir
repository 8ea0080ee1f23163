// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --pass-pipeline='builtin.module(gpu.module(fly-rocdl-cluster-attr))' | FileCheck %s

gpu.module @kernels {
  // CHECK: llvm.func @clustered() attributes {passthrough = {{\[}}["amdgpu-cluster-dims", "2,1,1"]]}
  llvm.func @clustered() attributes {rocdl.cluster_dims = "2,1,1"} {
    llvm.return
  }
  // CHECK: llvm.func @with_others() attributes {passthrough = ["noinline", ["amdgpu-cluster-dims", "1,4,1"]]}
  llvm.func @with_others() attributes {passthrough = ["noinline"], rocdl.cluster_dims = "1,4,1"} {
    llvm.return
  }
  // CHECK: llvm.func @plain() {
  llvm.func @plain() {
    llvm.return
  }
}
