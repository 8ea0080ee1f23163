// SPDX-License-Identifier: Apache-2.0
//
// Finds what Python holds of IR that was freed behind its back, and wraps (the linker's --wrap) the
// functions of the C interface that free it: passes, rewriters, symbol tables, blocks and modules.

#include "LiveHandles.h"
#include "LeftContexts.h"

#include "mlir-c/Pass.h"
#include "mlir-c/Rewrite.h"

#include "mlir/CAPI/IR.h"
#include "mlir/CAPI/Support.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Operation.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <nanobind/nanobind.h>

#include <new>
#include <stdexcept>

using namespace mlir;

namespace fly::python {

namespace {

constexpr const char *kByPass =
    "the operation has been invalidated: a pass or a pattern removed or replaced it; take it from "
    "the module again";
constexpr const char *kTable = "the symbol table is from before a pass; make a new one";
constexpr const char *kPlaceholder = "what made this value is gone";
constexpr const char *kErased = "the operation has been invalidated: it was erased";
constexpr const char *kNoMemory =
    "the operation has been invalidated: memory ran out while a pass or a pattern changed its "
    "module; trace or parse it again";
constexpr const char *kWithModule =
    "the operation has been invalidated: its module is gone; keep a reference to the module";

/// Calls `found` for each operation, block, argument and operand of the tree of `root`, with what
/// it belongs to.
void walkPointers(Operation *root,
                  llvm::function_ref<void(LiveHandle::Kind, const void *, Operation *)> found,
                  bool operands) {
  using Kind = LiveHandle::Kind;
  root->walk<WalkOrder::PreOrder>([&](Operation *op) {
    found(Kind::Operation, op, op);
    if (operands)
      for (OpOperand &operand : op->getOpOperands())
        found(Kind::Operand, &operand, op);
    for (Region &region : op->getRegions())
      for (Block &block : region) {
        found(Kind::Block, &block, op);
        for (BlockArgument argument : block.getArguments())
          found(Kind::Argument, argument.getAsOpaquePointer(), op);
      }
  });
}

/// What tells an operation from another one that was put in its place in memory. What cannot be
/// told apart so counts as the same.
llvm::hash_code identity(Operation *op) {
  llvm::hash_code result = llvm::hash_combine(
      op->getName().getAsOpaquePointer(), op->getLoc().getAsOpaquePointer(), op->getNumRegions(),
      op->getNumSuccessors(), llvm::hash_combine_range(op->getResultTypes()));
  // Passes change attributes of functions and modules in place; those have a name.
  if (op->getNumRegions())
    return llvm::hash_combine(result,
                              op->getAttrOfType<StringAttr>(SymbolTable::getSymbolAttrName()));
  return llvm::hash_combine(
      result, OperationEquivalence::computeHash(op, OperationEquivalence::ignoreHashValue,
                                                OperationEquivalence::ignoreHashValue));
}

/// A use, by an operation outside of the tree of a root, of a value that something in it makes.
/// MLIR lists uses with the value: once the value is freed, the end of the user would write to it.
struct OutsideUse {
  OpOperand *use;
  Value value;
  llvm::hash_code maker; ///< the identity of what makes the value

  /// What the list of handles knows the maker by.
  const void *pointer() const {
    Operation *op = value.getDefiningOp();
    return op ? op : value.getAsOpaquePointer();
  }
};

/// The uses of values of the tree of `root` outside of it: those by operations that Python holds
/// and that stand in no block, and of the root's own results if `ofRoot`.
llvm::SmallVector<OutsideUse> outsideUses(Operation *root, bool ofRoot) {
  llvm::DenseSet<Region *> inside;
  root->walk([&](Region *region) { inside.insert(region); });
  llvm::SmallVector<OutsideUse> found;
  auto look = [&](Value value, Operation *maker, bool everywhere) {
    for (OpOperand &use : value.getUses()) {
      Region *user = use.getOwner()->getParentRegion();
      // Most values are used where they are made.
      if (everywhere || (user != value.getParentRegion() && !inside.contains(user)))
        found.push_back({&use, value, identity(maker)});
    }
  };
  root->walk([&](Operation *op) {
    if (op != root || ofRoot)
      for (Value result : op->getResults())
        look(result, op, /*everywhere=*/op == root);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (BlockArgument argument : block.getArguments())
          look(argument, op, /*everywhere=*/false);
  });
  return found;
}

/// Gives the use a value that stays until the context goes. No verifier takes it for one that the
/// user may use, and it says what it is in the place of.
void putPlaceholder(const OutsideUse &outside) {
  MLIRContext *context = outside.use->getOwner()->getContext();
  OperationState state(NameLoc::get(StringAttr::get(context, kPlaceholder)),
                       UnrealizedConversionCastOp::getOperationName());
  state.addTypes(outside.value.getType());
  Operation *placeholder = Operation::create(state);
  outside.use->set(placeholder->getResult(0));
  mlirOperationDestroy(wrap(placeholder)); // Keeps it until then (GuardedOperations.cpp).
}

} // namespace

/// The list, and the runs that are going on.
class LiveHandles {
public:
  /// Watches the handles into the tree of `root` while something changes that.
  class Watch {
  public:
    explicit Watch(Operation *root) : root(root), outer(innermost), since(numbers) {
      if (first)
        look();
      innermost = this; // Last: where there was no memory for this watch, nobody may find it.
    }

    ~Watch() {
      innermost = outer;
      if (isLeft(root->getContext())) {
        invalidateAll();
        return;
      }
      try {
        settle();
      } catch (const std::bad_alloc &) {
        invalidateAll();
      }
    }

    Watch(const Watch &) = delete;
    Watch &operator=(const Watch &) = delete;

  private:
    friend class LiveHandles;

    /// Where nobody can tell any more which of them are alive.
    void invalidateAll() {
      forEach([&](LiveHandle *handle) {
        if (handle->number > since || before.contains(handle))
          handle->invalidate(kNoMemory);
      });
    }

    /// Takes down the handles into the tree, and takes its values from operations outside of it.
    void look() {
      outside = outsideUses(root, /*ofRoot=*/false);
      llvm::for_each(outside, putPlaceholder);
      const Index held;
      walkPointers(
          root,
          [&](LiveHandle::Kind kind, const void *pointer, Operation *op) {
            held.forEach(kind, pointer, [&](LiveHandle *handle) {
              // The root itself stays; a table of its symbols may not.
              if (pointer != root || handle->kind() == LiveHandle::Kind::SymbolTable)
                before.try_emplace(handle, identity(op));
            });
          },
          held.operands);
    }

    /// Invalidates the handles to what is gone.
    void settle() {
      restoreOutsideUses();
      // Handles made meanwhile are in no order with what was freed: they have to be found, too.
      const bool made = first && first->number > since;
      if (before.empty() && !made)
        return;
      Operation *top = root;
      while (made && top->getParentOp())
        top = top->getParentOp();
      llvm::DenseMap<LiveHandle *, bool> alive;
      const Index held;
      walkPointers(
          top,
          [&](LiveHandle::Kind kind, const void *pointer, Operation *op) {
            held.forEach(kind, pointer, [&](LiveHandle *handle) {
              auto known = before.find(handle);
              if (known == before.end() || (handle->kind() != LiveHandle::Kind::SymbolTable &&
                                            known->second == identity(op)))
                alive[handle] = true;
            });
          },
          held.operands);
      forEach([&](LiveHandle *handle) {
        if ((handle->number > since || before.contains(handle)) && !alive.contains(handle))
          handle->invalidate(handle->kind() == LiveHandle::Kind::SymbolTable ? kTable : kByPass);
      });
    }

    /// Calls `found` for each handle that there is, which may take that one from the list.
    static void forEach(llvm::function_ref<void(LiveHandle *)> found) {
      for (LiveHandle *handle = first, *next; handle; handle = next) {
        next = handle->next;
        found(handle);
      }
    }

    /// Gives the uses outside of the tree their values again, where these are still there.
    void restoreOutsideUses() {
      if (outside.empty())
        return;
      llvm::DenseMap<const void *, llvm::hash_code> makers;
      walkPointers(
          root,
          [&](LiveHandle::Kind kind, const void *pointer, Operation *op) {
            if (kind == LiveHandle::Kind::Operation || kind == LiveHandle::Kind::Argument)
              makers.try_emplace(pointer, identity(op));
          },
          /*operands=*/false);
      for (const OutsideUse &one : outside)
        if (auto maker = makers.find(one.pointer());
            maker != makers.end() && maker->second == one.maker)
          one.use->set(one.value);
    }

    Operation *root;
    Watch *outer;
    uint64_t since;
    llvm::DenseMap<LiveHandle *, llvm::hash_code> before;
    llvm::SmallVector<OutsideUse> outside;
  };

  /// Invalidates the handles to what `root` holds, and to itself, and takes its values from
  /// operations outside of it; the results of itself not where they are `replaced`.
  static void forget(Operation *root, const char *why, bool replaced = false) {
    if (!first || !root)
      return;
    llvm::for_each(outsideUses(root, /*ofRoot=*/!replaced), putPlaceholder);
    const Index held;
    walkPointers(
        root,
        [&](LiveHandle::Kind kind, const void *pointer, Operation *) {
          held.forEach(kind, pointer, [&](LiveHandle *handle) { handle->invalidate(why); });
        },
        held.operands);
  }

  /// Invalidates the handles of one kind to `pointer`.
  static void forget(LiveHandle::Kind kind, const void *pointer, const char *why) {
    for (LiveHandle *handle = first, *next; handle; handle = next) {
      next = handle->next;
      if (handle->kind() == kind && handle->pointer() == pointer)
        handle->invalidate(why);
    }
  }

  static bool anyInside(Operation *root) {
    bool any = false;
    const Index held;
    walkPointers(
        root,
        [&](LiveHandle::Kind kind, const void *pointer, Operation *) {
          held.forEach(kind, pointer, [&](LiveHandle *handle) {
            any |= pointer != root || handle->kind() == LiveHandle::Kind::SymbolTable;
          });
        },
        held.operands);
    return any;
  }

  static void add(LiveHandle *handle) {
    nanobind::ft_lock_guard guard(mutex);
    handle->number = ++numbers;
    handle->previous = nullptr;
    handle->next = first;
    if (first)
      first->previous = handle;
    first = handle;
  }

  static void remove(LiveHandle *handle) {
    nanobind::ft_lock_guard guard(mutex);
    for (Watch *watch = innermost; watch; watch = watch->outer)
      watch->before.erase(handle);
    (handle->previous ? handle->previous->next : first) = handle->next;
    if (handle->next)
      handle->next->previous = handle->previous;
    handle->number = 0;
  }

private:
  /// All handles by what they point to.
  struct Index {
    Index() {
      for (LiveHandle *handle = first; handle; handle = handle->next) {
        handles[handle->pointer()].push_back(handle);
        operands |= handle->kind() == LiveHandle::Kind::Operand;
      }
    }

    void forEach(LiveHandle::Kind kind, const void *pointer,
                 llvm::function_ref<void(LiveHandle *)> visit) const {
      auto found = handles.find(pointer);
      if (found == handles.end())
        return;
      for (LiveHandle *handle : found->second)
        if (handle->kind() == kind || (kind == LiveHandle::Kind::Operation &&
                                       handle->kind() == LiveHandle::Kind::SymbolTable))
          visit(handle);
    }

    llvm::DenseMap<const void *, llvm::SmallVector<LiveHandle *, 1>> handles;
    bool operands = false;
  };

  // The newest is first. Python's lock protects them; without it, `mutex` does.
  static inline LiveHandle *first = nullptr;
  static inline Watch *innermost = nullptr;
  static inline uint64_t numbers = 0;
  static inline nanobind::ft_mutex mutex;
};

LiveHandle::LiveHandle(Kind kind, const void *pointer) : held(pointer), what(kind) { list(); }

LiveHandle::LiveHandle(const LiveHandle &other)
    : held(other.held), gone(other.gone), what(other.what) {
  list();
}

LiveHandle &LiveHandle::operator=(const LiveHandle &other) {
  if (this == &other)
    return *this;
  unlist();
  held = other.held;
  gone = other.gone;
  what = other.what;
  list();
  return *this;
}

void LiveHandle::list() {
  if (held && !gone)
    LiveHandles::add(this);
}

void LiveHandle::unlist() {
  if (number)
    LiveHandles::remove(this);
}

void LiveHandle::invalidate(const char *why) {
  unlist();
  gone = why;
}

void LiveHandle::raise(const char *reason) { throw std::runtime_error(reason); }

const void *blockArgumentOf(MlirValue value) {
  Value known = value.ptr ? unwrap(value) : Value();
  return isa_and_present<BlockArgument>(known) ? known.getAsOpaquePointer() : nullptr;
}

bool isHeldInside(MlirOperation root) { return LiveHandles::anyInside(unwrap(root)); }

const void *operationOf(MlirSymbolTable table) {
  return table.ptr ? unwrap(table)->getOp() : nullptr;
}

} // namespace fly::python

using fly::python::LiveHandle;
using fly::python::LiveHandles;

extern "C" {
MlirLogicalResult __real_mlirPassManagerRunOnOp(MlirPassManager manager, MlirOperation operation);
MlirLogicalResult __real_mlirApplyPatternsAndFoldGreedily(MlirModule module,
                                                          MlirFrozenRewritePatternSet patterns,
                                                          MlirGreedyRewriteDriverConfig config);
MlirLogicalResult
__real_mlirApplyPatternsAndFoldGreedilyWithOp(MlirOperation operation,
                                              MlirFrozenRewritePatternSet patterns,
                                              MlirGreedyRewriteDriverConfig config);
void __real_mlirWalkAndApplyPatterns(MlirOperation operation, MlirFrozenRewritePatternSet patterns);
void __real_mlirRewriterBaseEraseOp(MlirRewriterBase rewriter, MlirOperation operation);
void __real_mlirRewriterBaseReplaceOpWithOperation(MlirRewriterBase rewriter,
                                                   MlirOperation operation, MlirOperation other);
void __real_mlirRewriterBaseReplaceOpWithValues(MlirRewriterBase rewriter, MlirOperation operation,
                                                intptr_t count, MlirValue const *values);
void __real_mlirSymbolTableErase(MlirSymbolTable table, MlirOperation operation);
void __real_mlirBlockEraseArgument(MlirBlock block, unsigned index);
void __real_mlirModuleDestroy(MlirModule module);

MlirLogicalResult __wrap_mlirPassManagerRunOnOp(MlirPassManager manager, MlirOperation operation) {
  LiveHandles::Watch watch(unwrap(operation));
  // A pass that runs out of memory ends by an exception, and MLIR has nothing that would catch it.
  fly::python::LeftUnlessFinished run(unwrap(operation)->getContext());
  MlirLogicalResult result = __real_mlirPassManagerRunOnOp(manager, operation);
  run.finish();
  return result;
}

MlirLogicalResult __wrap_mlirApplyPatternsAndFoldGreedily(MlirModule module,
                                                          MlirFrozenRewritePatternSet patterns,
                                                          MlirGreedyRewriteDriverConfig config) {
  LiveHandles::Watch watch(unwrap(mlirModuleGetOperation(module)));
  return __real_mlirApplyPatternsAndFoldGreedily(module, patterns, config);
}

MlirLogicalResult
__wrap_mlirApplyPatternsAndFoldGreedilyWithOp(MlirOperation operation,
                                              MlirFrozenRewritePatternSet patterns,
                                              MlirGreedyRewriteDriverConfig config) {
  LiveHandles::Watch watch(unwrap(operation));
  return __real_mlirApplyPatternsAndFoldGreedilyWithOp(operation, patterns, config);
}

void __wrap_mlirWalkAndApplyPatterns(MlirOperation operation,
                                     MlirFrozenRewritePatternSet patterns) {
  LiveHandles::Watch watch(unwrap(operation));
  __real_mlirWalkAndApplyPatterns(operation, patterns);
}

void __wrap_mlirRewriterBaseEraseOp(MlirRewriterBase rewriter, MlirOperation operation) {
  LiveHandles::forget(unwrap(operation), fly::python::kByPass);
  __real_mlirRewriterBaseEraseOp(rewriter, operation);
}

void __wrap_mlirRewriterBaseReplaceOpWithOperation(MlirRewriterBase rewriter,
                                                   MlirOperation operation, MlirOperation other) {
  LiveHandles::forget(unwrap(operation), fly::python::kByPass, /*replaced=*/true);
  __real_mlirRewriterBaseReplaceOpWithOperation(rewriter, operation, other);
}

void __wrap_mlirRewriterBaseReplaceOpWithValues(MlirRewriterBase rewriter, MlirOperation operation,
                                                intptr_t count, MlirValue const *values) {
  LiveHandles::forget(unwrap(operation), fly::python::kByPass, /*replaced=*/true);
  __real_mlirRewriterBaseReplaceOpWithValues(rewriter, operation, count, values);
}

void __wrap_mlirSymbolTableErase(MlirSymbolTable table, MlirOperation operation) {
  LiveHandles::forget(unwrap(operation), fly::python::kErased);
  __real_mlirSymbolTableErase(table, operation);
}

void __wrap_mlirBlockEraseArgument(MlirBlock block, unsigned index) {
  if (index >= unwrap(block)->getNumArguments())
    throw std::out_of_range("the block has no such argument");
  if (!unwrap(block)->getArgument(index).use_empty())
    throw std::invalid_argument("the argument is used; replace its uses, then erase it");
  LiveHandles::forget(LiveHandle::Kind::Argument,
                      unwrap(block)->getArgument(index).getAsOpaquePointer(),
                      "the argument was erased from its block");
  __real_mlirBlockEraseArgument(block, index);
}

void __wrap_mlirModuleDestroy(MlirModule module) {
  if (fly::python::isLeft(unwrap(mlirModuleGetContext(module))))
    return;
  LiveHandles::forget(unwrap(mlirModuleGetOperation(module)), fly::python::kWithModule);
  __real_mlirModuleDestroy(module);
}

} // extern "C"
