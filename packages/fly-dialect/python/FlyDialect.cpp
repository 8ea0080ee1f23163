// SPDX-License-Identifier: Apache-2.0
//
// flydsl._mlir._mlir_libs._flyDialect: the types of the fly dialect.

#include "CallChain.h"
#include "LayoutTypes.h"
#include "PyTuples.h"
#include "TypeFacts.h"

#include "mlir/Bindings/Python/NanobindAdaptors.h"
#include "mlir/CAPI/IR.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace nanobind::literals;

/// Whether code in `op` depends on which thread of a workgroup runs it.
static bool asksForThread(mlir::Operation *op) {
  return op
      ->walk([](mlir::Operation *inside) {
        return llvm::isa<mlir::gpu::ThreadIdOp, mlir::gpu::LaneIdOp>(inside)
                   ? mlir::WalkResult::interrupt()
                   : mlir::WalkResult::advance();
      })
      .wasInterrupted();
}

NB_MODULE(_flyDialect, m) {
  namespace python = fly::python;
  m.doc() = "Types of the fly dialect.";
  python::bindTupleValues(m);
  python::bindLayoutTypes(m);
  python::bindMemoryTypes(m);
  python::bindAtomTypes(m);
  python::bindTypeFacts(m);
  python::bindCallChain(m);
  m.def(
      "is_static_type",
      [](const python::mp::PyType &type) { return fly::isStaticType(unwrap(type.get())); },
      "type"_a,
      "Whether the type describes its value completely, so that the value can be rebuilt.");
  m.def(
      "asks_for_thread", [](MlirOperation op) { return asksForThread(unwrap(op)); }, "op"_a,
      "Whether code in the operation asks for the index of its thread or lane.");
  m.def(
      "llvm_function_type",
      [](std::optional<python::mp::PyType> result,
         const std::vector<python::mp::PyType> &parameters,
         python::mp::DefaultingPyMlirContext context) {
        mlir::MLIRContext *cpp = unwrap(context->get());
        cpp->getOrLoadDialect<mlir::LLVM::LLVMDialect>();
        llvm::SmallVector<mlir::Type> types;
        for (const python::mp::PyType &parameter : parameters)
          types.push_back(unwrap(parameter.get()));
        mlir::Type returned = result ? unwrap(result->get()) : mlir::LLVM::LLVMVoidType::get(cpp);
        if (!mlir::LLVM::LLVMFunctionType::isValidResultType(returned) ||
            !llvm::all_of(types, mlir::LLVM::LLVMFunctionType::isValidArgumentType))
          throw nanobind::value_error("a function of LLVM takes and returns types that LLVM has");
        return wrap(mlir::Type(mlir::LLVM::LLVMFunctionType::get(returned, types)));
      },
      "result"_a.none(), "parameters"_a, "context"_a = nanobind::none(),
      nanobind::sig("def llvm_function_type(result: flydsl._mlir.ir.Type | None, parameters: "
                    "collections.abc.Sequence[flydsl._mlir.ir.Type], context: "
                    "flydsl._mlir.ir.Context | None = None) -> flydsl._mlir.ir.Type"),
      "The type of a function of LLVM; it returns nothing where the result is None.");
  m.def(
      "states_memory_effects",
      [](const std::string &operation, python::mp::DefaultingPyMlirContext context) {
        mlir::MLIRContext *cpp = unwrap(context->get());
        cpp->getOrLoadDialect(llvm::StringRef(operation).split('.').first);
        auto name = mlir::RegisteredOperationName::lookup(operation, cpp);
        if (!name)
          throw nanobind::key_error(operation.c_str());
        return name->hasInterface<mlir::MemoryEffectOpInterface>() ||
               name->hasTrait<mlir::OpTrait::HasRecursiveMemoryEffects>();
      },
      "operation"_a, "context"_a = nanobind::none(),
      "Whether a registered operation says what memory it touches, rather than leaving passes to "
      "assume the worst.");
}
