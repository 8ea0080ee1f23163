// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Context.h"

using namespace fly;

RuntimeArith::~RuntimeArith() = default;

void AlgebraContext::fail(const llvm::Twine &condition) {
  if (hasFailed)
    return;
  hasFailed = true;
  text = condition.str();
}

IntTuple fly::makeTuple(AlgebraContext &cx, llvm::ArrayRef<IntTuple> modes) {
  if (modes.empty()) {
    cx.fail("no mode is left, and empty tuples do not exist");
    return 0;
  }
  IntTuple result = IntTuple::tuple(modes);
  if (result.depth() > kMaxDepth || result.leafCount() > kMaxLeaves) {
    cx.fail("the result is deeper than " + llvm::Twine(kMaxDepth) + " levels or has more than " +
            llvm::Twine(kMaxLeaves) + " leaves");
    return 0;
  }
  return result;
}
