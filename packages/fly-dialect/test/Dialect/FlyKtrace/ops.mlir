// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s | fly-opt | FileCheck %s
// RUN: fly-opt %s --mlir-print-op-generic | fly-opt | FileCheck %s
// RUN: fly-opt %s --cse --canonicalize --loop-invariant-code-motion | FileCheck %s --check-prefix=EFFECTS

// CHECK-LABEL: gpu.func @events
// CHECK-SAME: (%[[N:.*]]: i64)
gpu.module @m {
  gpu.func @events(%n: i64) kernel {
    // CHECK: fly_ktrace.mark "a"{{$}}
    fly_ktrace.mark "a"
    // CHECK: fly_ktrace.mark "b" payload %[[N]] : i64{{$}}
    fly_ktrace.mark "b" payload %n : i64 {payload_type = "uint64"}
    // CHECK: fly_ktrace.range_push "r" payload %[[N]] : i64 {payload_type = "int64"}
    fly_ktrace.range_push "r" payload %n : i64 {payload_type = "int64"}
    // CHECK: fly_ktrace.range_pop{{$}}
    fly_ktrace.range_pop
    // CHECK: fly_ktrace.range_pop payload %[[N]] : i64 {note}
    fly_ktrace.range_pop payload %n : i64 {note}
    // CHECK: %[[T:.*]] = fly_ktrace.range_start "s" -> !fly_ktrace.token
    %t = fly_ktrace.range_start "s" -> !fly_ktrace.token
    // CHECK: fly_ktrace.range_stop %[[T]], "s" : !fly_ktrace.token
    fly_ktrace.range_stop %t, "s" : !fly_ktrace.token
    // CHECK: %[[U:.*]] = fly_ktrace.range_start "s" payload %[[N]] : i64 -> !fly_ktrace.token
    %u = fly_ktrace.range_start "s" payload %n : i64 -> !fly_ktrace.token
    // CHECK: fly_ktrace.range_stop %[[U]], "s" payload %[[N]] : i64 {payload_type = "bool"} : !fly_ktrace.token
    fly_ktrace.range_stop %u, "s" payload %n : i64 {payload_type = "bool"} : !fly_ktrace.token
    // CHECK: %[[I:.*]] = fly_ktrace.inactive_token -> !fly_ktrace.token
    %i = fly_ktrace.inactive_token -> !fly_ktrace.token
    // CHECK: fly_ktrace.range_stop %[[I]], "s" : !fly_ktrace.token
    fly_ktrace.range_stop %i, "s" : !fly_ktrace.token
    gpu.return
  }

  // Equal events are not one, an unused start is an event, and none leaves its loop; an unused token of nothing goes.
  // EFFECTS-LABEL: gpu.func @effects
  gpu.func @effects() kernel {
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c8 = arith.constant 8 : index
    // EFFECTS: fly_ktrace.mark "a"
    // EFFECTS-NEXT: fly_ktrace.mark "a"
    fly_ktrace.mark "a"
    fly_ktrace.mark "a"
    // EFFECTS-NEXT: fly_ktrace.range_start
    // EFFECTS-NOT: inactive_token
    %t = fly_ktrace.range_start "s" -> !fly_ktrace.token
    %u = fly_ktrace.inactive_token -> !fly_ktrace.token
    // EFFECTS-NEXT: scf.for
    // EFFECTS-NEXT: fly_ktrace.mark "a"
    scf.for %i = %c0 to %c8 step %c1 {
      fly_ktrace.mark "a"
    }
    gpu.return
  }
}
