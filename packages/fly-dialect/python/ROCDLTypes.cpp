// SPDX-License-Identifier: Apache-2.0
//
// flydsl._mlir._mlir_libs._flyROCDLDialect: the types of the fly_rocdl dialect.

#include "ParameterBinding.h"

#include "fly/Dialect/FlyROCDL/IR/CopyWidths.h"
#include "fly/Dialect/FlyROCDL/IR/FlyROCDLDialect.h"
#include "fly/Dialect/FlyROCDL/IR/MatrixShapes.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

namespace fly::python {

using namespace fly::rocdl;

template <typename Binding, typename... Parameters>
static void bindAtom(typename Binding::ClassTy &c, const Parameters &...parameters) {
  bindParameters<FlyROCDLDialect, Binding>(c, parameters...);
}

/// A matrix operation: its shape, its element types, and what is its own.
template <typename Binding, typename... Parameters>
static void bindMatrix(typename Binding::ClassTy &c, const Parameters &...parameters) {
  using Cpp = typename Binding::CppType;
  bindAtom<Binding>(c, parameter("m", &Cpp::getM), parameter("n", &Cpp::getN),
                    parameter("k", &Cpp::getK), parameter("elem_ty_a", &Cpp::getElemTyA),
                    parameter("elem_ty_b", &Cpp::getElemTyB),
                    parameter("elem_ty_acc", &Cpp::getElemTyAcc), parameters...);
}

namespace {

// --- copies
// --------------------------------------------------------------------------------------------

struct PyBufferCopy : TypeBinding<PyBufferCopy, CDNA3BufferCopyType> {
  static constexpr const char *pyClassName = "CDNA3BufferCopyType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindAtom<PyBufferCopy>(c, parameter("bits", &CppType::getBits),
                           parameter("cache", &CppType::getCache, 0));
  }
};

struct PyBufferCopyLDS : TypeBinding<PyBufferCopyLDS, CDNA3BufferCopyLDSType> {
  static constexpr const char *pyClassName = "CDNA3BufferCopyLDSType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindAtom<PyBufferCopyLDS>(c, parameter("bits", &CppType::getBits));
  }
};

struct PyBufferLoadAsync : TypeBinding<PyBufferLoadAsync, CDNA4BufferLoadAsyncLDSType> {
  static constexpr const char *pyClassName = "CDNA4BufferLoadAsyncLDSType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindAtom<PyBufferLoadAsync>(c, parameter("bits", &CppType::getBits));
  }
};

struct PyGlobalLoadAsync : TypeBinding<PyGlobalLoadAsync, CDNA4GlobalLoadAsyncLDSType> {
  static constexpr const char *pyClassName = "CDNA4GlobalLoadAsyncLDSType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindAtom<PyGlobalLoadAsync>(c, parameter("bits", &CppType::getBits));
  }
};

struct PyBufferAtomic : TypeBinding<PyBufferAtomic, CDNA3BufferAtomicType> {
  static constexpr const char *pyClassName = "CDNA3BufferAtomicType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindAtom<PyBufferAtomic>(c, parameter("op", &CppType::getOp),
                             parameter("value_type", &CppType::getValueType));
  }
};

/// `granularity` is the width of a transposed element in bits.
struct PyLdsReadTrans : TypeBinding<PyLdsReadTrans, CDNA4LdsReadTransType> {
  static constexpr const char *pyClassName = "CDNA4LdsReadTransType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindAtom<PyLdsReadTrans>(c, parameter("granularity", &CppType::getGranularity),
                             parameter("bits", &CppType::getBits));
  }
};

// --- matrices
// ------------------------------------------------------------------------------------------

struct PyMFMA : TypeBinding<PyMFMA, CDNA3MFMAType> {
  static constexpr const char *pyClassName = "CDNA3MFMAType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindMatrix<PyMFMA>(c, parameter("blocks", &CppType::getBlocks, 1));
  }
};

/// A is sparse; `index_set` picks its indices in their register.
struct PySMFMAC : TypeBinding<PySMFMAC, CDNA3SMFMACType> {
  static constexpr const char *pyClassName = "CDNA3SMFMACType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindMatrix<PySMFMAC>(c, parameter("index_set", &CppType::getIndexSet, 0));
  }
};

struct PyMFMAScale : TypeBinding<PyMFMAScale, CDNA4MFMAScaleType> {
  static constexpr const char *pyClassName = "CDNA4MFMAScaleType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindMatrix<PyMFMAScale>(c, parameter("opsel_a", &CppType::getOpselA, 0),
                            parameter("opsel_b", &CppType::getOpselB, 0));
  }
};

/// A WMMA on integers or floats: signs and saturation are those of integers.
template <typename Binding, typename... Parameters>
void bindWMMA(typename Binding::ClassTy &c, const Parameters &...parameters) {
  using Cpp = typename Binding::CppType;
  bindMatrix<Binding>(c, parameter("sign_a", &Cpp::getSignA, false),
                      parameter("sign_b", &Cpp::getSignB, false),
                      parameter("clamp", &Cpp::getClamp, false), parameters...);
}

struct PyGFX11WMMA : TypeBinding<PyGFX11WMMA, GFX11WMMAType> {
  static constexpr const char *pyClassName = "GFX11WMMAType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) { bindWMMA<PyGFX11WMMA>(c); }
};

struct PyGFX120XWMMA : TypeBinding<PyGFX120XWMMA, GFX120XWMMAType> {
  static constexpr const char *pyClassName = "GFX120XWMMAType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) { bindWMMA<PyGFX120XWMMA>(c); }
};

struct PyGFX1250WMMA : TypeBinding<PyGFX1250WMMA, GFX1250WMMAType> {
  static constexpr const char *pyClassName = "GFX1250WMMAType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindWMMA<PyGFX1250WMMA>(c, parameter("mod_c", &CppType::getModC, 0));
  }
};

struct PyGFX1250WMMAScale : TypeBinding<PyGFX1250WMMAScale, GFX1250WMMAScaleType> {
  static constexpr const char *pyClassName = "GFX1250WMMAScaleType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindMatrix<PyGFX1250WMMAScale>(c, parameter("opsel_a", &CppType::getOpselA, 0),
                                   parameter("opsel_b", &CppType::getOpselB, 0),
                                   parameter("mod_c", &CppType::getModC, 0),
                                   parameter("reuse_a", &CppType::getReuseA, false),
                                   parameter("reuse_b", &CppType::getReuseB, false),
                                   parameter("block_size", &CppType::getBlockSize, 32));
  }
};

// --- tensor data movers
// --------------------------------------------------------------------------------

struct PyTDM : TypeBinding<PyTDM, GFX1250TDMType> {
  static constexpr const char *pyClassName = "GFX1250TDMType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindAtom<PyTDM>(c, parameter("rank", &CppType::getRank),
                    parameter("num_warps", &CppType::getNumWarps, 1),
                    parameter("pad_interval", &CppType::getPadInterval, 0),
                    parameter("pad_amount", &CppType::getPadAmount, 0),
                    parameter("cache", &CppType::getCache, 0),
                    parameter("barrier", &CppType::getBarrier, false),
                    parameter("timeout", &CppType::getTimeout, false));
  }
};

/// A copy of a box of a tensor.
template <typename Binding, typename... Parameters>
void bindBox(typename Binding::ClassTy &c, const Parameters &...parameters) {
  using Cpp = typename Binding::CppType;
  bindAtom<Binding>(c, parameter("shape", &Cpp::getShape), parameter("elem", &Cpp::getElem),
                    parameter("tensor_to_tdm", &Cpp::getTensorToTDM),
                    parameter("atomic_barrier", &Cpp::getAtomicBarrier, false),
                    parameter("cache_modifier", &Cpp::getCacheModifier, 0),
                    parameter("iter_count", &Cpp::getIterCount, 1), parameters...);
}

struct PyTensorLoad : TypeBinding<PyTensorLoad, CDNA5TensorLoadType> {
  static constexpr const char *pyClassName = "CDNA5TensorLoadType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) {
    bindBox<PyTensorLoad>(c, parameter("pad_interval", &CppType::getPadInterval, 0),
                          parameter("pad_amount", &CppType::getPadAmount, 0));
  }
};

struct PyTensorStore : TypeBinding<PyTensorStore, CDNA5TensorStoreType> {
  static constexpr const char *pyClassName = "CDNA5TensorStoreType";
  using TypeBinding::TypeBinding;
  static void bindDerived(ClassTy &c) { bindBox<PyTensorStore>(c); }
};

// --- shapes of matrix operations
// ------------------------------------------------------------------------

/// m, n, k, element types of A and B, accumulator, blocks, sets of indices.
using ShapeRow =
    std::tuple<int32_t, int32_t, int32_t, std::vector<std::string>, std::string, int32_t, int32_t>;

std::vector<ShapeRow> matrixShapes(const std::string &operation) {
  std::vector<ShapeRow> rows;
  for (const MatrixShape &shape : getMatrixShapes(operation)) {
    std::vector<std::string> elements;
    for (llvm::StringRef element : shape.elements)
      elements.push_back(element.str());
    rows.emplace_back(shape.m, shape.n, shape.k, elements, shape.acc.str(), shape.blocks,
                      shape.indexSets);
  }
  if (rows.empty())
    fail("no matrix operation of fly_rocdl has the mnemonic '" + llvm::Twine(operation) + "'");
  return rows;
}

std::vector<std::pair<int32_t, int32_t>> copyWidths(const std::string &operation) {
  std::vector<std::pair<int32_t, int32_t>> rows;
  for (const CopyWidth &width : getCopyWidths(operation))
    rows.emplace_back(width.bits, width.granularity);
  if (rows.empty())
    fail("no copy operation of fly_rocdl with a list of widths has the mnemonic '" +
         llvm::Twine(operation) + "'");
  return rows;
}

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
  PySMFMAC::bind(m);
  PyMFMAScale::bind(m);
  PyGFX11WMMA::bind(m);
  PyGFX120XWMMA::bind(m);
  PyGFX1250WMMA::bind(m);
  PyGFX1250WMMAScale::bind(m);
  PyTDM::bind(m);
  PyTensorLoad::bind(m);
  PyTensorStore::bind(m);
  m.def(
      "matrix_shapes", &matrixShapes, nb::arg("operation"),
      "The shapes of a matrix operation by the mnemonic of its type (\"cdna3.mfma\"), on whatever "
      "chip: m, n, k; the types that A and B may have, as MLIR spells them; the accumulator's; the "
      "products that one call computes (0: no atom has their fragments); the sets of indices that "
      "a register of a sparse operation holds.");
  m.def(
      "wmma_mnemonic",
      [](const std::string &target) -> std::optional<std::string> {
        std::optional<llvm::StringRef> mnemonic = fly::rocdl::getWMMAMnemonic(target);
        return mnemonic ? std::optional(mnemonic->str()) : std::nullopt;
      },
      nb::arg("target"),
      "The mnemonic of the WMMA type that a target has (\"gfx1250.wmma\"); None where it has "
      "none.");
  m.def(
      "copy_widths", &copyWidths, nb::arg("operation"),
      "The widths of a copy operation by the mnemonic of its type (\"cdna3.buffer_copy_lds\"), on "
      "whatever chip: the bits that a lane moves, and the bits of a transposed element (0: it "
      "does not transpose).");
}
