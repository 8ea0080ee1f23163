// SPDX-License-Identifier: Apache-2.0
//
// flydsl._mlir._mlir_libs._flyNVVMDialect: the types of the fly_nvvm dialect.

#include "ParameterBinding.h"

#include "fly/Dialect/FlyNVVM/IR/FlyNVVMDialect.h"

#include <nanobind/stl/string.h>

namespace fly::python {

using namespace fly::nvvm;

template <> struct Crossing<llvm::StringRef> {
  using Argument = const std::string &;
  static llvm::StringRef toCpp(const std::string &text) { return text; }
  static std::string toPython(const mp::PyMlirContextRef &, llvm::StringRef text) {
    return text.str();
  }
};

namespace {

struct PyWGMMA : TypeBinding<PyWGMMA, SM90WGMMAType> {
  static constexpr const char *pyClassName = "SM90WGMMAType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindParameters<FlyNVVMDialect, PyWGMMA>(
        c, parameter("m", &CppType::getM), parameter("n", &CppType::getN),
        parameter("k", &CppType::getK), parameter("elem_ty_a", &CppType::getElemTyA),
        parameter("elem_ty_b", &CppType::getElemTyB),
        parameter("elem_ty_acc", &CppType::getElemTyAcc),
        parameter("registers_a", &CppType::getRegistersA, false),
        parameter("mn_major_a", &CppType::getMnMajorA, false),
        parameter("mn_major_b", &CppType::getMnMajorB, false));
  }
};

struct PyMmaSync : TypeBinding<PyMmaSync, SM80MmaSyncType> {
  static constexpr const char *pyClassName = "SM80MmaSyncType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindParameters<FlyNVVMDialect, PyMmaSync>(
        c, parameter("m", &CppType::getM), parameter("n", &CppType::getN),
        parameter("k", &CppType::getK), parameter("elem_ty_a", &CppType::getElemTyA),
        parameter("elem_ty_b", &CppType::getElemTyB),
        parameter("elem_ty_acc", &CppType::getElemTyAcc));
  }
};

/// A copy of 8 x 8 matrices by a warp.
template <typename Binding> void bindMatrices(typename Binding::ClassTy &c) {
  using Cpp = typename Binding::CppType;
  bindParameters<FlyNVVMDialect, Binding>(c, parameter("matrices", &Cpp::getMatrices),
                                          parameter("transposed", &Cpp::getTransposed, false));
}

struct PyLdMatrix : TypeBinding<PyLdMatrix, LdMatrixType> {
  static constexpr const char *pyClassName = "LdMatrixType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) { bindMatrices<PyLdMatrix>(c); }
};

struct PyStMatrix : TypeBinding<PyStMatrix, StMatrixType> {
  static constexpr const char *pyClassName = "StMatrixType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) { bindMatrices<PyStMatrix>(c); }
};

struct PyCpAsync : TypeBinding<PyCpAsync, SM80CpAsyncType> {
  static constexpr const char *pyClassName = "SM80CpAsyncType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindParameters<FlyNVVMDialect, PyCpAsync>(c, parameter("bits", &CppType::getBits),
                                              parameter("l1", &CppType::getL1, false));
  }
};

/// A type with a box of a tensor, its elements and its swizzle.
template <typename Binding, typename... Parameters>
void bindBox(typename Binding::ClassTy &c, const Parameters &...parameters) {
  using Cpp = typename Binding::CppType;
  bindParameters<FlyNVVMDialect, Binding>(c, parameter("box", &Cpp::getBox),
                                          parameter("elem", &Cpp::getElem),
                                          parameter("swizzle", &Cpp::getSwizzle), parameters...);
}

struct PyTensorMap : TypeBinding<PyTensorMap, TensorMapType> {
  static constexpr const char *pyClassName = "TensorMapType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) { bindBox<PyTensorMap>(c); }
};

struct PyTMALoad : TypeBinding<PyTMALoad, SM90TMALoadType> {
  static constexpr const char *pyClassName = "SM90TMALoadType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindBox<PyTMALoad>(c, parameter("multicast", &CppType::getMulticast, false),
                       parameter("evict_first", &CppType::getEvictFirst, false));
  }
};

struct PyTMAStore : TypeBinding<PyTMAStore, SM90TMAStoreType> {
  static constexpr const char *pyClassName = "SM90TMAStoreType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) { bindBox<PyTMAStore>(c); }
};

struct PyTMAReduce : TypeBinding<PyTMAReduce, SM90TMAReduceType> {
  static constexpr const char *pyClassName = "SM90TMAReduceType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindBox<PyTMAReduce>(c, parameter("kind", &CppType::getKind));
  }
};

} // namespace
} // namespace fly::python

NB_MODULE(_flyNVVMDialect, m) {
  using namespace fly::python;
  m.doc() = "Types of the fly_nvvm dialect.";
  // Bases of the classes below, and what tuples are made of.
  nb::module_::import_("flydsl._mlir._mlir_libs._flyDialect");
  PyWGMMA::bind(m);
  PyMmaSync::bind(m);
  PyLdMatrix::bind(m);
  PyStMatrix::bind(m);
  PyCpAsync::bind(m);
  PyTensorMap::bind(m);
  PyTMALoad::bind(m);
  PyTMAStore::bind(m);
  PyTMAReduce::bind(m);
}
