// SPDX-License-Identifier: Apache-2.0
//
// Memory that a compilation holds back for when there is no more: LLVM and MLIR are made for
// programs that end where an allocation fails, and write to what they were not given.
#ifndef FLY_EMIT_MEMORYRESERVE_H
#define FLY_EMIT_MEMORYRESERVE_H

#include <cstddef>

namespace fly {

/// Address space that the current thread holds, and gives back to the system piece by piece when an
/// allocation of LLVM, MLIR or lld on this thread fails; the allocation is tried again then. So no
/// code of theirs sees a failure before the reserve is empty, and whoever called them finds out
/// between two calls (`refill`).
///
/// What stands before their allocations: the linker's --wrap for what is linked into
/// libFlyDialect.so; entries of the tables of imported functions for libLLVM.so and libMLIR.so
/// where these are libraries of their own (SharedAllocations.cpp); the new handler for
/// `operator new`. Blocks come from malloc as ever, and anybody may free them.
///
/// Pages of it are never touched, so it takes no memory but what a limit of address space (or
/// strict overcommitment) counts. After a fork the child's only thread has the parent's.
class MemoryReserve {
public:
  /// Bytes. What one call may need beyond what there is: all dialects take 3 MiB, the passes of a
  /// kernel of 10,000 operations 40.
  static constexpr std::size_t size = std::size_t(64) << 20;

  /// Begins to hold the reserve, if this thread does not yet; false, and nothing is held, where the
  /// system has no memory for it. Calls nest.
  static bool open();

  /// Ends what `open` began.
  static void close();

  /// Takes back what was drawn; false where that cannot be had. True without a reserve.
  static bool refill();

  /// Gives the next piece back to the system; false when nothing is left, or without a reserve.
  static bool draw();
};

/// From now on `operator new` draws on the reserve of the thread, and leaves a guarded body
/// (CrashGuard.h) when that is empty. Other threads notice nothing.
void handleNewFailures();

/// Has allocations of the shared libraries that hold LLVM and MLIR, and of nanobind's, draw on the
/// reserve. Calling it again does nothing. A static build has no such libraries, and not this.
void reserveForSharedLibraries();

} // namespace fly

#endif // FLY_EMIT_MEMORYRESERVE_H
