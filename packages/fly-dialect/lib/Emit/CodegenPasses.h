// SPDX-License-Identifier: Apache-2.0
//
// What we add to LLVM's code generation for AMD GPUs. Where each pass stands says the table in
// CodegenPasses.cpp.
#ifndef FLY_LIB_EMIT_CODEGENPASSES_H
#define FLY_LIB_EMIT_CODEGENPASSES_H

namespace llvm {
class Pass;
}

namespace fly {

/// From the first call on, all code generation of this process for AMD GPUs has the passes below.
void insertCodegenPasses();

/// Work around wrong code of LLVM's SIInsertWaitcnts (seen in 22.1.8).
///
/// SIMemoryLegalizer puts a wait where a fence or an atomic access needs one, and marks it "soft":
/// SIInsertWaitcnts may take it away when nothing is outstanding. It does so when it comes to a
/// block for the first time, before it knows what is outstanding on back edges, and does not bring
/// the wait back. A wave then runs through `s_barrier` with its LDS stores on the way.
///
/// The two stand around SIInsertWaitcnts:
///  - before it, a soft wait for something that may be outstanding on some path becomes a wait like
///    any other, which stays; and the marker S_WAITCNT_lds_direct, which stands for a wait for
///    loads straight to LDS, gets that wait written out;
///  - after it, such a wait is taken away again where the waits that SIInsertWaitcnts has put for
///    uses of registers leave nothing for it to do.
/// Waits that a kernel wrote itself are not touched, and a barrier without a fence gets none.
llvm::Pass *createFirmUpWaitsPass();
llvm::Pass *createRemoveIdleWaitsPass();

/// Compute the waits of software pipelines for loads straight to LDS.
///
/// A program says what it waits for, not how many operations may stay outstanding: an inline
/// assembly "fly.wait_for_copies", with side effects, whose one operand points to LDS, waits until
/// the loads of this wave to the LDS variable that the operand lies in have arrived, and for
/// nothing else. Such a wait is one of vmcnt, which counts all vector memory operations in the
/// order in which they were issued: their number behind the youngest of those loads.
///  - When variables of LDS have got their places and alias scopes, the assembly becomes an
///    S_WAITCNT that carries the number of the scope that it waits for, and what the hardware would
///    read of it waits for everything.
///  - When all instructions have their places, spills included, the operations behind are counted,
///    on all paths, back edges too; the least number of them is written. Where no such load is
///    outstanding, the wait goes.
/// Loads of which it is not known where they write count for every wait. Which waits cannot be
/// computed says `checkCopyWaits`, before LLVM.
inline constexpr char copyWaitText[] = "fly.wait_for_copies";
llvm::Pass *createNumberCopyWaitsPass();
llvm::Pass *createCountCopyWaitsPass();

/// Keeps the time that code generation takes linear in the length of straight code.
///
/// LLVM's load and store vectorizer takes time squared in the accesses of a block, its machine
/// schedulers cubed, and common subexpressions of machine code squared in the instructions.
/// Unrolled code of tens of thousands of operations is one such block. This cuts long blocks into
/// pieces, directly before the vectorizer: each piece is a block, and begins with a
/// `llvm.amdgcn.sched.barrier` of mask 0, which is no instruction, but keeps pieces apart for the
/// scheduler that runs after the blocks were merged again. Code moves less across the cuts; results
/// are the same.
///
/// Blocks of the length that hand-unrolled main loops have stay as they are, and so do blocks whose
/// schedule the program spells out (`sched.group.barrier`, `iglp.opt`), which a cut would tear
/// apart.
llvm::Pass *createCutLongBlocksPass();

/// Keeps matrix instructions out of divergent branches that use their results.
///
/// A matrix instruction takes its operands from all lanes that EXEC names. LLVM 22 marks the
/// machine instructions of `llvm.amdgcn.mfma.scale.*`, `wmma.*` and `swmmac.*` as not convergent,
/// unlike the intrinsics and unlike all other matrix instructions. So machine sinking moves one
/// whose result only a branch uses into that branch, behind the change of EXEC: what the other
/// lanes hold is then missing from the sums, without a word. An empty inline assembly with the
/// result as its operand, in the block of the product, keeps it there. It costs no instruction;
/// products whose results are used in their own block, or by the next turn of a loop, get none.
llvm::Pass *createKeepConvergentProductsPass();

/// Keeps the upper half of a 16-bit arithmetic shift by 8 zero.
///
/// gfx9's 16-bit instructions clear the upper half of their result, and LLVM 22 lets 32-bit
/// instructions read it. Its SDWA peephole then puts the sign-extended upper byte in place of the
/// shift, which has 32 bits: `zext(ashr i16 x, 8)` of a negative x is read as a negative number.
/// This splits such a shift into shifts by 7 and by 1, which that peephole does not know.
llvm::Pass *createSplitSignedByteShiftsPass();

} // namespace fly

#endif // FLY_LIB_EMIT_CODEGENPASSES_H
