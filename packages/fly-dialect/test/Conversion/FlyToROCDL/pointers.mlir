// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --convert-fly-to-rocdl | FileCheck %s

// CHECK-LABEL: func.func @bare_pointers(
// CHECK-SAME: %[[G:.*]]: !llvm.ptr<1>, %[[S:.*]]: !llvm.ptr<3>)
// CHECK-SAME: -> (!llvm.ptr<1>, !llvm.ptr<3>)
func.func @bare_pointers(%g: !fly.ptr<f16, global>, %s: !fly.ptr<f16, shared>) -> (!llvm.ptr<1>, !llvm.ptr<3>) {
  %0 = fly.to_llvm_ptr(%g) {llvm_address_space = 1 : i32} : (!fly.ptr<f16, global>) -> !llvm.ptr<1>
  %1 = fly.to_llvm_ptr(%s) {llvm_address_space = 3 : i32} : (!fly.ptr<f16, shared>) -> !llvm.ptr<3>
  // CHECK: return %[[G]], %[[S]]
  return %0, %1 : !llvm.ptr<1>, !llvm.ptr<3>
}

// -----

// Offsets count elements, narrow floats as integers.

// CHECK-LABEL: func.func @offsets(
// CHECK-SAME: %[[A:.*]]: !llvm.ptr<1>, %[[B:.*]]: !llvm.ptr<1>, %[[I:.*]]: i32, %[[J:.*]]: i64)
func.func @offsets(%a: !fly.ptr<f32, global>, %b: !fly.ptr<f8E5M2, global>, %i: i32, %j: i64)
    -> (!fly.ptr<f32, global>, !fly.ptr<f32, global>, !fly.ptr<f8E5M2, global>) {
  %s = fly.make_int_tuple() : () -> !fly.int_tuple<12>
  %d = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?>
  %w = fly.make_int_tuple(%j) : (i64) -> !fly.int_tuple<?{i64}>
  // CHECK: %[[C12:.*]] = arith.constant 12 : i32
  // CHECK: llvm.getelementptr %[[A]][%[[C12]]] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %0 = fly.add_offset(%a, %s) : (!fly.ptr<f32, global>, !fly.int_tuple<12>) -> !fly.ptr<f32, global>
  // CHECK: llvm.getelementptr %[[A]][%[[I]]] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
  %1 = fly.add_offset(%a, %d) : (!fly.ptr<f32, global>, !fly.int_tuple<?>) -> !fly.ptr<f32, global>
  // CHECK: llvm.getelementptr %[[B]][%[[J]]] : (!llvm.ptr<1>, i64) -> !llvm.ptr<1>, i8
  %2 = fly.add_offset(%b, %w) : (!fly.ptr<f8E5M2, global>, !fly.int_tuple<?{i64}>) -> !fly.ptr<f8E5M2, global>
  return %0, %1, %2 : !fly.ptr<f32, global>, !fly.ptr<f32, global>, !fly.ptr<f8E5M2, global>
}

// -----

// Alignment is the largest power of two that pointer and swizzle guarantee.

// CHECK-LABEL: func.func @alignment(
// CHECK-SAME: %[[ARG0:.+]]: !llvm.ptr<1>, %[[ARG1:.+]]: !llvm.ptr<3>, %[[ARG2:.+]]: !llvm.ptr<1>)
// CHECK: %[[V0:.+]] = llvm.load %[[ARG0]] {alignment = 16 : i64} : !llvm.ptr<1> -> vector<8xf16>
// CHECK: %[[V1:.+]] = llvm.ptrtoint %[[ARG1]] : !llvm.ptr<3> to i64
// CHECK: %[[C192_I64:.+]] = arith.constant 192 : i64
// CHECK: %[[C3_I64:.+]] = arith.constant 3 : i64
// CHECK: %[[V2:.+]] = arith.andi %[[V1]], %[[C192_I64]] : i64
// CHECK: %[[V3:.+]] = arith.shrui %[[V2]], %[[C3_I64]] : i64
// CHECK: %[[V4:.+]] = arith.xori %[[V1]], %[[V3]] : i64
// CHECK: %[[V5:.+]] = llvm.inttoptr %[[V4]] : i64 to !llvm.ptr<3>
// CHECK: %[[V6:.+]] = llvm.load %[[V5]] {alignment = 8 : i64} : !llvm.ptr<3> -> vector<4xf16>
// CHECK: llvm.store %[[V6]], %[[ARG2]] {alignment = 4 : i64} : vector<4xf16>, !llvm.ptr<1>
// CHECK: %[[V7:.+]] = llvm.ptrtoint %[[ARG1]] : !llvm.ptr<3> to i64
// CHECK: %[[C192_I64_0:.+]] = arith.constant 192 : i64
// CHECK: %[[C3_I64_1:.+]] = arith.constant 3 : i64
// CHECK: %[[V8:.+]] = arith.andi %[[V7]], %[[C192_I64_0]] : i64
// CHECK: %[[V9:.+]] = arith.shrui %[[V8]], %[[C3_I64_1]] : i64
// CHECK: %[[V10:.+]] = arith.xori %[[V7]], %[[V9]] : i64
// CHECK: %[[V11:.+]] = llvm.inttoptr %[[V10]] : i64 to !llvm.ptr<3>
// CHECK: llvm.store %[[V6]], %[[V11]] {alignment = 8 : i64} : vector<4xf16>, !llvm.ptr<3>
// CHECK: return
func.func @alignment(%a: !fly.ptr<f16, global, align<16>>, %b: !fly.ptr<f16, shared, align<32>, S<2,3,3>>,
                     %c: !fly.ptr<f16, global, align<12>>) {
  %0 = fly.ptr.load(%a) : (!fly.ptr<f16, global, align<16>>) -> vector<8xf16>
  %1 = fly.ptr.load(%b) : (!fly.ptr<f16, shared, align<32>, S<2,3,3>>) -> vector<4xf16>
  fly.ptr.store(%1, %c) : (vector<4xf16>, !fly.ptr<f16, global, align<12>>) -> ()
  fly.ptr.store(%1, %b) : (vector<4xf16>, !fly.ptr<f16, shared, align<32>, S<2,3,3>>) -> ()
  return
}

// -----

// One global per dynamic shared memory, one per allocation.

gpu.module @kernels {
  // CHECK-DAG: llvm.mlir.global external @__dynamic_shared_0() {addr_space = 3 : i32, alignment = 1024 : i64, dso_local} : !llvm.array<0 x i8>
  // CHECK-DAG: llvm.mlir.global external @__shared_alloc_0() {addr_space = 3 : i32, alignment = 16 : i64, dso_local} : !llvm.array<1024 x i8>
  // CHECK-DAG: llvm.mlir.global external @__shared_alloc_1() {addr_space = 3 : i32, alignment = 128 : i64, dso_local} : !llvm.array<64 x i8>
  // CHECK-NOT: @__dynamic_shared_1
  // CHECK-LABEL: gpu.func @shared
  gpu.func @shared(%v: f32) {
    // CHECK: %[[BASE:.*]] = llvm.mlir.addressof @__dynamic_shared_0 : !llvm.ptr<3>
    // CHECK: llvm.getelementptr %[[BASE]][0] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %0 = fly.get_dyn_shared() : !fly.ptr<i8, shared, align<1024>>
    // CHECK: llvm.mlir.addressof @__dynamic_shared_0
    %1 = fly.get_dyn_shared() : !fly.ptr<i8, shared, align<1024>>
    // CHECK: %[[A:.*]] = llvm.mlir.addressof @__shared_alloc_0 : !llvm.ptr<3>
    %2 = fly.make_ptr() {dictAttrs = {allocBytes = 1024 : i64, allocAlign = 16 : i64}} : () -> !fly.ptr<f32, shared, align<16>>
    // CHECK: llvm.mlir.addressof @__shared_alloc_1 : !llvm.ptr<3>
    %3 = fly.make_ptr() {dictAttrs = {allocBytes = 64 : i64, allocAlign = 128 : i64}} : () -> !fly.ptr<f32, shared, align<128>>
    // CHECK: llvm.store %{{.*}}, %[[A]] {alignment = 16 : i64} : f32, !llvm.ptr<3>
    fly.ptr.store(%v, %2) : (f32, !fly.ptr<f32, shared, align<16>>) -> ()
    gpu.return
  }
}

// -----

// CHECK-LABEL: func.func @registers(
func.func @registers(%v: vector<4xf32>) -> vector<4xf32> {
  // CHECK: %[[N:.*]] = arith.constant 4 : i64
  // CHECK: %[[P:.*]] = llvm.alloca %[[N]] x f32 : (i64) -> !llvm.ptr<5>
  %0 = fly.make_ptr() {dictAttrs = {allocSize = 4 : i64}} : () -> !fly.ptr<f32, register>
  // CHECK: llvm.store %{{.*}}, %[[P]] {alignment = 4 : i64} : vector<4xf32>, !llvm.ptr<5>
  fly.ptr.store(%v, %0) : (vector<4xf32>, !fly.ptr<f32, register>) -> ()
  // CHECK: llvm.load %[[P]] {alignment = 4 : i64} : !llvm.ptr<5> -> vector<4xf32>
  %1 = fly.ptr.load(%0) : (!fly.ptr<f32, register>) -> vector<4xf32>
  return %1 : vector<4xf32>
}

// -----

// Through a buffer: the offset is in elements until the access.

// CHECK-LABEL: func.func @buffer(
// CHECK-SAME: %[[ARG0:.+]]: !llvm.ptr<1>, %[[ARG1:.+]]: i64, %[[ARG2:.+]]: i32) -> vector<4xf16>
// CHECK: %[[C0_I16:.+]] = arith.constant 0 : i16
// CHECK: %[[C159744_I32:.+]] = arith.constant 159744 : i32
// CHECK: %[[V0:.+]] = rocdl.make.buffer.rsrc %[[ARG0]], %[[C0_I16]], %[[ARG1]], %[[C159744_I32]] : <1> to <8>
// CHECK: %[[V1:.+]] = llvm.mlir.undef : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[C0_I32:.+]] = arith.constant 0 : i32
// CHECK: %[[V2:.+]] = llvm.insertvalue %[[V0]], %[[V1]][0] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[V3:.+]] = llvm.insertvalue %[[C0_I32]], %[[V2]][1] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[V4:.+]] = fly.make_int_tuple(%[[ARG2]]) : (i32) -> !fly.int_tuple<?{div=4}>
// CHECK: %[[V5:.+]] = llvm.extractvalue %[[V3]][1] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[V6:.+]] = arith.addi %[[V5]], %[[ARG2]] : i32
// CHECK: %[[V7:.+]] = llvm.extractvalue %[[V3]][0] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[V8:.+]] = llvm.mlir.undef : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[V9:.+]] = llvm.insertvalue %[[V7]], %[[V8]][0] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[V10:.+]] = llvm.insertvalue %[[V6]], %[[V9]][1] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[C0_I32_0:.+]] = arith.constant 0 : i32
// CHECK: %[[V11:.+]] = llvm.extractvalue %[[V10]][1] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[C2_I32:.+]] = arith.constant 2 : i32
// CHECK: %[[V12:.+]] = arith.muli %[[V11]], %[[C2_I32]] : i32
// CHECK: %[[V13:.+]] = llvm.extractvalue %[[V10]][0] : !llvm.struct<(ptr<8>, i32)>
// CHECK: %[[V14:.+]] = rocdl.raw.ptr.buffer.load %[[V13]], %[[V12]], %[[C0_I32_0]], %[[C0_I32_0]] : vector<4xf16>
// CHECK: return %[[V14]] : vector<4xf16>
func.func @buffer(%base: !fly.ptr<f16, global>, %bytes: i64, %i: i32) -> vector<4xf16> {
  %stride = arith.constant 0 : i16
  %flags = arith.constant 159744 : i32
  %0 = fly.make_ptr(%base, %stride, %bytes, %flags) : (!fly.ptr<f16, global>, i16, i64, i32) -> !fly.ptr<f16, #fly_rocdl.buffer_desc, align<8>>
  %t = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?{div=4}>
  %1 = fly.add_offset(%0, %t) : (!fly.ptr<f16, #fly_rocdl.buffer_desc, align<8>>, !fly.int_tuple<?{div=4}>) -> !fly.ptr<f16, #fly_rocdl.buffer_desc, align<8>>
  %2 = fly.ptr.load(%1) : (!fly.ptr<f16, #fly_rocdl.buffer_desc, align<8>>) -> vector<4xf16>
  return %2 : vector<4xf16>
}

// -----

// CHECK-LABEL: func.func @rsrc(
// CHECK-SAME: %[[P:.*]]: !llvm.struct<(ptr<8>, i32)>)
func.func @rsrc(%p: !fly.ptr<f16, #fly_rocdl.buffer_desc>) -> !llvm.ptr<8> {
  // CHECK: llvm.extractvalue %[[P]][0] : !llvm.struct<(ptr<8>, i32)>
  %0 = fly_rocdl.get_buffer_rsrc(%p) : (!fly.ptr<f16, #fly_rocdl.buffer_desc>) -> !llvm.ptr<8>
  return %0 : !llvm.ptr<8>
}
