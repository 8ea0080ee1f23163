// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --allow-unregistered-dialect --fly-scf-to-cf > %t.ours
// RUN: fly-opt %s --allow-unregistered-dialect --convert-scf-to-cf > %t.upstream
// RUN: diff %t.ours %t.upstream
// RUN: FileCheck %s < %t.ours

// MLIR's patterns, applied from the back: what comes out is what convert-scf-to-cf gives.

// CHECK-LABEL:  func @all
// CHECK-NOT:    scf.
// CHECK:        return
func.func @all(%a: index, %b: index, %c: i1, %x: f32) -> f32 {
  %one = arith.constant 1 : index
  %first = scf.if %c -> f32 {
    %inner = scf.if %c -> f32 {
      scf.yield %x : f32
    } else {
      %sum = arith.addf %x, %x : f32
      scf.yield %sum : f32
    }
    scf.yield %inner : f32
  } else {
    %neg = arith.negf %x : f32
    scf.yield %neg : f32
  }
  %second = scf.for %i = %a to %b step %one iter_args(%s = %first) -> f32 {
    scf.if %c {
      "test.effect"(%s) : (f32) -> ()
    }
    %next = arith.mulf %s, %x : f32
    scf.yield %next : f32
  }
  %third = scf.while (%s = %second) : (f32) -> f32 {
    %sum = scf.if %c -> f32 {
      scf.yield %x : f32
    } else {
      scf.yield %s : f32
    }
    scf.condition(%c) %sum : f32
  } do {
  ^bb0(%s: f32):
    scf.if %c {
      "test.effect"(%s) : (f32) -> ()
    }
    %next = arith.mulf %s, %s : f32
    scf.yield %next : f32
  }
  %fourth = scf.execute_region -> f32 {
    %sum = arith.addf %third, %x : f32
    scf.yield %sum : f32
  }
  %fifth = scf.index_switch %a -> f32
  case 2 {
    scf.yield %fourth : f32
  }
  default {
    scf.yield %x : f32
  }
  scf.parallel (%i) = (%a) to (%b) step (%one) {
    "test.effect"(%fifth) : (f32) -> ()
    scf.reduce
  }
  return %fifth : f32
}

// RUN: %python %S/unrolled_branches.py 8000 > %t.branches
// RUN: bash -c 'ulimit -v 1500000; fly-opt %t.branches --fly-scf-to-cf' | FileCheck %s --check-prefix=MANY

// Memory, and with it time, is linear in the branches of a block. Under convert-scf-to-cf these need 2.4 GB.
// MANY-NOT: scf.
// MANY:     return
