// SPDX-License-Identifier: Apache-2.0
#ifndef FLY_LIB_EMIT_HOISTEDPHIVALUES_H
#define FLY_LIB_EMIT_HOISTEDPHIVALUES_H

#include "llvm/IR/PassManager.h"

namespace fly {

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

#endif // FLY_LIB_EMIT_HOISTEDPHIVALUES_H
