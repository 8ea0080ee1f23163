// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --convert-fly-messages-to-llvm --split-input-file | FileCheck %s

// CHECK: module attributes
// CHECK-SAME: {format = "n=%d 100%% %g %lu\0A", kind = "host", types = [i32, f32, i64]}
// CHECK-SAME: {format = "again", kind = "host", types = []}
// CHECK-SAME: {format = "argument 'n': got %d", kind = "host_assert", types = [i32]}
// CHECK: llvm.func @flydsl_print(!llvm.ptr, i32, !llvm.ptr) -> i32
// CHECK: llvm.mlir.global external @flydsl_artifact() {addr_space = 0 : i32} : !llvm.struct<()>
// CHECK: func.func @host(%[[N:.*]]: i32, %[[F:.*]]: f32, %[[WIDE:.*]]: i64, %[[BAD:.*]]: i1)
func.func @host(%n: i32, %f: f32, %wide: i64, %bad: i1) {
  // The records are on the stack of the function, once, whatever loop prints: one word, at least one, and four.
  // CHECK: %[[WORDS2:.*]] = llvm.mlir.constant(1 : i32)
  // CHECK: %[[RECORD2:.*]] = llvm.alloca %[[WORDS2]] x i32
  // CHECK: llvm.alloca
  // CHECK: %[[WORDS0:.*]] = llvm.mlir.constant(4 : i32)
  // CHECK: %[[RECORD0:.*]] = llvm.alloca %[[WORDS0]] x i32
  // CHECK: llvm.store %[[N]]
  // CHECK: llvm.store %[[F]]
  // CHECK: llvm.getelementptr %[[RECORD0]][8]
  // CHECK: llvm.store %[[WIDE]]
  // CHECK: %[[TABLE:.*]] = llvm.mlir.addressof @flydsl_artifact
  // CHECK: %[[ONE:.*]] = llvm.mlir.constant(1 : i32)
  // CHECK: llvm.call @flydsl_print(%[[TABLE]], %[[ONE]], %[[RECORD0]])
  vector.print str "n="
  vector.print %n : i32 punctuation <no_punctuation>
  vector.print str " 100% "
  vector.print %f : f32 punctuation <no_punctuation>
  vector.print str " \01"
  vector.print %wide : i64 punctuation <no_punctuation>
  vector.print punctuation <newline>
  // CHECK: llvm.mlir.constant(2 : i32)
  // CHECK: llvm.call @flydsl_print
  vector.print str "again"
  // CHECK: scf.if %[[BAD]]
  scf.if %bad {
    // CHECK: llvm.store %[[N]]
    // CHECK: llvm.mlir.constant(3 : i32)
    // CHECK: llvm.call @flydsl_print
    vector.print str "argument 'n': got " {fly.assertion}
    vector.print %n : i32 punctuation <no_punctuation> {fly.assertion}
    vector.print punctuation <newline> {fly.assertion}
  }
  // CHECK-NOT: vector.print
  return
}

// -----

// A program that says nothing stays as it is.
// CHECK: module {
// CHECK-NEXT: func.func @quiet()
func.func @quiet() {
  return
}
