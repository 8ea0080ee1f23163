// SPDX-License-Identifier: Apache-2.0
//
// Passes that keep values across divergent control flow which LLVM's AMDGPU back end would lose.
// They belong directly before code generation.
#ifndef FLY_LIB_EMIT_DIVERGENTVALUES_H
#define FLY_LIB_EMIT_DIVERGENTVALUES_H

#include "llvm/IR/PassManager.h"

namespace fly {

/// Works around wrong code of LLVM's AMDGPU back end (seen in 22.1.8).
///
/// A value that is the same for all lanes inside a loop, such as a counter, is not the same after
/// the loop when lanes leave it in different iterations. Instruction selection copies it to a
/// vector register inside the loop for that, but SIFoldOperands folds the copy into uses behind the
/// loop: lanes that left early then see the last lane's value.
///
/// This pass makes that copy with an empty piece of inline assembly, which nothing folds, for every
/// such value and no other. It belongs directly before code generation.
struct PinTemporalDivergencePass : llvm::PassInfoMixin<PinTemporalDivergencePass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
  /// It is about correctness: functions marked optnone need it too.
  static bool isRequired() { return true; }
};

/// Works around wrong code of LLVM's StructurizeCFG (seen in 22.1.8).
///
/// It hoists the value that an `else` block hands to a phi out of that block when the value costs
/// nothing (a negation, a truncation). When the block has several predecessors, as the default of a
/// lowered switch has, only one of the ways through it keeps the value; on the others the phi
/// becomes undefined.
///
/// This pass freezes such values in their block, which takes no instruction: the freeze has an
/// operand of the same block, and is not hoisted. It belongs directly before code generation.
struct KeepPhiValuesPass : llvm::PassInfoMixin<KeepPhiValuesPass> {
  llvm::PreservedAnalyses run(llvm::Function &function, llvm::FunctionAnalysisManager &analyses);
  /// It is about correctness: functions marked optnone need it too.
  static bool isRequired() { return true; }
};

} // namespace fly

#endif // FLY_LIB_EMIT_DIVERGENTVALUES_H
