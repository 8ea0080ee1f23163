// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --pass-pipeline='builtin.module(gpu-module-to-binary{format=isa})' | sed -e 's/\\0A/\n/g' -e 's/\\09/ /g' | FileCheck %s

// Rows 4096 and 8192 bytes behind have the swizzle of the first (it reads bits 7 to 9 and writes bits 4 to 6): one
// address, and constants in the instructions.

// CHECK-LABEL: rows_behind:
// CHECK:       v_xor_b32
// CHECK-NOT:   v_xor_b32
// CHECK:       ds_read_b128 {{v\[[0-9:]+\]}}, [[FIRST:v[0-9]+]]{{$}}
// CHECK:       ds_read_b128 {{v\[[0-9:]+\]}}, [[FIRST]] offset:4096
// CHECK:       ds_read_b128 {{v\[[0-9:]+\]}}, [[FIRST]] offset:8192
// CHECK:       s_endpgm
gpu.module @rows_behind [#rocdl.target<chip = "gfx942">] {
  llvm.mlir.global internal @room() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<16384 x i8>
  llvm.func @rows_behind(%out: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
    %t = rocdl.workitem.id.x : i32
    %room = llvm.mlir.addressof @room : !llvm.ptr<3>
    %row = llvm.getelementptr %room[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<8xi16>
    %mask = llvm.mlir.constant(896 : i64) : i64
    %shift = llvm.mlir.constant(3 : i64) : i64
    %next = llvm.getelementptr %row[4096] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %last = llvm.getelementptr %next[2048] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i16
    %a0 = llvm.ptrtoint %row : !llvm.ptr<3> to i64
    %b0 = llvm.and %a0, %mask : i64
    %c0 = llvm.lshr %b0, %shift : i64
    %d0 = llvm.xor %a0, %c0 : i64
    %p0 = llvm.inttoptr %d0 : i64 to !llvm.ptr<3>
    %a1 = llvm.ptrtoint %next : !llvm.ptr<3> to i64
    %b1 = llvm.and %a1, %mask : i64
    %c1 = llvm.lshr %b1, %shift : i64
    %d1 = llvm.xor %a1, %c1 : i64
    %p1 = llvm.inttoptr %d1 : i64 to !llvm.ptr<3>
    %a2 = llvm.ptrtoint %last : !llvm.ptr<3> to i64
    %b2 = llvm.and %a2, %mask : i64
    %c2 = llvm.lshr %b2, %shift : i64
    %d2 = llvm.xor %a2, %c2 : i64
    %p2 = llvm.inttoptr %d2 : i64 to !llvm.ptr<3>
    %v0 = llvm.load volatile %p0 {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
    %v1 = llvm.load volatile %p1 {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
    %v2 = llvm.load volatile %p2 {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
    %w0 = llvm.add %v0, %v1 : vector<4xi32>
    %w1 = llvm.add %w0, %v2 : vector<4xi32>
    llvm.store %w1, %out : vector<4xi32>, !llvm.ptr<1>
    llvm.return
  }
}

// A second buffer, 8192 bytes behind, and rows of it: constants that are added before the index of the thread, or beside
// 64 bytes that take part in the swizzle, go behind it, too.

// CHECK-LABEL: buffers_behind:
// CHECK:       v_xor_b32
// CHECK-NOT:   v_xor_b32
// CHECK:       ds_read_b128 {{v\[[0-9:]+\]}}, [[FIRST:v[0-9]+]]{{$}}
// CHECK:       ds_read_b128 {{v\[[0-9:]+\]}}, [[FIRST]] offset:4096
// CHECK:       ds_read_b128 {{v\[[0-9:]+\]}}, [[FIRST]] offset:8192
// CHECK:       s_endpgm
gpu.module @buffers_behind [#rocdl.target<chip = "gfx942">] {
  llvm.mlir.global internal @room() {addr_space = 3 : i32, alignment = 16 : i64} : !llvm.array<16384 x i8>
  llvm.func @buffers_behind(%out: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
    %t = rocdl.workitem.id.x : i32
    %room = llvm.mlir.addressof @room : !llvm.ptr<3>
    %other = llvm.getelementptr %room[8192] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %here = llvm.getelementptr %room[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<8xi16>
    %there = llvm.getelementptr %other[%t] : (!llvm.ptr<3>, i32) -> !llvm.ptr<3>, vector<8xi16>
    %mask = llvm.mlir.constant(896 : i64) : i64
    %shift = llvm.mlir.constant(3 : i64) : i64
    %first = llvm.getelementptr %here[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %next = llvm.getelementptr %here[4160] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %last = llvm.getelementptr %there[64] : (!llvm.ptr<3>) -> !llvm.ptr<3>, i8
    %a0 = llvm.ptrtoint %first : !llvm.ptr<3> to i64
    %b0 = llvm.and %a0, %mask : i64
    %c0 = llvm.lshr %b0, %shift : i64
    %d0 = llvm.xor %a0, %c0 : i64
    %p0 = llvm.inttoptr %d0 : i64 to !llvm.ptr<3>
    %a1 = llvm.ptrtoint %next : !llvm.ptr<3> to i64
    %b1 = llvm.and %a1, %mask : i64
    %c1 = llvm.lshr %b1, %shift : i64
    %d1 = llvm.xor %a1, %c1 : i64
    %p1 = llvm.inttoptr %d1 : i64 to !llvm.ptr<3>
    %a2 = llvm.ptrtoint %last : !llvm.ptr<3> to i64
    %b2 = llvm.and %a2, %mask : i64
    %c2 = llvm.lshr %b2, %shift : i64
    %d2 = llvm.xor %a2, %c2 : i64
    %p2 = llvm.inttoptr %d2 : i64 to !llvm.ptr<3>
    %v0 = llvm.load volatile %p0 {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
    %v1 = llvm.load volatile %p1 {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
    %v2 = llvm.load volatile %p2 {alignment = 16 : i64} : !llvm.ptr<3> -> vector<4xi32>
    %w0 = llvm.add %v0, %v1 : vector<4xi32>
    %w1 = llvm.add %w0, %v2 : vector<4xi32>
    llvm.store %w1, %out : vector<4xi32>, !llvm.ptr<1>
    llvm.return
  }
}

// In global memory the constants may add up to more than a signed word holds.

// CHECK-LABEL: far_behind:
// CHECK:       v_add_co_u32_e32 {{v[0-9]+}}, vcc, 0xbffff000,
// CHECK:       v_addc_co_u32_e32 {{v[0-9]+}}, vcc, 0,
// CHECK:       s_endpgm
gpu.module @far_behind [#rocdl.target<chip = "gfx942">] {
  llvm.func @far_behind(%in: !llvm.ptr<1>, %out: !llvm.ptr<1>) attributes {gpu.kernel, rocdl.kernel} {
    %t = rocdl.workitem.id.x : i32
    %row = llvm.getelementptr %in[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, vector<8xi16>
    %mask = llvm.mlir.constant(896 : i64) : i64
    %shift = llvm.mlir.constant(3 : i64) : i64
    %next = llvm.getelementptr %row[1610608640] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %last = llvm.getelementptr %next[1610612736] : (!llvm.ptr<1>) -> !llvm.ptr<1>, i8
    %a = llvm.ptrtoint %last : !llvm.ptr<1> to i64
    %b = llvm.and %a, %mask : i64
    %c = llvm.lshr %b, %shift : i64
    %d = llvm.xor %a, %c : i64
    %p = llvm.inttoptr %d : i64 to !llvm.ptr<1>
    %v = llvm.load volatile %p {alignment = 16 : i64} : !llvm.ptr<1> -> vector<4xi32>
    llvm.store %v, %out : vector<4xi32>, !llvm.ptr<1>
    llvm.return
  }
}
