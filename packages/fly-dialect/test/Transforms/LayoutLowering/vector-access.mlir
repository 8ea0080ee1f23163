// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-layout-lowering | FileCheck %s

// CHECK-LABEL: func.func @contiguous(
// CHECK-SAME: %[[P:.+]]: !fly.ptr<f32, global>
func.func @contiguous(%p: !fly.ptr<f32, global>) -> vector<8xf32> {
  // CHECK-NEXT: %[[V:.+]] = fly.ptr.load(%[[P]]) : (!fly.ptr<f32, global>) -> vector<8xf32>
  // CHECK-NEXT: return %[[V]]
  %layout = fly.static : !fly.layout<8:1>
  %tensor = fly.make_view(%p, %layout) : (!fly.ptr<f32, global>, !fly.layout<8:1>) -> !fly.memref<f32, global, 8:1>
  %v = fly.memref.load_vec(%tensor) : (!fly.memref<f32, global, 8:1>) -> vector<8xf32>
  return %v : vector<8xf32>
}

// CHECK-LABEL: func.func @chunks(
// CHECK-SAME: %[[ARG0:.+]]: !fly.ptr<f32, global>, %[[ARG1:.+]]: vector<8xf32>) -> vector<8xf32>
// CHECK: %[[CST:.+]] = arith.constant dense<0.000000e+00> : vector<8xf32>
// CHECK: %[[V0:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<0>
// CHECK: %[[V1:.+]] = fly.add_offset(%[[ARG0]], %[[V0]]) : (!fly.ptr<f32, global>, !fly.int_tuple<0>) -> !fly.ptr<f32, global>
// CHECK: %[[V2:.+]] = fly.ptr.load(%[[V1]]) : (!fly.ptr<f32, global>) -> vector<4xf32>
// CHECK: %[[V3:.+]] = vector.insert_strided_slice %[[V2]], %[[CST]] {offsets = [0], strides = [1]} : vector<4xf32> into vector<8xf32>
// CHECK: %[[V4:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<16>
// CHECK: %[[V5:.+]] = fly.add_offset(%[[ARG0]], %[[V4]]) : (!fly.ptr<f32, global>, !fly.int_tuple<16>) -> !fly.ptr<f32, global>
// CHECK: %[[V6:.+]] = fly.ptr.load(%[[V5]]) : (!fly.ptr<f32, global>) -> vector<4xf32>
// CHECK: %[[V7:.+]] = vector.insert_strided_slice %[[V6]], %[[V3]] {offsets = [4], strides = [1]} : vector<4xf32> into vector<8xf32>
// CHECK: %[[V8:.+]] = vector.extract_strided_slice %[[ARG1]] {offsets = [0], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
// CHECK: fly.ptr.store(%[[V8]], %[[V1]]) : (vector<4xf32>, !fly.ptr<f32, global>) -> ()
// CHECK: %[[V9:.+]] = vector.extract_strided_slice %[[ARG1]] {offsets = [4], sizes = [4], strides = [1]} : vector<8xf32> to vector<4xf32>
// CHECK: fly.ptr.store(%[[V9]], %[[V5]]) : (vector<4xf32>, !fly.ptr<f32, global>) -> ()
// CHECK: return %[[V7]] : vector<8xf32>
func.func @chunks(%p: !fly.ptr<f32, global>, %w: vector<8xf32>) -> vector<8xf32> {
  %layout = fly.static : !fly.layout<(4,2):(1,16)>
  %tensor = fly.make_view(%p, %layout) : (!fly.ptr<f32, global>, !fly.layout<(4,2):(1,16)>) -> !fly.memref<f32, global, (4,2):(1,16)>
  %v = fly.memref.load_vec(%tensor) : (!fly.memref<f32, global, (4,2):(1,16)>) -> vector<8xf32>
  fly.memref.store_vec(%w, %tensor) : (vector<8xf32>, !fly.memref<f32, global, (4,2):(1,16)>) -> ()
  return %v : vector<8xf32>
}

// Modes that continue one another are one access, as the sums of a matrix instruction.
// CHECK-LABEL: func.func @merged(
func.func @merged(%p: !fly.ptr<f32, register>) -> vector<16xf32> {
  // CHECK: %[[V:.+]] = fly.ptr.load(%{{.+}}) : (!fly.ptr<f32, register>) -> vector<16xf32>
  // CHECK-NEXT: fly.ptr.store(%[[V]], %{{.+}}) : (vector<16xf32>, !fly.ptr<f32, register>) -> ()
  // CHECK-NEXT: return %[[V]]
  %layout = fly.static : !fly.layout<((2,2),1,4):((1,2),7,4)>
  %tensor = fly.make_view(%p, %layout) : (!fly.ptr<f32, register>, !fly.layout<((2,2),1,4):((1,2),7,4)>) -> !fly.memref<f32, register, ((2,2),1,4):((1,2),7,4)>
  %v = fly.memref.load_vec(%tensor) : (!fly.memref<f32, register, ((2,2),1,4):((1,2),7,4)>) -> vector<16xf32>
  fly.memref.store_vec(%v, %tensor) : (vector<16xf32>, !fly.memref<f32, register, ((2,2),1,4):((1,2),7,4)>) -> ()
  return %v : vector<16xf32>
}

// CHECK-LABEL: func.func @one_element(
func.func @one_element(%p: !fly.ptr<f32, register>) -> vector<1xf32> {
  // CHECK: %[[V:.+]] = fly.ptr.load(%{{.+}}) : (!fly.ptr<f32, register>) -> vector<1xf32>
  // CHECK-NEXT: return %[[V]]
  %layout = fly.static : !fly.layout<(1,1):(1,7)>
  %tensor = fly.make_view(%p, %layout) : (!fly.ptr<f32, register>, !fly.layout<(1,1):(1,7)>) -> !fly.memref<f32, register, (1,1):(1,7)>
  %v = fly.memref.load_vec(%tensor) : (!fly.memref<f32, register, (1,1):(1,7)>) -> vector<1xf32>
  return %v : vector<1xf32>
}

// Some do, and others do not.
// CHECK-LABEL: func.func @merged_in_part(
func.func @merged_in_part(%p: !fly.ptr<f32, register>, %w: vector<16xf32>) {
  // CHECK: %[[LOW:.+]] = vector.extract_strided_slice %{{.+}} {offsets = [0], sizes = [8], strides = [1]}
  // CHECK-NEXT: fly.ptr.store(%[[LOW]], %{{.+}}) : (vector<8xf32>, !fly.ptr<f32, register>) -> ()
  // CHECK: %[[HIGH:.+]] = vector.extract_strided_slice %{{.+}} {offsets = [8], sizes = [8], strides = [1]}
  // CHECK-NEXT: fly.ptr.store(%[[HIGH]], %{{.+}}) : (vector<8xf32>, !fly.ptr<f32, register>) -> ()
  %layout = fly.static : !fly.layout<((4,2),2):((1,4),16)>
  %tensor = fly.make_view(%p, %layout) : (!fly.ptr<f32, register>, !fly.layout<((4,2),2):((1,4),16)>) -> !fly.memref<f32, register, ((4,2),2):((1,4),16)>
  fly.memref.store_vec(%w, %tensor) : (vector<16xf32>, !fly.memref<f32, register, ((4,2),2):((1,4),16)>) -> ()
  return
}

// A contiguous mode that is not the first one.
// CHECK-LABEL: func.func @transposed(
func.func @transposed(%p: !fly.ptr<f32, global>) -> vector<8xf32> {
  // CHECK: %[[LOADED:.+]] = vector.insert_strided_slice {{.+}} {offsets = [4], strides = [1]}
  // CHECK: %[[TURNED:.+]] = vector.shuffle %[[LOADED]], %[[LOADED]] [0, 4, 1, 5, 2, 6, 3, 7] : vector<8xf32>, vector<8xf32>
  // CHECK: return %[[TURNED]]
  %layout = fly.static : !fly.layout<(2,4):(16,1)>
  %tensor = fly.make_view(%p, %layout) : (!fly.ptr<f32, global>, !fly.layout<(2,4):(16,1)>) -> !fly.memref<f32, global, (2,4):(16,1)>
  %v = fly.memref.load_vec(%tensor) : (!fly.memref<f32, global, (2,4):(16,1)>) -> vector<8xf32>
  return %v : vector<8xf32>
}

// Four accesses, at 0, 8, 64 and 72.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME: %[[ARG0:.+]]: !fly.ptr<f32, global>) -> vector<16xf32>
// CHECK: %[[CST:.+]] = arith.constant dense<0.000000e+00> : vector<16xf32>
// CHECK: %[[V0:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<0>
// CHECK: %[[V1:.+]] = fly.add_offset(%[[ARG0]], %[[V0]]) : (!fly.ptr<f32, global>, !fly.int_tuple<0>) -> !fly.ptr<f32, global>
// CHECK: %[[V2:.+]] = fly.ptr.load(%[[V1]]) : (!fly.ptr<f32, global>) -> vector<4xf32>
// CHECK: %[[V3:.+]] = vector.insert_strided_slice %[[V2]], %[[CST]] {offsets = [0], strides = [1]} : vector<4xf32> into vector<16xf32>
// CHECK: %[[V4:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<8>
// CHECK: %[[V5:.+]] = fly.add_offset(%[[ARG0]], %[[V4]]) : (!fly.ptr<f32, global>, !fly.int_tuple<8>) -> !fly.ptr<f32, global>
// CHECK: %[[V6:.+]] = fly.ptr.load(%[[V5]]) : (!fly.ptr<f32, global>) -> vector<4xf32>
// CHECK: %[[V7:.+]] = vector.insert_strided_slice %[[V6]], %[[V3]] {offsets = [4], strides = [1]} : vector<4xf32> into vector<16xf32>
// CHECK: %[[V8:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<64>
// CHECK: %[[V9:.+]] = fly.add_offset(%[[ARG0]], %[[V8]]) : (!fly.ptr<f32, global>, !fly.int_tuple<64>) -> !fly.ptr<f32, global>
// CHECK: %[[V10:.+]] = fly.ptr.load(%[[V9]]) : (!fly.ptr<f32, global>) -> vector<4xf32>
// CHECK: %[[V11:.+]] = vector.insert_strided_slice %[[V10]], %[[V7]] {offsets = [8], strides = [1]} : vector<4xf32> into vector<16xf32>
// CHECK: %[[V12:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<72>
// CHECK: %[[V13:.+]] = fly.add_offset(%[[ARG0]], %[[V12]]) : (!fly.ptr<f32, global>, !fly.int_tuple<72>) -> !fly.ptr<f32, global>
// CHECK: %[[V14:.+]] = fly.ptr.load(%[[V13]]) : (!fly.ptr<f32, global>) -> vector<4xf32>
// CHECK: %[[V15:.+]] = vector.insert_strided_slice %[[V14]], %[[V11]] {offsets = [12], strides = [1]} : vector<4xf32> into vector<16xf32>
// CHECK: %[[V16:.+]] = vector.extract_strided_slice %[[V15]] {offsets = [0], sizes = [8], strides = [1]}
// CHECK: %[[V17:.+]] = vector.shuffle %[[V16]], %[[V16]] [0, 4, 1, 5, 2, 6, 3, 7]
// CHECK: %[[V18:.+]] = vector.insert_strided_slice %[[V17]], %{{.+}} {offsets = [0], strides = [1]}
// CHECK: %[[V19:.+]] = vector.extract_strided_slice %[[V15]] {offsets = [8], sizes = [8], strides = [1]}
// CHECK: %[[V20:.+]] = vector.shuffle %[[V19]], %[[V19]] [0, 4, 1, 5, 2, 6, 3, 7]
// CHECK: %[[V21:.+]] = vector.insert_strided_slice %[[V20]], %[[V18]] {offsets = [8], strides = [1]}
// CHECK: return %[[V21]] : vector<16xf32>
func.func @nested(%p: !fly.ptr<f32, global>) -> vector<16xf32> {
  %layout = fly.static : !fly.layout<((2,4),2):((8,1),64)>
  %tensor = fly.make_view(%p, %layout) : (!fly.ptr<f32, global>, !fly.layout<((2,4),2):((8,1),64)>) -> !fly.memref<f32, global, ((2,4),2):((8,1),64)>
  %v = fly.memref.load_vec(%tensor) : (!fly.memref<f32, global, ((2,4),2):((8,1),64)>) -> vector<16xf32>
  return %v : vector<16xf32>
}

// CHECK-LABEL: func.func @scalars(
// CHECK-SAME: %[[ARG0:.+]]: !fly.ptr<f32, global>) -> vector<4xf32>
// CHECK: %[[CST:.+]] = arith.constant dense<0.000000e+00> : vector<4xf32>
// CHECK: %[[V0:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<0>
// CHECK: %[[V1:.+]] = fly.add_offset(%[[ARG0]], %[[V0]]) : (!fly.ptr<f32, global>, !fly.int_tuple<0>) -> !fly.ptr<f32, global>
// CHECK: %[[V2:.+]] = fly.ptr.load(%[[V1]]) : (!fly.ptr<f32, global>) -> f32
// CHECK: %[[V3:.+]] = vector.insert %[[V2]], %[[CST]] [0] : f32 into vector<4xf32>
// CHECK: %[[V4:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<16>
// CHECK: %[[V5:.+]] = fly.add_offset(%[[ARG0]], %[[V4]]) : (!fly.ptr<f32, global>, !fly.int_tuple<16>) -> !fly.ptr<f32, global>
// CHECK: %[[V6:.+]] = fly.ptr.load(%[[V5]]) : (!fly.ptr<f32, global>) -> f32
// CHECK: %[[V7:.+]] = vector.insert %[[V6]], %[[V3]] [1] : f32 into vector<4xf32>
// CHECK: %[[V8:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<2>
// CHECK: %[[V9:.+]] = fly.add_offset(%[[ARG0]], %[[V8]]) : (!fly.ptr<f32, global>, !fly.int_tuple<2>) -> !fly.ptr<f32, global>
// CHECK: %[[V10:.+]] = fly.ptr.load(%[[V9]]) : (!fly.ptr<f32, global>) -> f32
// CHECK: %[[V11:.+]] = vector.insert %[[V10]], %[[V7]] [2] : f32 into vector<4xf32>
// CHECK: %[[V12:.+]] = fly.make_int_tuple() : () -> !fly.int_tuple<18>
// CHECK: %[[V13:.+]] = fly.add_offset(%[[ARG0]], %[[V12]]) : (!fly.ptr<f32, global>, !fly.int_tuple<18>) -> !fly.ptr<f32, global>
// CHECK: %[[V14:.+]] = fly.ptr.load(%[[V13]]) : (!fly.ptr<f32, global>) -> f32
// CHECK: %[[V15:.+]] = vector.insert %[[V14]], %[[V11]] [3] : f32 into vector<4xf32>
// CHECK: return %[[V15]] : vector<4xf32>
func.func @scalars(%p: !fly.ptr<f32, global>) -> vector<4xf32> {
  %layout = fly.static : !fly.layout<(2,2):(16,2)>
  %tensor = fly.make_view(%p, %layout) : (!fly.ptr<f32, global>, !fly.layout<(2,2):(16,2)>) -> !fly.memref<f32, global, (2,2):(16,2)>
  %v = fly.memref.load_vec(%tensor) : (!fly.memref<f32, global, (2,2):(16,2)>) -> vector<4xf32>
  return %v : vector<4xf32>
}

// CHECK-LABEL: func.func @coordinates(
// CHECK-SAME: %[[BASE:.+]]: i64
func.func @coordinates(%base: i64) -> vector<2xi64> {
  // CHECK: %[[V0:.+]] = vector.insert %[[BASE]], %{{.+}} [0] : i64 into vector<2xi64>
  // CHECK: %[[NEXT:.+]] = arith.addi %[[BASE]], %{{.+}} : i64
  // CHECK: vector.insert %[[NEXT]], %[[V0]] [1]
  %iter = fly.make_int_tuple(%base) : (i64) -> !fly.int_tuple<?{i64}>
  %layout = fly.static : !fly.layout<2:3>
  %tensor = fly.make_view(%iter, %layout) : (!fly.int_tuple<?{i64}>, !fly.layout<2:3>) -> !fly.coord_tensor<?{i64}, 2:3>
  %v = fly.memref.load_vec(%tensor) : (!fly.coord_tensor<?{i64}, 2:3>) -> vector<2xi64>
  return %v : vector<2xi64>
}
