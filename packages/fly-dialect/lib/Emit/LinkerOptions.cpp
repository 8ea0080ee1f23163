// SPDX-License-Identifier: Apache-2.0
//
// Keeps lld from resetting the options of the process that it is a guest in.
//
// lld's driver begins every run with llvm::cl::ResetAllOptionOccurrences(), which sets each LLVM
// and MLIR command line option in the process back to its default: fly-opt would forget its
// pipeline, and Python its llvm_options. lld is linked statically, so this hidden definition of the
// function is the one its driver calls, and the only user; that of libLLVM.so stays what it is for
// everybody else.

extern "C" __attribute__((visibility("hidden"))) void
flyKeepOptions() __asm__("_ZN4llvm2cl25ResetAllOptionOccurrencesEv");

void flyKeepOptions() {}
