// SPDX-License-Identifier: Apache-2.0
//
// Contexts that something left in the middle of changing their IR: a pass that ran out of memory.
// MLIR is compiled without exceptions, so nothing has put them in order. They stay in memory, with
// all that is in them, and nobody looks at them again.
#ifndef FLY_PYTHON_LEFTCONTEXTS_H
#define FLY_PYTHON_LEFTCONTEXTS_H

#include <list>

namespace mlir {
class MLIRContext;
}

namespace fly::python {

/// Whether the context was left.
bool isLeft(mlir::MLIRContext *context);

/// The context is left when this goes before `finish` was called.
class LeftUnlessFinished {
public:
  explicit LeftUnlessFinished(mlir::MLIRContext *context) : entry{context} {}
  ~LeftUnlessFinished();
  LeftUnlessFinished(const LeftUnlessFinished &) = delete;
  LeftUnlessFinished &operator=(const LeftUnlessFinished &) = delete;

  void finish() { entry.clear(); }

private:
  std::list<mlir::MLIRContext *> entry; ///< What the list of all gets: there is no memory then.
};

} // namespace fly::python

#endif // FLY_PYTHON_LEFTCONTEXTS_H
