// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --fly-layout-lowering --split-input-file --verify-diagnostics

!atom = !fly.copy_atom<!fly.universal_copy<32>, 32>

func.func @too_many_values(%p: !fly.ptr<f32, global>, %q: !fly.ptr<f32, register>) {
  %atom = fly.make_copy_atom {valBits = 32 : i32} : !atom
  %layout = fly.static : !fly.layout<(4,2):(1,4)>
  %src = fly.make_view(%p, %layout) : (!fly.ptr<f32, global>, !fly.layout<(4,2):(1,4)>) -> !fly.memref<f32, global, (4,2):(1,4)>
  %dst = fly.make_view(%q, %layout) : (!fly.ptr<f32, register>, !fly.layout<(4,2):(1,4)>) -> !fly.memref<f32, register, (4,2):(1,4)>
  // expected-error@+1 {{destination layout 4:1 holds 128 bits for one atom call, which moves 32}}
  fly.copy(%atom, %src, %dst) : (!atom, !fly.memref<f32, global, (4,2):(1,4)>, !fly.memref<f32, register, (4,2):(1,4)>) -> ()
  return
}

// -----

!atom = !fly.copy_atom<!fly.universal_copy<32>, 32>

// What one call would leave behind in memory counts as well as what does not fit the registers.
func.func @too_many_values_in_memory(%p: !fly.ptr<f32, global>, %q: !fly.ptr<f32, register>) {
  %atom = fly.make_copy_atom {valBits = 32 : i32} : !atom
  %from = fly.static : !fly.layout<4:1>
  %to = fly.static : !fly.layout<1:1>
  %src = fly.make_view(%p, %from) : (!fly.ptr<f32, global>, !fly.layout<4:1>) -> !fly.memref<f32, global, 4:1>
  %dst = fly.make_view(%q, %to) : (!fly.ptr<f32, register>, !fly.layout<1:1>) -> !fly.memref<f32, register, 1:1>
  // expected-error@+1 {{source layout 4:1 holds 128 bits for one atom call, which moves 32}}
  fly.copy(%atom, %src, %dst) : (!atom, !fly.memref<f32, global, 4:1>, !fly.memref<f32, register, 1:1>) -> ()
  // expected-error@+1 {{destination layout 4:1 holds 128 bits for one atom call, which moves 32}}
  fly.copy(%atom, %dst, %src) : (!atom, !fly.memref<f32, register, 1:1>, !fly.memref<f32, global, 4:1>) -> ()
  // expected-error@+1 {{source layout 4:1 holds 128 bits for one atom call, which moves 32}}
  fly.copy(%atom, %src, %src) : (!atom, !fly.memref<f32, global, 4:1>, !fly.memref<f32, global, 4:1>) -> ()
  return
}

// -----

!atom = !fly.copy_atom<!fly.universal_copy<128>, 32>

// Between two tensors in memory nothing else says how much is meant.
func.func @too_few_values_in_memory(%p: !fly.ptr<f32, global>, %q: !fly.ptr<f32, shared>) {
  %atom = fly.make_copy_atom {valBits = 32 : i32} : !atom
  %one = fly.static : !fly.layout<1:1>
  %src = fly.make_view(%p, %one) : (!fly.ptr<f32, global>, !fly.layout<1:1>) -> !fly.memref<f32, global, 1:1>
  %dst = fly.make_view(%q, %one) : (!fly.ptr<f32, shared>, !fly.layout<1:1>) -> !fly.memref<f32, shared, 1:1>
  // expected-error@+1 {{source layout 1:1 holds 32 bits for one atom call, which moves 128}}
  fly.copy(%atom, %src, %dst) : (!atom, !fly.memref<f32, global, 1:1>, !fly.memref<f32, shared, 1:1>) -> ()
  return
}

// -----

!atom = !fly.copy_atom<!fly.universal_copy<128>, 16>
!fine = !fly.memref<f16, shared, S<3,2,3> o ?{div=8} o 8:1, align<16>>
!misplaced = !fly.memref<f16, shared, S<3,3,3> o 68 o 8:1, align<16>>
!mapped = !fly.memref<f16, shared, (4,4):(1,64) o ?{div=8} o 8:1, align<16>>
!fragment = !fly.memref<f16, register, 8:1>

// One call takes all of its elements from where the first one lies.
func.func @torn_apart(%fine: !fly.ptr<f16, shared, align<16>>, %q: !fly.ptr<f16, register>, %i: i32) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !atom
  %each = fly.static : !fly.layout<8:1>
  %registers = fly.make_view(%q, %each) : (!fly.ptr<f16, register>, !fly.layout<8:1>) -> !fragment
  %offset = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<?{div=8}>
  %s = fly.static : !fly.swizzle<S<3,2,3>>
  %l = fly.make_composed_layout(%s, %offset, %each) : (!fly.swizzle<S<3,2,3>>, !fly.int_tuple<?{div=8}>, !fly.layout<8:1>) -> !fly.composed_layout<S<3,2,3> o ?{div=8} o 8:1>
  %a = fly.make_view(%fine, %l) : (!fly.ptr<f16, shared, align<16>>, !fly.composed_layout<S<3,2,3> o ?{div=8} o 8:1>) -> !fine
  // expected-error@+1 {{source layout S<3,2,3> o ?{div=8} o 8:1 does not keep the 128 bits that one atom call moves side by side: use an atom of fewer bits, at most 64, or in place of S<3,2,3> a swizzle with a base of at least 3, which counts elements}}
  fly.copy(%atom, %a, %registers) : (!atom, !fine, !fragment) -> ()
  // expected-error@+1 {{destination layout S<3,2,3> o ?{div=8} o 8:1 does not keep the 128 bits}}
  fly.copy_atom_call(%atom, %registers, %a) : (!atom, !fragment, !fine) -> ()
  %m = fly.static : !fly.layout<(4,4):(1,64)>
  %n = fly.make_composed_layout(%m, %offset, %each) : (!fly.layout<(4,4):(1,64)>, !fly.int_tuple<?{div=8}>, !fly.layout<8:1>) -> !fly.composed_layout<(4,4):(1,64) o ?{div=8} o 8:1>
  %c = fly.make_view(%fine, %n) : (!fly.ptr<f16, shared, align<16>>, !fly.composed_layout<(4,4):(1,64) o ?{div=8} o 8:1>) -> !mapped
  // expected-error@+1 {{destination layout (4,4):(1,64) o ?{div=8} o 8:1 does not keep the 128 bits that one atom call moves side by side: use an atom of fewer bits}}
  fly.copy(%atom, %registers, %c) : (!atom, !fragment, !mapped) -> ()
  %o = fly.static : !fly.composed_layout<S<3,3,3> o 68 o 8:1>
  %b = fly.make_view(%fine, %o) : (!fly.ptr<f16, shared, align<16>>, !fly.composed_layout<S<3,3,3> o 68 o 8:1>) -> !misplaced
  // expected-error@+1 {{source layout S<3,3,3> o 68 o 8:1 does not keep the 128 bits}}
  fly.copy(%atom, %b, %registers) : (!atom, !misplaced, !fragment) -> ()
  return
}

// -----

!atom = !fly.copy_atom<!fly.universal_copy<128>, 32>

func.func @strided_atom(%p: !fly.ptr<f32, global>, %q: !fly.ptr<f32, register>) {
  %atom = fly.make_copy_atom {valBits = 32 : i32} : !atom
  %from = fly.static : !fly.layout<4:64>
  %to = fly.static : !fly.layout<4:1>
  %src = fly.make_view(%p, %from) : (!fly.ptr<f32, global>, !fly.layout<4:64>) -> !fly.memref<f32, global, 4:64>
  %dst = fly.make_view(%q, %to) : (!fly.ptr<f32, register>, !fly.layout<4:1>) -> !fly.memref<f32, register, 4:1>
  // expected-error@+1 {{source layout 4:64 is not contiguous within one atom call}}
  fly.copy(%atom, %src, %dst) : (!atom, !fly.memref<f32, global, 4:64>, !fly.memref<f32, register, 4:1>) -> ()
  return
}

// -----

!atom = !fly.copy_atom<!fly.universal_copy<32>, 32>

func.func @ranks(%p: !fly.ptr<f32, global>, %q: !fly.ptr<f32, register>) {
  %atom = fly.make_copy_atom {valBits = 32 : i32} : !atom
  %from = fly.static : !fly.layout<(1,2,2):(0,1,2)>
  %to = fly.static : !fly.layout<(1,4):(0,1)>
  %src = fly.make_view(%p, %from) : (!fly.ptr<f32, global>, !fly.layout<(1,2,2):(0,1,2)>) -> !fly.memref<f32, global, (1,2,2):(0,1,2)>
  %dst = fly.make_view(%q, %to) : (!fly.ptr<f32, register>, !fly.layout<(1,4):(0,1)>) -> !fly.memref<f32, register, (1,4):(0,1)>
  // expected-error@+1 {{source (1,2,2):(0,1,2) and destination (1,4):(0,1) must have the same rank}}
  fly.copy(%atom, %src, %dst) : (!atom, !fly.memref<f32, global, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,4):(0,1)>) -> ()
  return
}

// -----

func.func @absurd_vector(%p: !fly.ptr<f32, global>) -> vector<1048576xf32> {
  %layout = fly.static : !fly.layout<1048576:2>
  %src = fly.make_view(%p, %layout) : (!fly.ptr<f32, global>, !fly.layout<1048576:2>) -> !fly.memref<f32, global, 1048576:2>
  // expected-error@+1 {{takes 1048576 accesses, more than 16384}}
  %v = fly.memref.load_vec(%src) : (!fly.memref<f32, global, 1048576:2>) -> vector<1048576xf32>
  return %v : vector<1048576xf32>
}

// -----

func.func @vector_size(%p: !fly.ptr<f32, global>, %v: vector<4xf32>) {
  %layout = fly.static : !fly.layout<8:1>
  %dst = fly.make_view(%p, %layout) : (!fly.ptr<f32, global>, !fly.layout<8:1>) -> !fly.memref<f32, global, 8:1>
  // expected-error@+1 {{the vector must have the 8 elements of 8:1}}
  fly.memref.store_vec(%v, %dst) : (vector<4xf32>, !fly.memref<f32, global, 8:1>) -> ()
  return
}

// -----

func.func @dynamic_alloca(%n: i32) {
  %shape = fly.make_int_tuple(%n) : (i32) -> !fly.int_tuple<?>
  %stride = fly.make_int_tuple() : () -> !fly.int_tuple<1>
  %layout = fly.make_layout(%shape, %stride) : (!fly.int_tuple<?>, !fly.int_tuple<1>) -> !fly.layout<?:1>
  // expected-error@+1 {{register tensors need a static, positive size, got ? elements for layout ?:1}}
  %a = fly.memref.alloca(%layout) : (!fly.layout<?:1>) -> !fly.memref<f32, register, ?:1>
  return
}

// -----

!fma = !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>

func.func @gemm_extents(%p: !fly.ptr<f32, register>) {
  %atom = fly.make_mma_atom : !fma
  %lc = fly.static : !fly.layout<(1,2,2):(0,1,2)>
  %la = fly.static : !fly.layout<(1,3,2):(0,1,3)>
  %c = fly.make_view(%p, %lc) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,1,2)>) -> !fly.memref<f32, register, (1,2,2):(0,1,2)>
  %a = fly.make_view(%p, %la) : (!fly.ptr<f32, register>, !fly.layout<(1,3,2):(0,1,3)>) -> !fly.memref<f32, register, (1,3,2):(0,1,3)>
  // expected-error@+1 {{mode 1 of operand a has extent 3, expected 2}}
  fly.gemm(%atom, %c, %a, %c, %c) : (!fma, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,3,2):(0,1,3)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>) -> ()
  return
}

// -----

!fma = !fly.mma_atom<!fly.universal_fma<1x1x1, (f32, f32) -> f32>>

func.func @gemm_traversal(%p: !fly.ptr<f32, register>) {
  %atom = fly.make_mma_atom : !fma
  %l = fly.static : !fly.layout<(1,2,2):(0,1,2)>
  %order = fly.static : !fly.layout<(4,2):(1,1)>
  %t = fly.make_view(%p, %l) : (!fly.ptr<f32, register>, !fly.layout<(1,2,2):(0,1,2)>) -> !fly.memref<f32, register, (1,2,2):(0,1,2)>
  // expected-error@+1 {{traversal layout (4,2):(1,1) must visit each of 8 atoms once, but position 4 gives 1}}
  fly.gemm(%atom, %t, %t, %t, %t) [traversalLayout = %order] : (!fma, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.memref<f32, register, (1,2,2):(0,1,2)>, !fly.layout<(4,2):(1,1)>) -> ()
  return
}

// -----

!atom = !fly.copy_atom<!fly.universal_copy<32>, 32>

func.func @negative(%p: !fly.ptr<f32, global>, %q: !fly.ptr<f32, register>) {
  %atom = fly.make_copy_atom {valBits = 32 : i32} : !atom
  %layout = fly.static : !fly.layout<(1,-7):(0,1)>
  %src = fly.make_view(%p, %layout) : (!fly.ptr<f32, global>, !fly.layout<(1,-7):(0,1)>) -> !fly.memref<f32, global, (1,-7):(0,1)>
  %dst = fly.make_view(%q, %layout) : (!fly.ptr<f32, register>, !fly.layout<(1,-7):(0,1)>) -> !fly.memref<f32, register, (1,-7):(0,1)>
  // expected-error@+1 {{extents must not be negative, got (1,-7):(0,1)}}
  fly.copy(%atom, %src, %dst) : (!atom, !fly.memref<f32, global, (1,-7):(0,1)>, !fly.memref<f32, register, (1,-7):(0,1)>) -> ()
  return
}

// -----

func.func @dynamic_static() {
  // expected-error@+1 {{'fly.static' op has nothing but its type to make a value of, and '!fly.int_tuple<(4,?)>' is dynamic}}
  %0 = fly.static : !fly.int_tuple<(4,?)>
  return
}

// -----

func.func @missing_leaf(%i: i32) {
  // expected-error@+1 {{'fly.make_int_tuple' op needs one operand for each dynamic leaf of its type, 2, got 1}}
  %0 = fly.make_int_tuple(%i) : (i32) -> !fly.int_tuple<(?,?)>
  return
}
