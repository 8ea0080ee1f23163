// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-rewrite-func-signature --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @static_sink(
// CHECK-SAME: %{{.+}}: i32) -> i32
func.func @static_sink(%layout: !fly.layout<(4,8):(8,1)>, %n: i32, %tile: !fly.tile<[4|8]>) -> i32 {
  // CHECK: %[[LAYOUT:.+]] = fly.static : !fly.layout<(4,8):(8,1)>
  // CHECK: fly.size(%[[LAYOUT]])
  %size = fly.size(%layout) : (!fly.layout<(4,8):(8,1)>) -> !fly.int_tuple<32>
  %scalar = fly.get_scalar(%size) : (!fly.int_tuple<32>) -> i32
  %sum = arith.addi %scalar, %n : i32
  return %sum : i32
}

// -----

// CHECK-LABEL: func.func @dynamic_tuple(
// CHECK-SAME: %[[ARG0:.+]]: !llvm.struct<packed (i32, i64)>) -> !llvm.struct<packed (i64)>
// CHECK: %[[V0:.+]] = llvm.extractvalue %[[ARG0]][0] : !llvm.struct<packed (i32, i64)>
// CHECK: %[[V1:.+]] = llvm.extractvalue %[[ARG0]][1] : !llvm.struct<packed (i32, i64)>
// CHECK: %[[V2:.+]] = fly.make_int_tuple(%[[V0]], %[[V1]]) : (i32, i64) -> !fly.int_tuple<(?,(4,?{i64}))>
// CHECK: %[[V3:.+]] = fly.get(%[[V2]]) {mode = array<i32: 1, 1>} : (!fly.int_tuple<(?,(4,?{i64}))>) -> !fly.int_tuple<?{i64}>
// CHECK: %[[V4:.+]] = llvm.mlir.undef : !llvm.struct<packed (i64)>
// CHECK: %[[V5:.+]] = fly.get_scalar(%[[V3]]) : (!fly.int_tuple<?{i64}>) -> i64
// CHECK: %[[V6:.+]] = llvm.insertvalue %[[V5]], %[[V4]][0] : !llvm.struct<packed (i64)>
// CHECK: return %[[V6]] : !llvm.struct<packed (i64)>
func.func @dynamic_tuple(%tuple: !fly.int_tuple<(?,(4,?{i64}))>) -> !fly.int_tuple<?{i64}> {
  %part = fly.get(%tuple) {mode = array<i32: 1, 1>} : (!fly.int_tuple<(?,(4,?{i64}))>) -> !fly.int_tuple<?{i64}>
  return %part : !fly.int_tuple<?{i64}>
}

// -----

// CHECK-LABEL: func.func @memrefs(
// CHECK-SAME: %[[STATIC:.+]]: !fly.ptr<f16, global>,
// CHECK-SAME: %[[DYNAMIC:.+]]: !fly.ptr<f16, shared>, %[[LAYOUT:.+]]: !llvm.struct<packed (struct<packed (i32)>, struct<packed (i32)>)>
func.func @memrefs(%static: !fly.memref<f16, global, (4,8):(8,1)>, %dynamic: !fly.memref<f16, shared, (16,?):(1,?)>) {
  // CHECK-DAG: %[[SHAPES:.+]] = llvm.extractvalue %[[LAYOUT]][0]
  // CHECK-DAG: %[[EXTENT:.+]] = llvm.extractvalue %[[SHAPES]][0]
  // CHECK-DAG: %[[STRIDES:.+]] = llvm.extractvalue %[[LAYOUT]][1]
  // CHECK-DAG: %[[STRIDE:.+]] = llvm.extractvalue %[[STRIDES]][0]
  // CHECK-DAG: fly.make_int_tuple(%[[EXTENT]]) : (i32) -> !fly.int_tuple<(16,?)>
  // CHECK-DAG: fly.make_int_tuple(%[[STRIDE]]) : (i32) -> !fly.int_tuple<(1,?)>
  // CHECK-DAG: %[[S:.+]] = fly.make_view(%[[STATIC]],
  // CHECK-DAG: %[[D:.+]] = fly.make_view(%[[DYNAMIC]],
  // CHECK: fly.get_iter(%[[S]])
  %a = fly.get_iter(%static) : (!fly.memref<f16, global, (4,8):(8,1)>) -> !fly.ptr<f16, global>
  // CHECK: fly.get_iter(%[[D]])
  %b = fly.get_iter(%dynamic) : (!fly.memref<f16, shared, (16,?):(1,?)>) -> !fly.ptr<f16, shared>
  return
}

// -----

// Only the types of a declaration change.
// CHECK: func.func private @declared(!llvm.struct<packed (struct<packed (i32)>)>, !fly.ptr<f16, global>) -> (!fly.ptr<f32, register>, i32)
func.func private @declared(!fly.layout<4:?>, !fly.tile<[4|*]>, !fly.ptr<f16, global>) -> (!fly.memref<f32, register, 4:1>, !fly.int_tuple<7>, i32)

// CHECK-LABEL: func.func @calls(
func.func @calls(%layout: !fly.layout<4:?>, %pointer: !fly.ptr<f16, global>) -> i32 {
  %tile = fly.static : !fly.tile<[4|*]>
  // CHECK: %[[RESULTS:.+]]:2 = call @declared(%{{.+}}, %{{.+}}) : (!llvm.struct<packed (struct<packed (i32)>)>, !fly.ptr<f16, global>) -> (!fly.ptr<f32, register>, i32)
  %results:3 = call @declared(%layout, %tile, %pointer) : (!fly.layout<4:?>, !fly.tile<[4|*]>, !fly.ptr<f16, global>) -> (!fly.memref<f32, register, 4:1>, !fly.int_tuple<7>, i32)
  // CHECK: fly.make_view(%[[RESULTS]]#0,
  %iter = fly.get_iter(%results#0) : (!fly.memref<f32, register, 4:1>) -> !fly.ptr<f32, register>
  // CHECK: return %[[RESULTS]]#1
  return %results#2 : i32
}

// -----

// CHECK-LABEL: func.func @loop(
// CHECK-SAME: %[[INIT:.+]]: !llvm.struct<packed (i32)>
func.func @loop(%init: !fly.int_tuple<(?,4)>, %lb: index, %ub: index, %step: index) -> !fly.int_tuple<(?,4)> {
  %one = fly.static : !fly.int_tuple<(1,0)>
  // CHECK: scf.for {{.*}} iter_args(%[[ITER:.+]] = %{{.+}}) -> (!llvm.struct<packed (i32)>)
  %result = scf.for %i = %lb to %ub step %step iter_args(%carried = %init) -> (!fly.int_tuple<(?,4)>) {
    // CHECK: %[[LEAF:.+]] = llvm.extractvalue %[[ITER]][0]
    // CHECK: %[[TUPLE:.+]] = fly.make_int_tuple(%[[LEAF]])
    // CHECK: fly.int_tuple_add(%[[TUPLE]]
    %next = fly.int_tuple_add(%carried, %one) : (!fly.int_tuple<(?,4)>, !fly.int_tuple<(1,0)>) -> !fly.int_tuple<(?,4)>
    // CHECK: scf.yield %{{.+}} : !llvm.struct<packed (i32)>
    scf.yield %next : !fly.int_tuple<(?,4)>
  }
  return %result : !fly.int_tuple<(?,4)>
}

// -----

// CHECK-LABEL: func.func @conditional(
func.func @conditional(%condition: i1, %a: !fly.layout<(4,?):(1,4)>, %b: !fly.layout<(4,?):(1,4)>) -> !fly.layout<(4,?):(1,4)> {
  // CHECK: scf.if %{{.+}} -> (!llvm.struct<packed (struct<packed (i32)>)>)
  %result = scf.if %condition -> !fly.layout<(4,?):(1,4)> {
    scf.yield %a : !fly.layout<(4,?):(1,4)>
  } else {
    scf.yield %b : !fly.layout<(4,?):(1,4)>
  }
  return %result : !fly.layout<(4,?):(1,4)>
}

// -----

module attributes {gpu.container_module} {
gpu.module @kernels {
  // CHECK: gpu.func @kernel(%[[POINTER:.+]]: !fly.ptr<f32, global>, %{{.+}}: !llvm.struct<packed (struct<packed (i32)>)>) kernel
  gpu.func @kernel(%tensor: !fly.memref<f32, global, ?:1>, %layout: !fly.layout<4:1>) kernel {
    // CHECK: %[[VIEW:.+]] = fly.make_view(%[[POINTER]],
    // CHECK: fly.get_iter(%[[VIEW]])
    %iter = fly.get_iter(%tensor) : (!fly.memref<f32, global, ?:1>) -> !fly.ptr<f32, global>
    gpu.return
  }
}
// CHECK-LABEL: func.func @launches(
func.func @launches(%tensor: !fly.memref<f32, global, ?:1>, %n: index) {
  %layout = fly.static : !fly.layout<4:1>
  // CHECK: gpu.launch_func @kernels::@kernel
  // CHECK-SAME: args(%{{.+}} : !fly.ptr<f32, global>, %{{.+}} : !llvm.struct<packed (struct<packed (i32)>)>)
  gpu.launch_func @kernels::@kernel blocks in (%n, %n, %n) threads in (%n, %n, %n) args(%tensor : !fly.memref<f32, global, ?:1>, %layout : !fly.layout<4:1>)
  return
}
}
