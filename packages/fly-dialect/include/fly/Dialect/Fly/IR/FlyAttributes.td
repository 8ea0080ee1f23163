// SPDX-License-Identifier: Apache-2.0

#ifndef FLY_DIALECT_FLY_IR_FLYATTRIBUTES_TD
#define FLY_DIALECT_FLY_IR_FLYATTRIBUTES_TD

include "fly/Dialect/Fly/IR/FlyDialect.td"
include "mlir/Dialect/GPU/IR/CompilationAttrInterfaces.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

// --- enumerations ------------------------------------------------------------------------------

class Fly_Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::fly";
  let genSpecializedAttr = 0;
}

// `#fly<NAME case>`; ops that have the attribute in their syntax print the bare case.
class Fly_EnumAttr<EnumAttrInfo enum, string name> : EnumAttr<Fly_Dialect, enum, name> {
  let assemblyFormat = "$value";
}

def Fly_AddressSpace : Fly_Enum<"AddressSpace", "where a pointer points to", [
    I32EnumAttrCase<"Generic", 0, "generic">, I32EnumAttrCase<"Global", 1, "global">,
    I32EnumAttrCase<"Shared", 2, "shared">, I32EnumAttrCase<"Register", 3, "register">]>;
def Fly_AddressSpaceAttr : Fly_EnumAttr<Fly_AddressSpace, "address_space">;

def Fly_MmaOperand : Fly_Enum<"MmaOperand", "operand of a matrix instruction", [
    I32EnumAttrCase<"A", 0, "a">, I32EnumAttrCase<"B", 1, "b">, I32EnumAttrCase<"C", 2, "c">,
    I32EnumAttrCase<"D", 3, "d">]>;
def Fly_MmaOperandAttr : Fly_EnumAttr<Fly_MmaOperand, "mma_operand">;

def Fly_AtomicOp : Fly_Enum<"AtomicOp", "read-modify-write operation", [
    I32EnumAttrCase<"Add", 0, "add">, I32EnumAttrCase<"Max", 1, "max">,
    I32EnumAttrCase<"Min", 2, "min">, I32EnumAttrCase<"And", 3, "and">,
    I32EnumAttrCase<"Or", 4, "or">, I32EnumAttrCase<"Inc", 5, "inc">,
    I32EnumAttrCase<"Dec", 6, "dec">]>;
def Fly_AtomicOpAttr : Fly_EnumAttr<Fly_AtomicOp, "atomic_op">;

def Fly_GemmTraversalOrder : Fly_Enum<"GemmTraversalOrder",
    "order of the atoms of a gemm; the first letter varies fastest", [
    I32EnumAttrCase<"KMN", 0, "kmn">, I32EnumAttrCase<"KNM", 1, "knm">,
    I32EnumAttrCase<"MKN", 2, "mkn">, I32EnumAttrCase<"MNK", 3, "mnk">,
    I32EnumAttrCase<"NKM", 4, "nkm">, I32EnumAttrCase<"NMK", 5, "nmk">,
    I32EnumAttrCase<"KMN_Serpentine", 6, "kmn_serpentine">,
    I32EnumAttrCase<"KNM_Serpentine", 7, "knm_serpentine">,
    I32EnumAttrCase<"MKN_Serpentine", 8, "mkn_serpentine">,
    I32EnumAttrCase<"MNK_Serpentine", 9, "mnk_serpentine">,
    I32EnumAttrCase<"NKM_Serpentine", 10, "nkm_serpentine">,
    I32EnumAttrCase<"NMK_Serpentine", 11, "nmk_serpentine">]>;
def Fly_GemmTraversalOrderAttr : Fly_EnumAttr<Fly_GemmTraversalOrder, "gemm_traversal_order">;

def Fly_CachePolicy : Fly_Enum<"CachePolicy", "cache levels that a copy goes through", [
    I32EnumAttrCase<"CacheGlobal", 0, "cache_global">,
    I32EnumAttrCase<"CacheAlways", 1, "cache_always">]>;
def Fly_CachePolicyAttr : Fly_EnumAttr<Fly_CachePolicy, "cache_policy">;

// A name, not an attribute of its own: atoms take it as the string `field` of `atom.set_value`.
def Fly_AtomStateField : Fly_Enum<"AtomStateField", "field of the run-time state of an atom", [
    I32EnumAttrCase<"SOffset", 0, "soffset">, I32EnumAttrCase<"ImmOffset", 1, "imm_offset">,
    I32EnumAttrCase<"ScaleA", 2, "scale_a">, I32EnumAttrCase<"ScaleB", 3, "scale_b">,
    I32EnumAttrCase<"WorkgroupMask", 4, "workgroup_mask">,
    I32EnumAttrCase<"AtomicBarrierAddr", 5, "atomic_barrier_addr">,
    I32EnumAttrCase<"EarlyTimeout", 6, "early_timeout">,
    I32EnumAttrCase<"SparseIndex", 7, "sparse_index">]>;

// --- values ------------------------------------------------------------------------------------

class Fly_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Fly_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

// Emit attaches the interface that translates gpu.binary and gpu.launch_func.
def Fly_ExplicitModuleAttr
    : Fly_Attr<"ExplicitModule", "explicit_module", [OffloadingTranslationAttrTrait]> {
  let summary = "offloading handler whose host code loads the module explicitly";
}

// A value of the algebra as an attribute: how diagnostics show it. Its text follows the keyword
// without a blank, `#fly<layout(4,8):(8,1)>`, which the dialect itself parses and prints.
class Fly_ValueAttr<string name, string keyword, string valueClass> : AttrDef<Fly_Dialect, name> {
  let attrName = "fly." # keyword;
  let parameters = (ins AttrParameter<valueClass, "the value">:$value);
}

def Fly_IntTupleAttr : Fly_ValueAttr<"IntTuple", "int_tuple", "::fly::IntTuple">;
def Fly_LayoutAttr : Fly_ValueAttr<"Layout", "layout", "::fly::Layout">;
def Fly_ComposedLayoutAttr
    : Fly_ValueAttr<"ComposedLayout", "composed_layout", "::fly::ComposedLayout">;
def Fly_SwizzleAttr : Fly_ValueAttr<"Swizzle", "swizzle", "::fly::Swizzle">;
def Fly_CoordSwizzleAttr
    : Fly_ValueAttr<"CoordSwizzle", "coord_swizzle", "::fly::CoordSwizzle">;
def Fly_TileAttr : Fly_ValueAttr<"Tile", "tile", "::fly::Tile">;

#endif // FLY_DIALECT_FLY_IR_FLYATTRIBUTES_TD
