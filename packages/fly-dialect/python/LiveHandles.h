// SPDX-License-Identifier: Apache-2.0
//
// What Python holds of IR that a pass may free. MLIR's classes of the bindings hold bare pointers;
// python/CMakeLists.txt puts these classes in their place. Each lists itself, so that what passes,
// rewriters and the end of a module free is known to be gone: its use raises.
#ifndef FLY_PYTHON_LIVEHANDLES_H
#define FLY_PYTHON_LIVEHANDLES_H

#include "mlir-c/IR.h"

#include <cstdint>

namespace fly::python {

/// A pointer into IR that Python holds, one of a list of all of them.
class LiveHandle {
public:
  enum class Kind : uint8_t { Operation, Block, Argument, Operand, SymbolTable };

  /// Why the pointer must not be used any more; null while it may.
  const char *reason() const { return gone; }
  const void *pointer() const { return held; }
  Kind kind() const { return what; }

  /// Takes the handle from the list; from now on its use raises with `why`.
  void invalidate(const char *why);

protected:
  /// Null pointers are not listed.
  LiveHandle(Kind kind, const void *pointer);
  LiveHandle(const LiveHandle &other);
  LiveHandle &operator=(const LiveHandle &other);
  ~LiveHandle() { unlist(); }

  void check() const {
    if (gone)
      raise(gone);
  }

private:
  friend class LiveHandles;
  void list();
  void unlist();
  [[noreturn]] static void raise(const char *reason);

  LiveHandle *previous = nullptr;
  LiveHandle *next = nullptr;
  const void *held;
  const char *gone = nullptr;
  uint64_t number = 0; ///< in the order of listing
  Kind what;
};

/// Whether the operation of a handle may be used, in the place of a bool.
class OperationValidity : public LiveHandle {
public:
  explicit OperationValidity(MlirOperation operation)
      : LiveHandle(Kind::Operation, operation.ptr) {}
  operator bool() const { return !reason(); }
  OperationValidity &operator=(bool valid) {
    if (!valid && !reason())
      invalidate("the operation has been invalidated");
    return *this;
  }
};

/// Null for values that stand and fall with their operation.
const void *blockArgumentOf(MlirValue value);

/// In the place of an `MlirBlock`, `MlirValue`, … of the C interface. Its use raises once it is
/// gone.
template <typename T> class Held : public LiveHandle {
public:
  Held(T value) : LiveHandle(kindOf(value), pointerOf(value)), value(value) {}
  operator T() const {
    check();
    return value;
  }

private:
  static Kind kindOf(MlirOperation) { return Kind::Operation; }
  static Kind kindOf(MlirBlock) { return Kind::Block; }
  static Kind kindOf(MlirValue) { return Kind::Argument; }
  static Kind kindOf(MlirOpOperand) { return Kind::Operand; }
  static const void *pointerOf(MlirValue value) { return blockArgumentOf(value); }
  template <typename Other> static const void *pointerOf(Other value) { return value.ptr; }

  T value;
};

/// The operation that a symbol table is of; null for no table.
const void *operationOf(MlirSymbolTable table);

/// In the place of an `MlirSymbolTable`, which holds pointers to the operations in it.
class HeldSymbolTable : public LiveHandle {
public:
  HeldSymbolTable(MlirSymbolTable table = {nullptr})
      : LiveHandle(Kind::SymbolTable, operationOf(table)), table(table) {}
  operator MlirSymbolTable() const {
    check();
    return table;
  }
  /// For the destructor of its owner.
  MlirSymbolTable unchecked() const { return table; }

private:
  MlirSymbolTable table;
};

/// Whether Python holds something that is inside of the operation.
bool isHeldInside(MlirOperation root);

} // namespace fly::python

#endif // FLY_PYTHON_LIVEHANDLES_H
