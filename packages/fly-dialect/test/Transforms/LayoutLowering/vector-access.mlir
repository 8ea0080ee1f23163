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
// CHECK-SAME: %[[P:.+]]: !fly.ptr<f32, global>
func.func @chunks(%p: !fly.ptr<f32, global>, %w: vector<8xf32>) -> vector<8xf32> {
  // CHECK: %[[ZERO:.+]] = arith.constant dense<0.000000e+00> : vector<8xf32>
  // CHECK: %[[C0:.+]] = fly.ptr.load(%[[P]]) : (!fly.ptr<f32, global>) -> vector<4xf32>
  // CHECK: %[[V0:.+]] = vector.insert_strided_slice %[[C0]], %[[ZERO]] {offsets = [0], strides = [1]}
  // CHECK: %[[NEXT:.+]] = fly.add_offset(%[[P]], %{{.+}}) : (!fly.ptr<f32, global>, !fly.int_tuple<16>)
  // CHECK: %[[C1:.+]] = fly.ptr.load(%[[NEXT]]) : (!fly.ptr<f32, global>) -> vector<4xf32>
  // CHECK: %[[V1:.+]] = vector.insert_strided_slice %[[C1]], %[[V0]] {offsets = [4], strides = [1]}
  %layout = fly.static : !fly.layout<(4,2):(1,16)>
  %tensor = fly.make_view(%p, %layout) : (!fly.ptr<f32, global>, !fly.layout<(4,2):(1,16)>) -> !fly.memref<f32, global, (4,2):(1,16)>
  %v = fly.memref.load_vec(%tensor) : (!fly.memref<f32, global, (4,2):(1,16)>) -> vector<8xf32>
  // CHECK: %[[W0:.+]] = vector.extract_strided_slice %{{.+}} {offsets = [0], sizes = [4], strides = [1]}
  // CHECK: fly.ptr.store(%[[W0]], %[[P]])
  // CHECK: %[[W1:.+]] = vector.extract_strided_slice %{{.+}} {offsets = [4], sizes = [4], strides = [1]}
  // CHECK: fly.ptr.store(%[[W1]], %[[NEXT]])
  fly.memref.store_vec(%w, %tensor) : (vector<8xf32>, !fly.memref<f32, global, (4,2):(1,16)>) -> ()
  // CHECK: return %[[V1]]
  return %v : vector<8xf32>
}

// A contiguous mode that is not the first one.
// CHECK-LABEL: func.func @transposed(
func.func @transposed(%p: !fly.ptr<f32, global>) -> vector<8xf32> {
  // CHECK: %[[LOADED:.+]] = vector.insert_strided_slice {{.+}} {offsets = [4], strides = [1]}
  // CHECK: %[[ROWS:.+]] = vector.shape_cast %[[LOADED]] : vector<8xf32> to vector<2x4xf32>
  // CHECK: %[[COLUMNS:.+]] = vector.transpose %[[ROWS]], [1, 0] : vector<2x4xf32> to vector<4x2xf32>
  // CHECK: %[[FLAT:.+]] = vector.shape_cast %[[COLUMNS]] : vector<4x2xf32> to vector<8xf32>
  // CHECK: return %[[FLAT]]
  %layout = fly.static : !fly.layout<(2,4):(16,1)>
  %tensor = fly.make_view(%p, %layout) : (!fly.ptr<f32, global>, !fly.layout<(2,4):(16,1)>) -> !fly.memref<f32, global, (2,4):(16,1)>
  %v = fly.memref.load_vec(%tensor) : (!fly.memref<f32, global, (2,4):(16,1)>) -> vector<8xf32>
  return %v : vector<8xf32>
}

// Four accesses, at 0, 8, 64 and 72.
// CHECK-LABEL: func.func @nested(
// CHECK-SAME: %[[P:.+]]: !fly.ptr<f32, global>
func.func @nested(%p: !fly.ptr<f32, global>) -> vector<16xf32> {
  // CHECK: fly.ptr.load(%[[P]])
  // CHECK: fly.add_offset(%[[P]], %{{.+}}) : (!fly.ptr<f32, global>, !fly.int_tuple<8>)
  // CHECK: fly.add_offset(%[[P]], %{{.+}}) : (!fly.ptr<f32, global>, !fly.int_tuple<64>)
  // CHECK: fly.add_offset(%[[P]], %{{.+}}) : (!fly.ptr<f32, global>, !fly.int_tuple<72>)
  // CHECK: vector.transpose %{{.+}}, [0, 2, 1] : vector<2x2x4xf32> to vector<2x4x2xf32>
  %layout = fly.static : !fly.layout<((2,4),2):((8,1),64)>
  %tensor = fly.make_view(%p, %layout) : (!fly.ptr<f32, global>, !fly.layout<((2,4),2):((8,1),64)>) -> !fly.memref<f32, global, ((2,4),2):((8,1),64)>
  %v = fly.memref.load_vec(%tensor) : (!fly.memref<f32, global, ((2,4),2):((8,1),64)>) -> vector<16xf32>
  return %v : vector<16xf32>
}

// CHECK-LABEL: func.func @scalars(
// CHECK-SAME: %[[P:.+]]: !fly.ptr<f32, global>
func.func @scalars(%p: !fly.ptr<f32, global>) -> vector<4xf32> {
  // CHECK: fly.ptr.load(%[[P]]) : (!fly.ptr<f32, global>) -> f32
  // CHECK: vector.insert %{{.+}}, %{{.+}} [0]
  // CHECK: fly.add_offset(%[[P]], %{{.+}}) : (!fly.ptr<f32, global>, !fly.int_tuple<16>)
  // CHECK: vector.insert %{{.+}}, %{{.+}} [1]
  // CHECK: fly.add_offset(%[[P]], %{{.+}}) : (!fly.ptr<f32, global>, !fly.int_tuple<2>)
  // CHECK: vector.insert %{{.+}}, %{{.+}} [2]
  // CHECK: fly.add_offset(%[[P]], %{{.+}}) : (!fly.ptr<f32, global>, !fly.int_tuple<18>)
  // CHECK: vector.insert %{{.+}}, %{{.+}} [3]
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
