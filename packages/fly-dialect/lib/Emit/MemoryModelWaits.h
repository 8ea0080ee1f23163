// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_EMIT_MEMORYMODELWAITS_H
#define FLY_LIB_EMIT_MEMORYMODELWAITS_H

namespace fly {

/// Works around wrong code of LLVM's SIInsertWaitcnts (seen in 22.1.8), in all AMD code generated
/// in this process from now on. Calling it again does nothing.
///
/// SIMemoryLegalizer puts a wait where a fence or an atomic access needs one, and marks it "soft":
/// SIInsertWaitcnts may take it away when nothing is outstanding. It does so when it comes to a
/// block for the first time, before it knows what is outstanding on back edges, and does not bring
/// the wait back. A wave then runs through `s_barrier` with its LDS stores on the way.
///
/// Two machine passes stand around SIInsertWaitcnts:
///  - before it, a soft wait for something that may be outstanding on some path becomes a wait like
///    any other, which stays; and the marker S_WAITCNT_lds_direct, which stands for a wait for
///    loads straight to LDS, gets that wait written out;
///  - after it, such a wait is taken away again where the waits that SIInsertWaitcnts has put for
///    uses of registers leave nothing for it to do.
/// Waits that a kernel wrote itself are not touched, and a barrier without a fence gets none.
void keepMemoryModelWaits();

} // namespace fly

#endif // FLY_LIB_EMIT_MEMORYMODELWAITS_H
