// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --convert-fly-to-nvvm --canonicalize | FileCheck %s

// The descriptor: the address in 16 bytes; 8 rows are 1024 bytes apart, and the swizzle is the one of 128 bytes.

!wgmma = !fly_nvvm.sm90.wgmma<64x8x16, (bf16, bf16) -> f32, registersA = false, mnMajorA = false, mnMajorB = false>
!a = !fly.memref<bf16, shared, (64,16):(64,1), align<1024>, S<3,4,3>>
!b = !fly.memref<bf16, shared, (8,16):(64,1), align<1024>, S<3,4,3>>

// CHECK-LABEL: func.func @along_k(
// CHECK-SAME: %[[A:.*]]: !llvm.ptr<3>, %[[B:.*]]: !llvm.ptr<3>, %[[C:.*]]: vector<4xf32>, %[[P:.*]]: i1)
func.func @along_k(%a: !a, %b: !b, %c: vector<4xf32>, %p: i1) -> vector<4xf32> {
  %new = fly.make_mma_atom : !fly.mma_atom<!wgmma>
  %atom = fly.atom.set_value(%new, "accumulate", %p) : (!fly.mma_atom<!wgmma>, i1) -> !fly.mma_atom<!wgmma>
  // 64 << 32 | 1 << 16 | 1 << 62
  // CHECK-DAG: %[[FIELDS_A:.*]] = arith.constant 4611686293305360384 : i64
  // Of 8 rows there are no next ones.
  // CHECK-DAG: %[[FIELDS_B:.*]] = arith.constant 4611686018427453440 : i64
  // CHECK-DAG: %[[UNIT:.*]] = arith.constant 4 : i32
  // CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %[[A]] : !llvm.ptr<3> to i32
  // CHECK: %[[LOW:.*]] = arith.shrui %[[ADDRESS]], %[[UNIT]]
  // CHECK: %[[UNITS:.*]] = arith.extui %[[LOW]] : i32 to i64
  // CHECK: %[[DA:.*]] = arith.ori %[[UNITS]], %[[FIELDS_A]]
  // CHECK: %[[DB:.*]] = arith.ori %{{.*}}, %[[FIELDS_B]]
  // CHECK: %[[FLAG:.*]] = arith.extui %[[P]] : i1 to i32
  // CHECK: llvm.inline_asm has_side_effects "{ .reg .pred p; setp.ne.b32 p, $10, 0; wgmma.mma_async.sync.aligned.m64n8k16.f32.bf16.bf16 {$0, $1, $2, $3}, $8, $9, p, 1, 1, 0, 0; }", "=f,=f,=f,=f,0,1,2,3,l,l,r" %{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}, %[[DA]], %[[DB]], %[[FLAG]]
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!wgmma>, !a, !b, vector<4xf32>) -> vector<4xf32>
  return %d : vector<4xf32>
}

// -----

// Tiles of one ring: what is added to the pointer is added in units of 16 bytes, a constant last.

!wgmma = !fly_nvvm.sm90.wgmma<64x8x16, (bf16, bf16) -> f32, registersA = false, mnMajorA = false, mnMajorB = false>
!p = !fly.ptr<bf16, shared, align<1024>, S<3,4,3>>
!a = !fly.memref<bf16, shared, (64,16):(64,1), align<1024>, S<3,4,3>>
!b = !fly.memref<bf16, shared, (8,16):(64,1), align<1024>, S<3,4,3>>

// CHECK-LABEL: func.func @of_a_ring(
// CHECK-SAME: %[[RING:.*]]: !llvm.ptr<3>, %{{.*}}: !llvm.ptr<3>, %[[STAGE:.*]]: i32, %[[OTHER:.*]]: i32
func.func @of_a_ring(%ring: !p, %b: !b, %stage: i32, %other: i32, %c: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>) {
  %atom = fly.make_mma_atom : !fly.mma_atom<!wgmma>
  %size = arith.constant 4096 : i32
  %step = arith.constant 16 : i32
  // CHECK-DAG: %[[FIELDS:.*]] = arith.constant 4611686293305360384 : i64
  // CHECK-DAG: %[[SIZE:.*]] = arith.constant 512 : i32
  // CHECK-DAG: %[[STEP:.*]] = arith.constant 2 : i64
  // CHECK: %[[OF_STAGE:.*]] = arith.muli %[[STAGE]], %[[SIZE]]
  // CHECK: %[[ADDRESS:.*]] = llvm.ptrtoint %[[RING]] : !llvm.ptr<3> to i32
  // CHECK: %[[BASE:.*]] = arith.shrui %[[ADDRESS]]
  // CHECK: %[[SUM:.*]] = arith.addi %[[BASE]], %[[OF_STAGE]]
  // CHECK: %[[UNITS:.*]] = arith.extui %[[SUM]] : i32 to i64
  // CHECK: %[[FIRST:.*]] = arith.ori %[[UNITS]], %[[FIELDS]]
  // CHECK: %[[DA:.*]] = arith.addi %[[FIRST]], %[[STEP]]
  // CHECK: wgmma.mma_async{{.*}} %[[DA]], %{{.*}}, %{{.*}} : (
  %of_stage = arith.muli %stage, %size : i32
  %at = arith.addi %of_stage, %step : i32
  %offset = fly.make_int_tuple(%at) : (i32) -> !fly.int_tuple<?{div=512}>
  %there = fly.add_offset(%ring, %offset) : (!p, !fly.int_tuple<?{div=512}>) -> !p
  %layout = fly.static : !fly.layout<(64,16):(64,1)>
  %a = fly.make_view(%there, %layout) : (!p, !fly.layout<(64,16):(64,1)>) -> !a
  %0 = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!wgmma>, !a, !b, vector<4xf32>) -> vector<4xf32>

  // No whole units: the address as it is.
  // CHECK: llvm.getelementptr %[[RING]][%[[OTHER]]]
  // CHECK: llvm.ptrtoint
  %any = fly.make_int_tuple(%other) : (i32) -> !fly.int_tuple<?{div=512}>
  %somewhere = fly.add_offset(%ring, %any) : (!p, !fly.int_tuple<?{div=512}>) -> !p
  %other_a = fly.make_view(%somewhere, %layout) : (!p, !fly.layout<(64,16):(64,1)>) -> !a
  %1 = fly.mma_atom_call_ssa(%atom, %other_a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!wgmma>, !a, !b, vector<4xf32>) -> vector<4xf32>
  return %0, %1 : vector<4xf32>, vector<4xf32>
}

// -----

// A in registers, B contiguous along N: next 64 columns are LBO, next 8 of K are SBO.

!wgmma = !fly_nvvm.sm90.wgmma<64x128x16, (f16, f16) -> f16, registersA = true, mnMajorA = false, mnMajorB = true>
!b = !fly.memref<f16, shared, ((64,2),16):((1,4096),64), align<1024>, S<3,4,3>>

// CHECK-LABEL: func.func @along_n(
func.func @along_n(%a: vector<8xf16>, %b: !b, %c: vector<64xf16>) -> vector<64xf16> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!wgmma>
  // 64 << 32 | 512 << 16 | 1 << 62
  // CHECK-DAG: arith.constant 4611686293338849280 : i64
  // CHECK-DAG: llvm.bitcast %{{.*}} : vector<8xf16> to vector<4xi32>
  // CHECK-DAG: llvm.bitcast %{{.*}} : vector<64xf16> to vector<32xi32>
  // CHECK: wgmma.mma_async.sync.aligned.m64n128k16.f16.f16.f16 {$0, {{.*}}$31}, {$64, $65, $66, $67}, $68, p, 1, 1, 1; }"
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!wgmma>, vector<8xf16>, !b, vector<64xf16>) -> vector<64xf16>
  return %d : vector<64xf16>
}

// -----

// Without a swizzle: rows of 16 bytes, 8 rows together.

!wgmma = !fly_nvvm.sm90.wgmma<64x16x32, (f8E4M3FN, f8E5M2) -> f32, registersA = false, mnMajorA = false, mnMajorB = false>
!a = !fly.memref<f8E4M3FN, shared, ((8,8),(16,2)):((16,256),(1,128)), align<128>>
!b = !fly.memref<f8E5M2, shared, ((8,2),(16,2)):((16,256),(1,128)), align<128>>

// CHECK-LABEL: func.func @plain(
func.func @plain(%a: !a, %b: !b, %c: vector<8xf32>) -> vector<8xf32> {
  %atom = fly.make_mma_atom : !fly.mma_atom<!wgmma>
  // 16 << 32 | 8 << 16
  // CHECK-DAG: arith.constant 68720001024 : i64
  // CHECK: wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e5m2 {{.*}}, p, 1, 1; }"
  %d = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!wgmma>, !a, !b, vector<8xf32>) -> vector<8xf32>
  return %d : vector<8xf32>
}

// -----

// What orders products takes and gives the registers.

// CHECK-LABEL: func.func @order(
func.func @order(%sums: vector<2xf32>) -> vector<2xf32> {
  // CHECK: llvm.inline_asm has_side_effects "wgmma.fence.sync.aligned;", "=f,=f,0,1,~{memory}"
  %0 = fly_nvvm.wgmma_fence %sums : vector<2xf32>
  // CHECK: nvvm.wgmma.commit.group.sync.aligned
  fly_nvvm.wgmma_commit
  // CHECK: llvm.inline_asm has_side_effects "wgmma.wait_group.sync.aligned 1;", "=f,=f,0,1,~{memory}"
  %1 = fly_nvvm.wgmma_wait %0, pending = 1 : vector<2xf32>
  return %1 : vector<2xf32>
}

// -----

// Products one behind the other on the same sums are one piece of assembly: with slices that are all of the registers
// in between, with A in registers, and each with its own flag.

!wgmma = !fly_nvvm.sm90.wgmma<64x8x16, (bf16, bf16) -> f32, registersA = true, mnMajorA = false, mnMajorB = false>
!b = !fly.memref<bf16, shared, (8,16):(64,1), align<1024>, S<3,4,3>>

// CHECK-LABEL: func.func @together(
// CHECK-SAME: vector<4xf32>, %[[P:.*]]: i1)
func.func @together(%a: vector<8xbf16>, %a2: vector<8xbf16>, %b: !b, %b2: !b, %c: vector<4xf32>, %p: i1) -> vector<4xf32> {
  %new = fly.make_mma_atom : !fly.mma_atom<!wgmma>
  %atom = fly.atom.set_value(%new, "accumulate", %p) : (!fly.mma_atom<!wgmma>, i1) -> !fly.mma_atom<!wgmma>
  // CHECK-COUNT-4: llvm.extractelement %{{.*}} : vector<4xf32>
  // CHECK: llvm.inline_asm has_side_effects
  // CHECK-SAME: "{ .reg .pred p; setp.ne.b32 p, $13, 0; wgmma.{{.*}} {$0, $1, $2, $3}, {$8, $9, $10, $11}, $12, p, 1, 1, 0; }
  // CHECK-SAME: { .reg .pred p; setp.ne.b32 p, $19, 0; wgmma.{{.*}} {$0, $1, $2, $3}, {$14, $15, $16, $17}, $18, p, 1, 1, 0; }"
  // CHECK-SAME: "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l,r,r,r,r,r,l,r"
  // CHECK-NOT: llvm.inline_asm
  %0 = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!wgmma>, vector<8xbf16>, !b, vector<4xf32>) -> vector<4xf32>
  %kept = vector.insert_strided_slice %0, %c {offsets = [0], strides = [1]} : vector<4xf32> into vector<4xf32>
  %1 = vector.extract_strided_slice %kept {offsets = [0], sizes = [4], strides = [1]} : vector<4xf32> to vector<4xf32>
  %2 = fly.mma_atom_call_ssa(%new, %a2, %b2, %1) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!wgmma>, vector<8xbf16>, !b, vector<4xf32>) -> vector<4xf32>
  // CHECK: return
  return %2 : vector<4xf32>
}

// -----

// What stands in between and may be seen keeps them apart, and so does another use of the first one's sums.

!wgmma = !fly_nvvm.sm90.wgmma<64x8x16, (bf16, bf16) -> f32, registersA = true, mnMajorA = false, mnMajorB = false>
!b = !fly.memref<bf16, shared, (8,16):(64,1), align<1024>, S<3,4,3>>

// CHECK-LABEL: func.func @apart(
func.func @apart(%a: vector<8xbf16>, %b: !b, %c: vector<4xf32>) -> (vector<4xf32>, vector<4xf32>) {
  %atom = fly.make_mma_atom : !fly.mma_atom<!wgmma>
  // CHECK: wgmma.mma_async{{.*}} "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l,r"
  %0 = fly.mma_atom_call_ssa(%atom, %a, %b, %c) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!wgmma>, vector<8xbf16>, !b, vector<4xf32>) -> vector<4xf32>
  // CHECK: nvvm.wgmma.commit.group.sync.aligned
  fly_nvvm.wgmma_commit
  // CHECK: wgmma.mma_async{{.*}} "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l,r"
  %1 = fly.mma_atom_call_ssa(%atom, %a, %b, %0) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!wgmma>, vector<8xbf16>, !b, vector<4xf32>) -> vector<4xf32>
  // CHECK: wgmma.mma_async{{.*}} "=f,=f,=f,=f,0,1,2,3,r,r,r,r,l,r"
  %2 = fly.mma_atom_call_ssa(%atom, %a, %b, %1) {operandSegmentSizes = array<i32: 1, 0, 1, 1, 1>} : (!fly.mma_atom<!wgmma>, vector<8xbf16>, !b, vector<4xf32>) -> vector<4xf32>
  return %1, %2 : vector<4xf32>, vector<4xf32>
}
