// SPDX-License-Identifier: Apache-2.0
//
// What a trace does for each operation: ask which code makes it, and whether its operands are of
// the same trace; and make it. In Python, and through the general builder, that takes several times
// as long as the operation itself.

#include "CallChain.h"
#include "StableAbi.h"

#include "mlir/Bindings/Python/IRCore.h"
#include "mlir/CAPI/IR.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"

#include "llvm/ADT/SmallVector.h"

#include <nanobind/stl/string_view.h>

#include <cstdint>
#include <optional>
#include <string_view>

namespace nb = nanobind;
namespace mp = mlir::python::MLIR_BINDINGS_PYTHON_DOMAIN;

using namespace nb::literals;

/// See the docstring below.
static nb::object callChain(nb::handle boundary, nb::dict library) {
  llvm::SmallVector<int64_t, 16> chain;
  nb::object frame =
      nb::steal(reinterpret_cast<PyObject *>(PyThreadState_GetFrame(PyThreadState_Get())));
  while (frame.is_valid()) {
    auto *current = reinterpret_cast<PyFrameObject *>(frame.ptr());
    nb::object code = nb::steal(reinterpret_cast<PyObject *>(PyFrame_GetCode(current)));
    if (code.is(boundary))
      break;
    nb::object filename = fly::python::fileOf(reinterpret_cast<PyCodeObject *>(code.ptr()));
    PyObject *isLibrary = PyDict_GetItemWithError(library.ptr(), filename.ptr());
    if (!isLibrary) {
      if (PyErr_Occurred())
        nb::raise_python_error();
      return filename;
    }
    if (isLibrary == Py_False) {
      chain.push_back(reinterpret_cast<int64_t>(code.ptr()));
      chain.push_back(fly::python::instructionOf(current));
    }
    frame = nb::steal(reinterpret_cast<PyObject *>(fly::python::callerOf(current)));
  }
  return nb::bytes(chain.data(), chain.size() * sizeof(int64_t));
}

/// Whether the operation's verifier may look at the shape of operands that have none: the general
/// builder refuses those (GuardedOperations.cpp).
static bool needsGuard(const mlir::OperationState &state) {
  return state.name.getStringRef() == "arith.select" && !state.operands.empty() &&
         llvm::isa<mlir::ShapedType>(state.operands.front().getType());
}

namespace {

/// Where an operation of a trace goes.
struct BuildPoint {
  mp::PyMlirContext *context;
  mp::PyInsertionPoint *insertion;
  mp::PyLocation *location;
};

} // namespace

/// Where an operation goes that is made now; nothing if the context or its insertion point is not
/// the current one, or if the location is yet to be made.
static std::optional<BuildPoint> buildPointOf(nb::handle context, nb::handle boundary,
                                              nb::dict library, nb::dict locations) {
  auto *expected = nb::cast<mp::PyMlirContext *>(context);
  mp::PyThreadContextEntry *ambient = mp::PyThreadContextEntry::getTopOfStack();
  mp::PyInsertionPoint *insertion = ambient ? ambient->getInsertionPoint() : nullptr;
  if (!insertion || ambient->getContext() != expected)
    return std::nullopt;
  nb::object chain = callChain(boundary, library);
  PyObject *location = PyDict_GetItemWithError(locations.ptr(), chain.ptr());
  if (!location && PyErr_Occurred())
    nb::raise_python_error();
  mp::PyLocation *where = nullptr;
  if (!location || !nb::try_cast(nb::handle(location), where) || !where)
    return std::nullopt;
  return BuildPoint{expected, insertion, where};
}

/// Adds operands and attributes to `state`; false if one is of another context, or is none.
static bool addParts(mlir::OperationState &state, mp::PyMlirContext *context, nb::sequence operands,
                     nb::handle attributes) {
  for (nb::handle operand : operands) {
    mp::PyValue *value = nullptr;
    if (!nb::try_cast(operand, value) || !value ||
        value->getParentOperation()->getContext().get() != context)
      return false;
    state.operands.push_back(unwrap(value->get()));
  }
  if (!attributes.is_none())
    for (auto [key, held] : nb::cast<nb::dict>(attributes)) {
      mp::PyAttribute *attribute = nullptr;
      if (!nb::try_cast(held, attribute) || !attribute || attribute->getContext().get() != context)
        return false;
      state.addAttribute(nb::cast<std::string_view>(key), unwrap(attribute->get()));
    }
  return true;
}

/// See the docstring below.
static nb::object buildValue(nb::handle context, nb::handle boundary, nb::dict library,
                             nb::dict locations, std::string_view name, nb::sequence operands,
                             nb::handle result, nb::handle attributes, nb::handle start) {
  std::optional<BuildPoint> point = buildPointOf(context, boundary, library, locations);
  if (!point)
    return nb::none();
  auto known = mlir::RegisteredOperationName::lookup(llvm::StringRef(name.data(), name.size()),
                                                     unwrap(point->context->get()));
  if (!known)
    return nb::none();
  mlir::OperationState state(unwrap(static_cast<MlirLocation>(*point->location)), *known);
  if (!addParts(state, point->context, operands, attributes) || needsGuard(state))
    return nb::none();
  if (result.is_none()) {
    if (state.operands.empty())
      return nb::none();
    state.addTypes(state.operands.front().getType());
  } else {
    mp::PyType *type = nullptr;
    if (!nb::try_cast(result, type) || !type || type->getContext().get() != point->context)
      return nb::none();
    state.addTypes(unwrap(static_cast<MlirType>(*type)));
  }
  mp::PyBlock *block = nullptr;
  if (!start.is_none()) {
    if (!nb::try_cast(start, block) || !block ||
        block->getParentOperation()->getContext().get() != point->context)
      return nb::none();
    block->checkValid();
  }

  // Owned by its wrapper from here on.
  mp::PyOperationRef made = mp::PyOperation::createDetached(point->context->getRef(),
                                                            wrap(mlir::Operation::create(state)));
  if (block)
    mp::PyInsertionPoint::atBlockBegin(*block).insert(*made.get());
  else
    point->insertion->insert(*made.get());
  return mp::PyOpResult(made, mlirOperationGetResult(made->get(), 0)).maybeDownCast();
}

/// The operation that `state` describes, with the types that are inferred for its results; null,
/// and nothing is said, if its operands or attributes are refused.
static mlir::Operation *createInferred(const mlir::OperationState &state) {
  llvm::SmallVector<MlirValue, 4> operands;
  for (mlir::Value operand : state.operands)
    operands.push_back(wrap(operand));
  llvm::SmallVector<MlirNamedAttribute, 4> attributes;
  for (const mlir::NamedAttribute &attribute : state.attributes)
    attributes.push_back({wrap(attribute.getName()), wrap(attribute.getValue())});
  MlirOperationState given =
      mlirOperationStateGet(wrap(state.name.getStringRef()), wrap(state.location));
  mlirOperationStateAddOperands(&given, operands.size(), operands.data());
  mlirOperationStateAddAttributes(&given, attributes.size(), attributes.data());
  mlirOperationStateEnableResultTypeInference(&given);
  mlir::ScopedDiagnosticHandler quiet(state.getContext(),
                                      [](mlir::Diagnostic &) { return mlir::success(); });
  return unwrap(mlirOperationCreate(&given));
}

/// See the docstring below.
static nb::object inferValue(nb::handle context, nb::handle boundary, nb::dict library,
                             nb::dict locations, std::string_view name, nb::sequence operands,
                             nb::handle attributes) {
  std::optional<BuildPoint> point = buildPointOf(context, boundary, library, locations);
  if (!point)
    return nb::none();
  auto known = mlir::RegisteredOperationName::lookup(llvm::StringRef(name.data(), name.size()),
                                                     unwrap(point->context->get()));
  // The fly dialects look at operands before they infer from them (GuardedOperations.cpp).
  if (!known || !known->getDialectNamespace().starts_with("fly") ||
      !known->hasInterface<mlir::InferTypeOpInterface>())
    return nb::none();
  mlir::OperationState state(unwrap(static_cast<MlirLocation>(*point->location)), *known);
  if (!addParts(state, point->context, operands, attributes))
    return nb::none();
  mlir::Operation *made = createInferred(state); // The general builder says why, if there is none.
  if (!made || made->getNumResults() != 1) {
    if (made)
      made->destroy();
    return nb::none();
  }
  mp::PyOperationRef owned = mp::PyOperation::createDetached(point->context->getRef(), wrap(made));
  point->insertion->insert(*owned.get());
  return mp::PyOpResult(owned, mlirOperationGetResult(owned->get(), 0)).maybeDownCast();
}

/// See the docstring below.
static nb::object foreignOperand(nb::handle context, nb::sequence operands) {
  mp::PyMlirContext *expected = nb::cast<mp::PyMlirContext *>(context);
  if (&mp::DefaultingPyMlirContext::resolve() != expected)
    return nb::borrow(context);
  for (nb::handle operand : operands)
    if (nb::cast<mp::PyValue &>(operand).getParentOperation()->getContext().get() != expected)
      return nb::borrow(operand);
  return nb::none();
}

void fly::python::bindCallChain(nb::module_ &m) {
  m.def("call_chain", callChain, "boundary"_a, "library"_a,
        "Which instructions of users' code are being run, innermost first, as bytes: the address "
        "of the code and the offset in it of each frame up to the one that runs the code "
        "`boundary`. Frames whose file name is True in `library` are left out; a file name that it "
        "does not have is returned.");
  m.def(
      "build_value", buildValue, "context"_a, "boundary"_a, "library"_a, "locations"_a, "name"_a,
      "operands"_a, "result"_a.none(), "attributes"_a.none(), "start"_a.none() = nb::none(),
      "Make an operation of one result at the current insertion point, or at the start of the "
      "block `start`, and return the result, whose type is `result`, or that of the first operand. "
      "Its location is what `locations` has for `call_chain(boundary, library)`. None, and "
      "nothing is made, where that or anything else is not as usual: the context, the insertion "
      "point, an operand or attribute of something else, a dialect that is not loaded. "
      "`Operation.create` says what is wrong then, or makes the operation.");
  m.def("infer_value", inferValue, "context"_a, "boundary"_a, "library"_a, "locations"_a, "name"_a,
        "operands"_a, "attributes"_a.none(),
        "The same for an operation of the fly dialects, which infers the type of its one result. "
        "None also where the dialect refuses the operands or attributes.");
  m.def("foreign_operand", foreignOperand, "context"_a, "operands"_a,
        "The first of the values that is not of the context; the context itself when another one "
        "is the current one; else None.");
}
