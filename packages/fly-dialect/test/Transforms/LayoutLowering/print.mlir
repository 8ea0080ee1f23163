// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-layout-lowering | FileCheck %s

// CHECK-LABEL: gpu.func @kernel(
// CHECK-SAME: %[[N:.+]]: i32, %[[M:.+]]: i64, %[[V:.+]]: vector<2xf16>, %[[B:.+]]: i1
gpu.module @module {
  gpu.func @kernel(%n: i32, %m: i64, %v: vector<2xf16>, %b: i1) kernel {
    %tuple = fly.make_int_tuple(%n, %m) : (i32, i64) -> !fly.int_tuple<(?,(4,?{i64}))>
    // CHECK-DAG: %[[V0:.+]] = arith.extf %{{.+}} : f16 to f32
    // CHECK-DAG: %[[TRUTH:.+]] = arith.extui %[[B]] : i1 to i32
    // CHECK: gpu.printf "t=(%d,(4,%ld)) 100%% v=[%.2f, %.2f] %d\0A", %[[N]], %[[M]], %[[V0]], %{{.+}}, %[[TRUTH]]
    fly.print(%tuple, %v, %b) {format = "t={} 100% v={} {}{}"} : (!fly.int_tuple<(?,(4,?{i64}))>, vector<2xf16>, i1) -> ()
    // CHECK: gpu.printf "(4,8):(8,1) S<2,0,3>\0A"
    %layout = fly.static : !fly.layout<(4,8):(8,1)>
    %swizzle = fly.static : !fly.swizzle<S<2,0,3>>
    fly.print(%layout, %swizzle) {format = ""} : (!fly.layout<(4,8):(8,1)>, !fly.swizzle<S<2,0,3>>) -> ()
    gpu.return
  }
}

// CHECK-LABEL: func.func @host(
// CHECK-SAME: %[[ARG0:.+]]: index)
// CHECK: %[[V0:.+]] = arith.index_cast %[[ARG0]] : index to i64
// CHECK: vector.print str "x="
// CHECK: vector.print %[[V0]] : i64 punctuation <no_punctuation>
// CHECK: vector.print
// CHECK: return
func.func @host(%x: index) {
  fly.print(%x) {format = "x={}"} : (index) -> ()
  return
}
