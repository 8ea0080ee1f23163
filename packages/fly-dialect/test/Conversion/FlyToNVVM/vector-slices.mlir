// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --convert-fly-to-nvvm | FileCheck %s

// Two rows that lie in turn are gathered by one operation each, and so they go back.

// CHECK-LABEL: func.func @rows(
// CHECK-SAME: %[[ALL:.*]]: vector<8xf32>, %[[FACTOR:.*]]: vector<4xf32>)
func.func @rows(%all: vector<8xf32>, %factor: vector<4xf32>) -> vector<8xf32> {
  %none = ub.poison : vector<4xf32>
  %0 = vector.extract_strided_slice %all {offsets = [0], sizes = [2], strides = [1]} : vector<8xf32> to vector<2xf32>
  %1 = vector.insert_strided_slice %0, %none {offsets = [0], strides = [1]} : vector<2xf32> into vector<4xf32>
  %2 = vector.extract_strided_slice %all {offsets = [4], sizes = [2], strides = [1]} : vector<8xf32> to vector<2xf32>
  %row = vector.insert_strided_slice %2, %1 {offsets = [2], strides = [1]} : vector<2xf32> into vector<4xf32>
  // CHECK: %[[ROW:.*]] = vector.shuffle %[[ALL]], %[[ALL]] [0, 1, 4, 5] : vector<8xf32>, vector<8xf32>
  // CHECK-NEXT: %[[SCALED:.*]] = arith.mulf %[[ROW]], %[[FACTOR]]
  // CHECK-NEXT: %[[BACK:.*]] = vector.shuffle %[[SCALED]], %[[ALL]] [0, 1, 6, 7, 2, 3, 10, 11] : vector<4xf32>, vector<8xf32>
  // CHECK-NEXT: return %[[BACK]]
  %scaled = arith.mulf %row, %factor : vector<4xf32>
  %3 = vector.extract_strided_slice %scaled {offsets = [0], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
  %4 = vector.insert_strided_slice %3, %all {offsets = [0], strides = [1]} : vector<2xf32> into vector<8xf32>
  %5 = vector.extract_strided_slice %scaled {offsets = [2], sizes = [2], strides = [1]} : vector<4xf32> to vector<2xf32>
  %6 = vector.insert_strided_slice %5, %4 {offsets = [4], strides = [1]} : vector<2xf32> into vector<8xf32>
  return %6 : vector<8xf32>
}

// -----

// Scalars go from where they were put to where they are taken, through any slices.

// CHECK-LABEL: func.func @scalars(
// CHECK-SAME: %[[A:.*]]: f32, %[[B:.*]]: f32, %[[REST:.*]]: vector<4xf32>)
func.func @scalars(%a: f32, %b: f32, %rest: vector<4xf32>) -> (vector<4xf32>, f32, f32) {
  %none = ub.poison : vector<4xf32>
  %pair = vector.from_elements %a, %b : vector<2xf32>
  %0 = vector.insert_strided_slice %pair, %none {offsets = [2], strides = [1]} : vector<2xf32> into vector<4xf32>
  %1 = vector.insert %b, %0 [0] : f32 into vector<4xf32>
  %2 = vector.insert %a, %1 [1] : f32 into vector<4xf32>
  // CHECK: %[[MADE:.*]] = vector.from_elements %[[B]], %[[A]], %[[A]], %[[B]] : vector<4xf32>
  %taken = vector.extract %2[2] : f32 from vector<4xf32>
  %3 = vector.insert_strided_slice %pair, %rest {offsets = [0], strides = [1]} : vector<2xf32> into vector<4xf32>
  // CHECK: %[[OTHER:.*]] = vector.extract %[[REST]][3]
  %other = vector.extract %3[3] : f32 from vector<4xf32>
  // CHECK-NEXT: return %[[MADE]], %[[A]], %[[OTHER]]
  return %2, %taken, %other : vector<4xf32>, f32, f32
}

// -----

// What takes more than one operation stays as it is: scalars among elements of a vector, and three vectors.

// CHECK-LABEL: func.func @mixed(
func.func @mixed(%a: f32, %x: vector<2xf32>, %y: vector<2xf32>, %z: vector<2xf32>) -> (vector<2xf32>, vector<6xf32>) {
  // CHECK: vector.insert %{{.*}}, %{{.*}} [1]
  %0 = vector.insert %a, %x [1] : f32 into vector<2xf32>
  %none = ub.poison : vector<6xf32>
  // CHECK-COUNT-3: vector.insert_strided_slice
  %1 = vector.insert_strided_slice %x, %none {offsets = [0], strides = [1]} : vector<2xf32> into vector<6xf32>
  %2 = vector.insert_strided_slice %y, %1 {offsets = [2], strides = [1]} : vector<2xf32> into vector<6xf32>
  %3 = vector.insert_strided_slice %z, %2 {offsets = [4], strides = [1]} : vector<2xf32> into vector<6xf32>
  return %0, %3 : vector<2xf32>, vector<6xf32>
}
