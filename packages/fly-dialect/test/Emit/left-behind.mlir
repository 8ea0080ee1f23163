// SPDX-License-Identifier: Apache-2.0
// RUN: rm -rf %t && mkdir -p %t/fly-emit-dead %t/fly-emit-held %t/other
// RUN: touch %t/fly-emit-dead/kernel.o && ln -s %t/other %t/fly-emit-link
// RUN: env TMPDIR=%t flock %t/fly-emit-held fly-opt %s --pass-pipeline='builtin.module(gpu-module-to-binary)' -o /dev/null
// RUN: ls %t | FileCheck %s

// Code generation removes the folder that a killed process has left behind, and nothing else: neither one that a
// process holds, nor its own kind of name that is a link, nor other folders. Its own is gone too.
// CHECK-NOT: fly-emit-
// CHECK:     fly-emit-held
// CHECK-NEXT: fly-emit-link
// CHECK-NEXT: other
// CHECK-NOT: fly-emit-

gpu.module @m [#rocdl.target<chip = "gfx942">] {
  llvm.func @empty() attributes {gpu.kernel, rocdl.kernel} {
    llvm.return
  }
}
