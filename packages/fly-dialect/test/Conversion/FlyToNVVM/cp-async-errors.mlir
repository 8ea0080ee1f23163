// SPDX-License-Identifier: Apache-2.0
// RUN: fly-opt %s --split-input-file --verify-diagnostics --convert-fly-to-nvvm=chip=sm_90a

!wide = !fly.copy_atom<!fly_nvvm.sm80.cp_async<128>, 16>

func.func @spaces(%s: !fly.memref<f16, shared, 8:1, align<16>>, %r: !fly.memref<f16, register, 8:1>) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !wide
  // expected-error @+2 {{a copy of '!fly_nvvm.sm80.cp_async<128>' is from a tensor in global memory to one in shared memory}}
  // expected-error @+1 {{failed to legalize}}
  fly.copy_atom_call(%atom, %s, %r) : (!wide, !fly.memref<f16, shared, 8:1, align<16>>, !fly.memref<f16, register, 8:1>) -> ()
  return
}

// -----

!wide = !fly.copy_atom<!fly_nvvm.sm80.cp_async<128>, 16>

func.func @alignment(%g: !fly.memref<f16, global, 8:1>, %s: !fly.memref<f16, shared, 8:1, align<8>>) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !wide
  // expected-error @+2 {{writes at multiples of 16 bytes, but of its destination '!fly.memref<f16, shared, 8:1, align<8>>' only multiples of 8 are known; allocate the shared memory with an alignment of 16 bytes, have the strides of its layout be multiples of that, say what offsets are by fx.assume, or copy fewer bits}}
  // expected-error @+1 {{failed to legalize}}
  fly.copy_atom_call(%atom, %g, %s) : (!wide, !fly.memref<f16, global, 8:1>, !fly.memref<f16, shared, 8:1, align<8>>) -> ()
  return
}

// -----

!wide = !fly.copy_atom<!fly_nvvm.sm80.cp_async<128>, 16>

func.func @extent(%g: !fly.memref<f16, global, 8:1>, %s: !fly.memref<f16, shared, 4:1, align<16>>) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !wide
  // expected-error @+2 {{moves 128 bits, but its destination '!fly.memref<f16, shared, 4:1, align<16>>' holds 64}}
  // expected-error @+1 {{failed to legalize}}
  fly.copy_atom_call(%atom, %g, %s) : (!wide, !fly.memref<f16, global, 8:1>, !fly.memref<f16, shared, 4:1, align<16>>) -> ()
  return
}

// -----

!wide = !fly.copy_atom<!fly_nvvm.sm80.cp_async<128>, 16>

func.func @scattered(%g: !fly.memref<f16, global, 8:2>, %s: !fly.memref<f16, shared, 8:1, align<16>>) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !wide
  // expected-error @+2 {{moves 128 bits that lie side by side, but the elements of '!fly.memref<f16, global, 8:2>' do not}}
  // expected-error @+1 {{failed to legalize}}
  fly.copy_atom_call(%atom, %g, %s) : (!wide, !fly.memref<f16, global, 8:2>, !fly.memref<f16, shared, 8:1, align<16>>) -> ()
  return
}

// -----

!wide = !fly.copy_atom<!fly_nvvm.sm80.cp_async<128>, 16>

func.func @torn(%g: !fly.memref<f16, global, 8:1>, %s: !fly.memref<f16, shared, 8:1, align<16>, S<2,3,3>>) {
  %atom = fly.make_copy_atom {valBits = 16 : i32} : !wide
  // expected-error @+2 {{the access moves 128 bits that lie side by side, but the swizzle S<2,3,3> of the destination}}
  // expected-error @+1 {{failed to legalize}}
  fly.copy_atom_call(%atom, %g, %s) : (!wide, !fly.memref<f16, global, 8:1>, !fly.memref<f16, shared, 8:1, align<16>, S<2,3,3>>) -> ()
  return
}
