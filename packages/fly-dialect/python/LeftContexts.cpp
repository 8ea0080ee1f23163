// SPDX-License-Identifier: Apache-2.0
#include "LeftContexts.h"

#include "llvm/ADT/STLExtras.h"

#include <mutex>

using namespace fly::python;

namespace {

std::mutex mutex;
std::list<mlir::MLIRContext *> left;

} // namespace

bool fly::python::isLeft(mlir::MLIRContext *context) {
  std::lock_guard<std::mutex> lock(mutex);
  return llvm::is_contained(left, context);
}

LeftUnlessFinished::~LeftUnlessFinished() {
  std::lock_guard<std::mutex> lock(mutex);
  left.splice(left.end(), entry);
}
