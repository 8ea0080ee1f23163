// SPDX-License-Identifier: Apache-2.0
//
// What the bindings of our types have in common.

#ifndef FLY_PYTHON_TYPEBINDING_H
#define FLY_PYTHON_TYPEBINDING_H

#include "fly/Dialect/Fly/IR/FlyTypes.h"

#include "mlir/Bindings/Python/IRCore.h"
#include "mlir/CAPI/IR.h"
#include "mlir/IR/Diagnostics.h"

#include <string>

namespace fly::python {

namespace nb = nanobind;
namespace mp = mlir::python::MLIR_BINDINGS_PYTHON_DOMAIN;

/// Throws ValueError.
[[noreturn]] inline void fail(const llvm::Twine &message) {
  throw nb::value_error(message.str().c_str());
}

/// The binding of the MLIR type `Cpp` as the Python class `Derived::pyClassName`.
template <typename Derived, typename Cpp> struct TypeBinding : mp::PyConcreteType<Derived> {
  using Base = mp::PyConcreteType<Derived>;
  using CppType = Cpp;
  using Base::Base;

  static bool isInstance(MlirType type) { return mlir::isa<Cpp>(unwrap(type)); }
  static MlirTypeID typeId() { return wrap(Cpp::getTypeID()); }
  static constexpr typename Base::IsAFunctionTy isaFunction = isInstance;
  static constexpr typename Base::GetTypeIDFunctionTy getTypeIdFunction = typeId;

  Cpp cpp() const { return mlir::cast<Cpp>(unwrap(static_cast<MlirType>(*this))); }

private:
  friend Derived;
  TypeBinding() = default;
};

/// A type as the most derived Python class that is bound for it.
using AnyType = nb::typed<nb::object, mp::PyType>;
inline AnyType toPython(mp::PyMlirContextRef context, mlir::Type type) {
  return mp::PyType(std::move(context), wrap(type)).maybeDownCast();
}
inline nb::typed<nb::object, mp::PyAttribute> toPython(mp::PyMlirContextRef context,
                                                       mlir::Attribute attribute) {
  return mp::PyAttribute(std::move(context), wrap(attribute)).maybeDownCast();
}

/// The context that a binding function got, with the dialect `Dialect` loaded.
template <typename Dialect> mlir::MLIRContext *loadContext(mp::DefaultingPyMlirContext &context) {
  mlir::MLIRContext *cpp = unwrap(context->get());
  cpp->getOrLoadDialect<Dialect>();
  return cpp;
}

/// Makes a type that has a verifier; what the verifier says becomes a ValueError.
template <typename Cpp, typename... Args>
Cpp makeChecked(mlir::MLIRContext *context, Args &&...args) {
  std::string message;
  mlir::ScopedDiagnosticHandler handler(context, [&](mlir::Diagnostic &diagnostic) {
    message += (message.empty() ? "" : "\n") + diagnostic.str();
    return mlir::success();
  });
  auto emitError = [&] { return mlir::emitError(mlir::UnknownLoc::get(context)); };
  Cpp type = Cpp::getChecked(emitError, context, std::forward<Args>(args)...);
  if (!type)
    fail(message);
  return type;
}

/// The type that `type` wraps, which must be a `Cpp`; otherwise TypeError naming `what`.
template <typename Cpp> Cpp expectType(const mp::PyType &type, const char *what) {
  mlir::Type cpp = unwrap(type.get());
  if (auto cast = mlir::dyn_cast<Cpp>(cpp))
    return cast;
  std::string text;
  llvm::raw_string_ostream(text) << "expected " << what << ", got " << cpp;
  throw nb::type_error(text.c_str());
}

} // namespace fly::python

#endif // FLY_PYTHON_TYPEBINDING_H
