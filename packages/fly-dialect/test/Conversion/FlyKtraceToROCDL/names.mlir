// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --convert-fly-ktrace-to-rocdl --split-input-file | FileCheck %s

// Ids go by the first use of a name, in all kernels of the module; a tag ends in the id.

// CHECK: module attributes {fly_ktrace.chip = "gfx950", fly_ktrace.event_names = {a = 2 : i32, b = 1 : i32, c = 3 : i32}}
module attributes {fly_ktrace.chip = "gfx950"} {
  gpu.module @m {
    // CHECK-LABEL: gpu.func @first
    gpu.func @first(%buffer: !fly.ptr<i8, global>) kernel {
      // CHECK: arith.constant 1 : i32
      // CHECK: s_buffer_store_dwordx4
      fly_ktrace.mark "b"
      // CHECK: arith.constant 16777218 : i32
      fly_ktrace.range_push "a"
      // CHECK: arith.constant 33554432 : i32
      fly_ktrace.range_pop
      gpu.return
    }
  }
  gpu.module @n {
    gpu.func @second(%buffer: !fly.ptr<i8, global>) kernel {
      fly_ktrace.mark "c"
      fly_ktrace.mark "a"
      gpu.return
    }
  }
}

// -----

// Names that are known keep their ids, used or not.

// CHECK: module attributes {fly_ktrace.event_names = {a = 8 : i32, q = 3 : i32, z = 7 : i32}
module attributes {fly_ktrace.known_event_names = {z = 7 : i32, q = 3 : i32}} {
  gpu.module @m [#rocdl.target<chip = "gfx942">] {
    gpu.func @k(%buffer: !fly.ptr<i8, global>) kernel {
      fly_ktrace.mark "a"
      fly_ktrace.mark "z"
      gpu.return
    }
  }
}

// -----

// New names take the ids behind the known ones, and then those that are free.

// CHECK: module attributes {fly_ktrace.event_names = {a = 1 : i32, b = 3 : i32, y = 2 : i32, z = 16777215 : i32}
module attributes {fly_ktrace.known_event_names = {y = 2 : i32, z = 16777215 : i32}} {
  gpu.module @m [#rocdl.target<chip = "gfx942">] {
    gpu.func @k(%buffer: !fly.ptr<i8, global>) kernel {
      fly_ktrace.mark "a"
      fly_ktrace.mark "b"
      gpu.return
    }
  }
}

// -----

// A kernel without events stays as it is, and needs neither buffer nor chip.

// CHECK: module {
// CHECK-NEXT: gpu.module @m {
// CHECK-NEXT: gpu.func @k() kernel {
// CHECK-NEXT: gpu.return
module {
  gpu.module @m {
    gpu.func @k() kernel {
      gpu.return
    }
  }
}
