// SPDX-License-Identifier: Apache-2.0
// DEFINE: %{ir} = fly-opt --pass-pipeline='builtin.module(gpu-module-to-binary{format=isa})' --print-before=load-store-vectorizer -o /dev/null 2>&1
// RUN: %python %S/straight_code.py 300 | %{ir} | FileCheck %s --check-prefix=LONG
// RUN: %python %S/straight_code.py 200 | %{ir} | FileCheck %s --check-prefix=SHORT
// RUN: %python %S/straight_code.py 300 iglp.opt:1 | %{ir} | FileCheck %s --check-prefix=BY-HAND

// A block of 600 accesses of memory is cut into pieces of at most 128 before the vectorizer sees
// it, each with a barrier for the schedulers in front (lib/Emit/LongBlocks.h). The kernel's arguments
// are accesses too.
// LONG-LABEL:    define {{.*}} @straight
// LONG-COUNT-60: store i32
// LONG:          br label
// LONG:          .piece{{[0-9]*}}:
// LONG-NEXT:     call void @llvm.amdgcn.sched.barrier(i32 0)
// LONG-COUNT-3:  sched.barrier(i32 0)
// LONG-NOT:      sched.barrier(i32 0)
// LONG:          ret void

// One of 400 stays whole.
// SHORT-LABEL:     define {{.*}} @straight
// SHORT-NOT:       br label
// SHORT-COUNT-200: store i32
// SHORT-NOT:       br label
// SHORT:           ret void

// And so does one whose schedule the program asks for.
// BY-HAND-LABEL: define {{.*}} @straight
// BY-HAND:       call void @llvm.amdgcn.iglp.opt(i32 0)
// BY-HAND-NOT:   br label
// BY-HAND:       ret void
