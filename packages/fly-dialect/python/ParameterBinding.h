// SPDX-License-Identifier: Apache-2.0
//
// Binds types that are what their parameters are: each is an argument of the class's `get` and a
// property of its objects.

#ifndef FLY_PYTHON_PARAMETERBINDING_H
#define FLY_PYTHON_PARAMETERBINDING_H

#include "PyTuples.h"
#include "TypeBinding.h"

#include <nanobind/stl/vector.h>

#include <type_traits>

namespace fly::python {

/// How a parameter crosses to Python: what `get` takes for it, and what the property is.
template <typename T> struct Crossing {
  using Argument = T;
  static T toCpp(T value) { return value; }
  static T toPython(const mp::PyMlirContextRef &, T value) { return value; }
};
template <> struct Crossing<mlir::Type> {
  using Argument = const mp::PyType &;
  static mlir::Type toCpp(const mp::PyType &type) { return unwrap(type.get()); }
  static AnyType toPython(const mp::PyMlirContextRef &context, mlir::Type type) {
    return python::toPython(context, type);
  }
};
template <> struct Crossing<llvm::ArrayRef<int32_t>> {
  using Argument = const std::vector<int32_t> &;
  static llvm::ArrayRef<int32_t> toCpp(const std::vector<int32_t> &values) { return values; }
  static std::vector<int32_t> toPython(const mp::PyMlirContextRef &,
                                       llvm::ArrayRef<int32_t> values) {
    return values.vec();
  }
};
template <> struct Crossing<IntTuple> {
  using Argument = nb::handle;
  static IntTuple toCpp(nb::handle tuple) { return tupleFromPython(tuple); }
  static auto toPython(const mp::PyMlirContextRef &, const IntTuple &tuple) {
    return tupleToPython(tuple);
  }
};
/// A fly.AtomicOp.
template <> struct Crossing<AtomicOp> {
  using Argument = uint32_t;
  static AtomicOp toCpp(uint32_t number) {
    std::optional<AtomicOp> known = symbolizeAtomicOp(number);
    if (!known)
      fail("no atomic operation has the number " + llvm::Twine(number));
    return *known;
  }
  static uint32_t toPython(const mp::PyMlirContextRef &, AtomicOp op) {
    return static_cast<uint32_t>(op);
  }
};

template <typename Getter, typename Arg> struct Parameter;
template <typename Cpp, typename Result, typename Arg>
struct Parameter<Result (Cpp::*)() const, Arg> {
  using Cross = Crossing<std::decay_t<Result>>;
  const char *name;
  Result (Cpp::*getter)() const;
  Arg arg;
};

/// A parameter that has to be given.
template <typename Getter> auto parameter(const char *name, Getter getter) {
  return Parameter<Getter, nb::arg>{name, getter, nb::arg(name)};
}
/// A parameter with a default.
template <typename Getter, typename Value>
auto parameter(const char *name, Getter getter, Value value) {
  return Parameter<Getter, nb::arg_v>{name, getter, nb::arg(name) = value};
}

/// Binds a type of `Dialect`, which has a verifier, by its parameters in ODS's order.
template <typename Dialect, typename Binding, typename... Parameters>
void bindParameters(typename Binding::ClassTy &c, const Parameters &...parameters) {
  using Context = mp::DefaultingPyMlirContext;
  c.def_static(
      "get",
      [](typename Parameters::Cross::Argument... arguments, Context context) {
        mlir::MLIRContext *cpp = loadContext<Dialect>(context);
        auto type =
            makeChecked<typename Binding::CppType>(cpp, Parameters::Cross::toCpp(arguments)...);
        return Binding(context->getRef(), wrap(mlir::Type(type)));
      },
      parameters.arg..., nb::arg("context") = nb::none());
  auto bindProperty = [&](const auto &parameter) {
    using Cross = typename std::decay_t<decltype(parameter)>::Cross;
    c.def_prop_ro(parameter.name, [getter = parameter.getter](Binding &self) {
      return Cross::toPython(self.getContext(), (self.cpp().*getter)());
    });
  };
  (bindProperty(parameters), ...);
}

} // namespace fly::python

#endif // FLY_PYTHON_PARAMETERBINDING_H
