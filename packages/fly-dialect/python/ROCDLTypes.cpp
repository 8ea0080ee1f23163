// SPDX-License-Identifier: Apache-2.0
//
// flydsl._mlir._mlir_libs._flyROCDLDialect: the types of the fly_rocdl dialect.

#include "PyTuples.h"

#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using namespace nanobind::literals;

namespace fly::python {

using namespace fly::rocdl;
using Context = mp::DefaultingPyMlirContext;

// A verified type of the dialect as its Python class.
template <typename Binding, typename... Args>
static Binding make(Context &context, Args &&...args) {
  mlir::MLIRContext *cpp = loadContext<FlyROCDLDialect>(context);
  using Cpp = typename Binding::CppType;
  return Binding(context->getRef(),
                 wrap(mlir::Type(makeChecked<Cpp>(cpp, std::forward<Args>(args)...))));
}

template <typename Binding, typename Getter>
static void property(typename Binding::ClassTy &c, const char *name, Getter getter) {
  c.def_prop_ro(name, [getter](const Binding &self) { return (self.cpp().*getter)(); });
}

template <typename Binding>
static void typeProperty(typename Binding::ClassTy &c, const char *name,
                         mlir::Type (Binding::CppType::*getter)() const) {
  c.def_prop_ro(name, [getter](Binding &self) {
    return toPython(self.getContext(), (self.cpp().*getter)());
  });
}

namespace {

// --- copies
// --------------------------------------------------------------------------------------------

struct PyBufferCopy : TypeBinding<PyBufferCopy, CDNA3BufferCopyType> {
  static constexpr const char *pyClassName = "CDNA3BufferCopyType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](int32_t bits, int32_t cache, Context context) {
          return make<PyBufferCopy>(context, bits, cache);
        },
        "bits"_a, "cache"_a = 0, "context"_a = nb::none());
    property<PyBufferCopy>(c, "bits", &CppType::getBits);
    property<PyBufferCopy>(c, "cache", &CppType::getCache);
  }
};

// Copies that are described by their width alone.
template <typename Derived, typename Cpp> struct WidthBinding : TypeBinding<Derived, Cpp> {
  using TypeBinding<Derived, Cpp>::TypeBinding;
  static void bindDerived(nb::class_<Derived, mp::PyType> &c) {
    c.def_static(
        "get", [](int32_t bits, Context context) { return make<Derived>(context, bits); }, "bits"_a,
        "context"_a = nb::none());
    property<Derived>(c, "bits", &Cpp::getBits);
  }
};
struct PyBufferCopyLDS : WidthBinding<PyBufferCopyLDS, CDNA3BufferCopyLDSType> {
  static constexpr const char *pyClassName = "CDNA3BufferCopyLDSType";
  using WidthBinding::WidthBinding;
};
struct PyBufferLoadAsync : WidthBinding<PyBufferLoadAsync, CDNA4BufferLoadAsyncLDSType> {
  static constexpr const char *pyClassName = "CDNA4BufferLoadAsyncLDSType";
  using WidthBinding::WidthBinding;
};
struct PyGlobalLoadAsync : WidthBinding<PyGlobalLoadAsync, CDNA4GlobalLoadAsyncLDSType> {
  static constexpr const char *pyClassName = "CDNA4GlobalLoadAsyncLDSType";
  using WidthBinding::WidthBinding;
};

struct PyBufferAtomic : TypeBinding<PyBufferAtomic, CDNA3BufferAtomicType> {
  static constexpr const char *pyClassName = "CDNA3BufferAtomicType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](uint32_t op, const mp::PyType &valueType, Context context) {
          std::optional<AtomicOp> known = symbolizeAtomicOp(op);
          if (!known)
            fail("no atomic operation has the number " + llvm::Twine(op));
          return make<PyBufferAtomic>(context, *known, unwrap(valueType.get()));
        },
        "op"_a, "value_type"_a, "context"_a = nb::none(), "op is a fly.AtomicOp.");
    c.def_prop_ro(
        "op", [](const PyBufferAtomic &self) { return static_cast<uint32_t>(self.cpp().getOp()); });
    typeProperty<PyBufferAtomic>(c, "value_type", &CppType::getValueType);
  }
};

struct PyLdsReadTrans : TypeBinding<PyLdsReadTrans, CDNA4LdsReadTransType> {
  static constexpr const char *pyClassName = "CDNA4LdsReadTransType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](int32_t granularity, int32_t bits, Context context) {
          return make<PyLdsReadTrans>(context, granularity, bits);
        },
        "granularity"_a, "bits"_a, "context"_a = nb::none(),
        "granularity is the width of a transposed element in bits.");
    property<PyLdsReadTrans>(c, "granularity", &CppType::getGranularity);
    property<PyLdsReadTrans>(c, "bits", &CppType::getBits);
  }
};

// --- matrices
// ------------------------------------------------------------------------------------------

template <typename Binding> static void matrixProperties(typename Binding::ClassTy &c) {
  using Cpp = typename Binding::CppType;
  property<Binding>(c, "m", &Cpp::getM);
  property<Binding>(c, "n", &Cpp::getN);
  property<Binding>(c, "k", &Cpp::getK);
  typeProperty<Binding>(c, "elem_ty_a", &Cpp::getElemTyA);
  typeProperty<Binding>(c, "elem_ty_b", &Cpp::getElemTyB);
  typeProperty<Binding>(c, "elem_ty_acc", &Cpp::getElemTyAcc);
}

struct PyMFMA : TypeBinding<PyMFMA, CDNA3MFMAType> {
  static constexpr const char *pyClassName = "CDNA3MFMAType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](int32_t m, int32_t n, int32_t k, const mp::PyType &a, const mp::PyType &b,
           const mp::PyType &acc, Context context) {
          return make<PyMFMA>(context, m, n, k, unwrap(a.get()), unwrap(b.get()),
                              unwrap(acc.get()));
        },
        "m"_a, "n"_a, "k"_a, "elem_ty_a"_a, "elem_ty_b"_a, "elem_ty_acc"_a,
        "context"_a = nb::none());
    matrixProperties<PyMFMA>(c);
  }
};

struct PyMFMAScale : TypeBinding<PyMFMAScale, CDNA4MFMAScaleType> {
  static constexpr const char *pyClassName = "CDNA4MFMAScaleType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](int32_t m, int32_t n, int32_t k, const mp::PyType &a, const mp::PyType &b,
           const mp::PyType &acc, int32_t opselA, int32_t opselB, Context context) {
          return make<PyMFMAScale>(context, m, n, k, unwrap(a.get()), unwrap(b.get()),
                                   unwrap(acc.get()), opselA, opselB);
        },
        "m"_a, "n"_a, "k"_a, "elem_ty_a"_a, "elem_ty_b"_a, "elem_ty_acc"_a, "opsel_a"_a = 0,
        "opsel_b"_a = 0, "context"_a = nb::none());
    matrixProperties<PyMFMAScale>(c);
    property<PyMFMAScale>(c, "opsel_a", &CppType::getOpselA);
    property<PyMFMAScale>(c, "opsel_b", &CppType::getOpselB);
  }
};

template <typename Derived, typename Cpp> struct WMMABinding : TypeBinding<Derived, Cpp> {
  using TypeBinding<Derived, Cpp>::TypeBinding;
  static void bindDerived(nb::class_<Derived, mp::PyType> &c) {
    c.def_static(
        "get",
        [](int32_t m, int32_t n, int32_t k, const mp::PyType &a, const mp::PyType &b,
           const mp::PyType &acc, bool signA, bool signB, bool clamp, Context context) {
          return make<Derived>(context, m, n, k, unwrap(a.get()), unwrap(b.get()),
                               unwrap(acc.get()), signA, signB, clamp);
        },
        "m"_a, "n"_a, "k"_a, "elem_ty_a"_a, "elem_ty_b"_a, "elem_ty_acc"_a, "sign_a"_a = false,
        "sign_b"_a = false, "clamp"_a = false, "context"_a = nb::none());
    matrixProperties<Derived>(c);
    property<Derived>(c, "sign_a", &Cpp::getSignA);
    property<Derived>(c, "sign_b", &Cpp::getSignB);
    property<Derived>(c, "clamp", &Cpp::getClamp);
  }
};
struct PyGFX11WMMA : WMMABinding<PyGFX11WMMA, GFX11WMMAType> {
  static constexpr const char *pyClassName = "GFX11WMMAType";
  using WMMABinding::WMMABinding;
};
struct PyGFX120XWMMA : WMMABinding<PyGFX120XWMMA, GFX120XWMMAType> {
  static constexpr const char *pyClassName = "GFX120XWMMAType";
  using WMMABinding::WMMABinding;
};

struct PyGFX1250WMMA : TypeBinding<PyGFX1250WMMA, GFX1250WMMAType> {
  static constexpr const char *pyClassName = "GFX1250WMMAType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](int32_t m, int32_t n, int32_t k, const mp::PyType &a, const mp::PyType &b,
           const mp::PyType &acc, bool signA, bool signB, bool clamp, int32_t modC,
           Context context) {
          return make<PyGFX1250WMMA>(context, m, n, k, unwrap(a.get()), unwrap(b.get()),
                                     unwrap(acc.get()), signA, signB, clamp, modC);
        },
        "m"_a, "n"_a, "k"_a, "elem_ty_a"_a, "elem_ty_b"_a, "elem_ty_acc"_a, "sign_a"_a = false,
        "sign_b"_a = false, "clamp"_a = false, "mod_c"_a = 0, "context"_a = nb::none());
    matrixProperties<PyGFX1250WMMA>(c);
    property<PyGFX1250WMMA>(c, "sign_a", &CppType::getSignA);
    property<PyGFX1250WMMA>(c, "sign_b", &CppType::getSignB);
    property<PyGFX1250WMMA>(c, "clamp", &CppType::getClamp);
    property<PyGFX1250WMMA>(c, "mod_c", &CppType::getModC);
  }
};

struct PyGFX1250WMMAScale : TypeBinding<PyGFX1250WMMAScale, GFX1250WMMAScaleType> {
  static constexpr const char *pyClassName = "GFX1250WMMAScaleType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](int32_t m, int32_t n, int32_t k, const mp::PyType &a, const mp::PyType &b,
           const mp::PyType &acc, int32_t opselA, int32_t opselB, int32_t modC, bool reuseA,
           bool reuseB, int32_t blockSize, Context context) {
          return make<PyGFX1250WMMAScale>(context, m, n, k, unwrap(a.get()), unwrap(b.get()),
                                          unwrap(acc.get()), opselA, opselB, modC, reuseA, reuseB,
                                          blockSize);
        },
        "m"_a, "n"_a, "k"_a, "elem_ty_a"_a, "elem_ty_b"_a, "elem_ty_acc"_a, "opsel_a"_a = 0,
        "opsel_b"_a = 0, "mod_c"_a = 0, "reuse_a"_a = false, "reuse_b"_a = false,
        "block_size"_a = 32, "context"_a = nb::none());
    matrixProperties<PyGFX1250WMMAScale>(c);
    property<PyGFX1250WMMAScale>(c, "opsel_a", &CppType::getOpselA);
    property<PyGFX1250WMMAScale>(c, "opsel_b", &CppType::getOpselB);
    property<PyGFX1250WMMAScale>(c, "mod_c", &CppType::getModC);
    property<PyGFX1250WMMAScale>(c, "reuse_a", &CppType::getReuseA);
    property<PyGFX1250WMMAScale>(c, "reuse_b", &CppType::getReuseB);
    property<PyGFX1250WMMAScale>(c, "block_size", &CppType::getBlockSize);
  }
};

// --- tensor data movers
// --------------------------------------------------------------------------------

struct PyTDM : TypeBinding<PyTDM, GFX1250TDMType> {
  static constexpr const char *pyClassName = "GFX1250TDMType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](int32_t rank, int32_t numWarps, int32_t padInterval, int32_t padAmount, int32_t cache,
           bool barrier, bool timeout, Context context) {
          return make<PyTDM>(context, rank, numWarps, padInterval, padAmount, cache, barrier,
                             timeout);
        },
        "rank"_a, "num_warps"_a = 1, "pad_interval"_a = 0, "pad_amount"_a = 0, "cache"_a = 0,
        "barrier"_a = false, "timeout"_a = false, "context"_a = nb::none());
    property<PyTDM>(c, "rank", &CppType::getRank);
    property<PyTDM>(c, "num_warps", &CppType::getNumWarps);
    property<PyTDM>(c, "pad_interval", &CppType::getPadInterval);
    property<PyTDM>(c, "pad_amount", &CppType::getPadAmount);
  }
};

template <typename Binding> static void boxProperties(typename Binding::ClassTy &c) {
  using Cpp = typename Binding::CppType;
  c.def_prop_ro("shape", [](const Binding &self) {
    return std::vector<int32_t>(self.cpp().getShape().begin(), self.cpp().getShape().end());
  });
  typeProperty<Binding>(c, "elem", &Cpp::getElem);
  c.def_prop_ro("tensor_to_tdm",
                [](const Binding &self) { return tupleToPython(self.cpp().getTensorToTDM()); });
}

struct PyTensorLoad : TypeBinding<PyTensorLoad, CDNA5TensorLoadType> {
  static constexpr const char *pyClassName = "CDNA5TensorLoadType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](const std::vector<int32_t> &shape, const mp::PyType &elem, nb::handle map,
           bool atomicBarrier, int32_t cacheModifier, int32_t iterCount, int32_t padInterval,
           int32_t padAmount, Context context) {
          return make<PyTensorLoad>(context, llvm::ArrayRef<int32_t>(shape), unwrap(elem.get()),
                                    tupleFromPython(map), atomicBarrier, cacheModifier, iterCount,
                                    padInterval, padAmount);
        },
        "shape"_a, "elem"_a, "tensor_to_tdm"_a, "atomic_barrier"_a = false, "cache_modifier"_a = 0,
        "iter_count"_a = 1, "pad_interval"_a = 0, "pad_amount"_a = 0, "context"_a = nb::none());
    boxProperties<PyTensorLoad>(c);
  }
};

struct PyTensorStore : TypeBinding<PyTensorStore, CDNA5TensorStoreType> {
  static constexpr const char *pyClassName = "CDNA5TensorStoreType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    c.def_static(
        "get",
        [](const std::vector<int32_t> &shape, const mp::PyType &elem, nb::handle map,
           bool atomicBarrier, int32_t cacheModifier, int32_t iterCount, Context context) {
          return make<PyTensorStore>(context, llvm::ArrayRef<int32_t>(shape), unwrap(elem.get()),
                                     tupleFromPython(map), atomicBarrier, cacheModifier, iterCount);
        },
        "shape"_a, "elem"_a, "tensor_to_tdm"_a, "atomic_barrier"_a = false, "cache_modifier"_a = 0,
        "iter_count"_a = 1, "context"_a = nb::none());
    boxProperties<PyTensorStore>(c);
  }
};

} // namespace
} // namespace fly::python

NB_MODULE(_flyROCDLDialect, m) {
  using namespace fly::python;
  m.doc() = "Types of the fly_rocdl dialect.";
  // Bases of the classes below, and what tuples are made of.
  nb::module_::import_("flydsl._mlir._mlir_libs._flyDialect");
  PyBufferCopy::bind(m);
  PyBufferCopyLDS::bind(m);
  PyBufferAtomic::bind(m);
  PyLdsReadTrans::bind(m);
  PyBufferLoadAsync::bind(m);
  PyGlobalLoadAsync::bind(m);
  PyMFMA::bind(m);
  PyMFMAScale::bind(m);
  PyGFX11WMMA::bind(m);
  PyGFX120XWMMA::bind(m);
  PyGFX1250WMMA::bind(m);
  PyGFX1250WMMAScale::bind(m);
  PyTDM::bind(m);
  PyTensorLoad::bind(m);
  PyTensorStore::bind(m);
}
