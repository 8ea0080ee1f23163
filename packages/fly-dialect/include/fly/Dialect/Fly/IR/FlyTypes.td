// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_DIALECT_FLY_IR_FLYTYPES_TD
#define FLY_DIALECT_FLY_IR_FLYTYPES_TD

include "fly/Dialect/Fly/IR/FlyAttributes.td"
include "fly/Dialect/Fly/IR/FlyDialect.td"
include "fly/Dialect/Fly/IR/FlyInterfaces.td"
include "mlir/IR/AttrTypeBase.td"

class Fly_Type<string name, string typeMnemonic, list<Trait> traits = []>
    : TypeDef<Fly_Dialect, name, traits> {
  let mnemonic = typeMnemonic;
}

// A type that spells one value of the algebra: `!fly.MNEMONIC<text>`.
class Fly_ValueType<string name, string typeMnemonic, string valueClass, string text>
    : Fly_Type<name, typeMnemonic> {
  let summary = text;
  let parameters = (ins TypeParameter<valueClass, text>:$value);
  let hasCustomAssemblyFormat = 1;
}

def Fly_IntTupleType : Fly_ValueType<"IntTuple", "int_tuple", "::fly::IntTuple",
    "a leaf integer or a nested tuple of them">;
def Fly_BasisType : Fly_ValueType<"Basis", "basis", "::fly::IntTuple",
    "a basis element: a value times a unit vector"> {
  let genVerifyDecl = 1;
}
def Fly_LayoutType : Fly_ValueType<"Layout", "layout", "::fly::Layout", "shape:stride">;
def Fly_ComposedLayoutType : Fly_ValueType<"ComposedLayout", "composed_layout",
    "::fly::ComposedLayout", "inner o offset o outer: c -> inner(offset + outer(c))">;
def Fly_SwizzleType : Fly_ValueType<"Swizzle", "swizzle", "::fly::Swizzle",
    "an xor swizzle of an index">;
def Fly_CoordSwizzleType : Fly_ValueType<"CoordSwizzle", "coord_swizzle", "::fly::CoordSwizzle",
    "an xor swizzle of a coordinate">;
def Fly_TileType : Fly_ValueType<"Tile", "tile", "::fly::Tile", "one tiler per mode">;

def Fly_CoordTensorType : Fly_Type<"CoordTensor", "coord_tensor"> {
  let summary = "a tensor whose elements are coordinates: a base, and a layout over it";
  let parameters = (ins TypeParameter<"::fly::IntTuple", "base coordinate">:$base,
                        TypeParameter<"::fly::AnyLayout", "layout">:$layout);
  let hasCustomAssemblyFormat = 1;
}

def Fly_PointerType : Fly_Type<"Pointer", "ptr"> {
  let summary = "a typed pointer into an address space";
  let description = [{
    `alignment` is in bytes; the default, elided in text, is the element size rounded up. `swizzle`
    acts on the byte address of every access.
  }];
  let parameters = (ins "::mlir::Type":$elementType, "::mlir::Attribute":$addressSpace,
                        "int32_t":$alignment,
                        TypeParameter<"::fly::Swizzle", "byte address swizzle">:$swizzle);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::Type":$elementType,
        "::mlir::Attribute":$addressSpace, CArg<"int32_t", "0">:$alignment,
        CArg<"::fly::Swizzle", "{}">:$swizzle), [{
      if (alignment == 0)
        alignment = ::fly::getElementByteSize(elementType);
      return $_get(elementType.getContext(), elementType, addressSpace, alignment, swizzle);
    }]>,
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The generic, global, shared or register space; nothing for a back end's own space.
    ::std::optional<::fly::AddressSpace> getKnownAddressSpace() const;
    bool isInSpace(::fly::AddressSpace space) const { return getKnownAddressSpace() == space; }
  }];
}

def Fly_MemRefType : Fly_Type<"MemRef", "memref"> {
  let summary = "a tensor in memory: a pointer and a layout";
  let parameters = (ins "::mlir::Type":$elementType, "::mlir::Attribute":$addressSpace,
                        TypeParameter<"::fly::AnyLayout", "layout">:$layout,
                        "int32_t":$alignment,
                        TypeParameter<"::fly::Swizzle", "byte address swizzle">:$swizzle);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::mlir::Type":$elementType,
        "::mlir::Attribute":$addressSpace, "::fly::AnyLayout":$layout,
        CArg<"int32_t", "0">:$alignment, CArg<"::fly::Swizzle", "{}">:$swizzle), [{
      if (alignment == 0)
        alignment = ::fly::getElementByteSize(elementType);
      return $_get(elementType.getContext(), elementType, addressSpace, layout, alignment, swizzle);
    }]>,
    // A view through `pointer`.
    TypeBuilderWithInferredContext<(ins "::fly::PointerType":$pointer, "::fly::AnyLayout":$layout), [{
      return $_get(pointer.getContext(), pointer.getElementType(), pointer.getAddressSpace(), layout,
                   pointer.getAlignment(), pointer.getSwizzle());
    }]>,
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// The type of this tensor's iterator.
    ::fly::PointerType getPointerType() const;
    ::std::optional<::fly::AddressSpace> getKnownAddressSpace() const;
    bool isInSpace(::fly::AddressSpace space) const { return getKnownAddressSpace() == space; }
  }];
}

// --- atoms and tilings ---------------------------------------------------------------------------

def Fly_CopyAtomType : Fly_Type<"CopyAtom", "copy_atom"> {
  let summary = "a copy operation on values of a width";
  let parameters = (ins "::mlir::Type":$copyOp, "int32_t":$valBits);
  let hasCustomAssemblyFormat = 1;
}

def Fly_MmaAtomType : Fly_Type<"MmaAtom", "mma_atom"> {
  let summary = "a matrix operation";
  let parameters = (ins "::mlir::Type":$mmaOp);
  let hasCustomAssemblyFormat = 1;
}

def Fly_TiledCopyType : Fly_Type<"TiledCopy", "tiled_copy"> {
  let summary = "a copy atom spread over the threads and values of a tile";
  let parameters = (ins "::fly::CopyAtomType":$atom, "::fly::LayoutType":$layoutTV,
                        "::fly::TileType":$tile);
  let assemblyFormat = "`<` qualified($atom) `,` qualified($layoutTV) `,` qualified($tile) `>`";
  let genVerifyDecl = 1;
}

def Fly_TiledMmaType : Fly_Type<"TiledMma", "tiled_mma"> {
  let summary = "a matrix atom spread over thread groups";
  let description = [{
    `atomLayout` is a layout over (M,N,K) of atoms onto thread groups; `permutation` defaults to
    `[*|*|*]`, which is elided in text.
  }];
  let parameters = (ins "::fly::MmaAtomType":$atom, "::fly::LayoutType":$atomLayout,
                        "::fly::TileType":$permutation);
  let builders = [
    TypeBuilderWithInferredContext<(ins "::fly::MmaAtomType":$atom, "::fly::LayoutType":$atomLayout), [{
      return $_get(atom.getContext(), atom, atomLayout,
                   ::fly::TileType::get(atom.getContext(), ::fly::Tile::keepAll(3)));
    }]>,
  ];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

// --- target-neutral operations -------------------------------------------------------------------

def Fly_UniversalCopyType : Fly_Type<"UniversalCopy", "universal_copy",
    [DeclareTypeInterfaceMethods<Fly_CopyOpTypeInterface>]> {
  let summary = "a per-thread copy of some bits between any plain address spaces";
  let parameters = (ins "int32_t":$bits);
  let assemblyFormat = "`<` $bits `>`";
  let genVerifyDecl = 1;
}

def Fly_UniversalAtomicType : Fly_Type<"UniversalAtomic", "universal_atomic",
    [DeclareTypeInterfaceMethods<Fly_CopyOpTypeInterface>]> {
  let summary = "a per-thread atomic read-modify-write of a scalar in memory";
  let parameters = (ins EnumParameter<Fly_AtomicOp>:$op, "::mlir::Type":$valueType,
                        DefaultValuedParameter<"::mlir::StringAttr",
                          "::mlir::StringAttr::get($_ctxt, \"\")">:$syncScope);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Fly_UniversalFMAType : Fly_Type<"UniversalFMA", "universal_fma",
    [DeclareTypeInterfaceMethods<Fly_MmaOpTypeInterface>]> {
  let summary = "a per-thread multiply and add";
  let parameters = (ins "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

#endif // FLY_DIALECT_FLY_IR_FLYTYPES_TD
