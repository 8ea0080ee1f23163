// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-argument-effects --split-input-file --allow-unregistered-dialect | FileCheck %s

!tensor = !fly.memref<f32, global, ?:1>

// CHECK-LABEL: gpu.module @kernels
module attributes {gpu.container_module} {
gpu.module @kernels {
  gpu.func @kernel(%read: !tensor, %written: !tensor, %lost: !tensor, %n: i32) kernel {
    %c = fly.make_int_tuple(%n) : (i32) -> !fly.int_tuple<?>
    %x = fly.memref.load(%read, %c) : (!tensor, !fly.int_tuple<?>) -> f32
    %iter = fly.get_iter(%written) : (!tensor) -> !fly.ptr<f32, global>
    %there = fly.add_offset(%iter, %c) : (!fly.ptr<f32, global>, !fly.int_tuple<?>) -> !fly.ptr<f32, global>
    fly.ptr.store(%x, %there) : (f32, !fly.ptr<f32, global>) -> ()
    %base = fly.get_iter(%lost) : (!tensor) -> !fly.ptr<f32, global>
    %address = fly.ptrtoint(%base) : (!fly.ptr<f32, global>) -> i64
    gpu.return
  }
  gpu.func @views(%x: !tensor) kernel {
    %layout = fly.get_layout(%x) : (!tensor) -> !fly.layout<?:1>
    gpu.return
  }
}
// Each through the launch: read, written through a view, made an address; a scalar and a stream are no memory.
// CHECK: func.func @host
// CHECK-SAME: attributes {fly.argument_effects = ["read", "write", "may_write", "read", "read"]}
func.func @host(%read: !tensor, %written: !tensor, %lost: !tensor, %n: i32, %stream: !llvm.ptr) {
  %one = arith.constant 1 : index
  gpu.launch_func <%stream : !llvm.ptr> @kernels::@kernel blocks in (%one, %one, %one) threads in (%one, %one, %one)
    args(%read : !tensor, %written : !tensor, %lost : !tensor, %n : i32)
  return
}
// The worst of several launches counts, whatever the position of the argument.
// CHECK: func.func @twice
// CHECK-SAME: attributes {fly.argument_effects = ["write", "read", "read"]}
func.func @twice(%x: !tensor, %n: i32, %stream: !llvm.ptr) {
  %one = arith.constant 1 : index
  gpu.launch_func <%stream : !llvm.ptr> @kernels::@views blocks in (%one, %one, %one) threads in (%one, %one, %one)
    args(%x : !tensor)
  gpu.launch_func <%stream : !llvm.ptr> @kernels::@kernel blocks in (%one, %one, %one) threads in (%one, %one, %one)
    args(%x : !tensor, %x : !tensor, %x : !tensor, %n : i32)
  return
}
// What goes into control flow is not followed.
// CHECK: func.func @yielded
// CHECK-SAME: attributes {fly.argument_effects = ["may_write", "may_write"]}
func.func @yielded(%x: !tensor, %if: i1) {
  %t = scf.if %if -> !tensor {
    scf.yield %x : !tensor
  } else {
    scf.yield %x : !tensor
  }
  return
}
}

// -----

// An operation that nobody knows may do anything.
// CHECK: func.func @unknown
// CHECK-SAME: attributes {fly.argument_effects = ["may_write", "read"]}
func.func @unknown(%x: !fly.memref<f32, global, ?:1>, %n: i32) {
  %y = "unknown.view"(%x) : (!fly.memref<f32, global, ?:1>) -> !fly.memref<f32, global, ?:1>
  return
}
