// SPDX-License-Identifier: Apache-2.0
//
// The algebra of layouts: composition, inverses, divides and products.

#ifndef FLY_DIALECT_FLY_IR_LAYOUTALGEBRAOPS_TD
#define FLY_DIALECT_FLY_IR_LAYOUTALGEBRAOPS_TD

include "fly/Dialect/Fly/IR/FlyOpBase.td"

def Fly_CoalesceOp : Fly_AlgebraOp<"coalesce",
    "inferCoalesce(location, adaptor.getSource().getType(), "
    "::fly::getTypeOrNull(adaptor.getPattern()))"> {
  let summary = "merges neighbouring modes that run through";
  let arguments = (ins Fly_LayoutLike:$source, Optional<Fly_IntTupleType>:$pattern);
  let results = (outs Fly_LayoutLike:$result);
}

def Fly_CompositionOp : Fly_BinaryAlgebraOp<"composition", "inferComposition", Fly_LayoutLike,
    Fly_Divisor, Fly_LayoutLike> {
  let summary = "c -> lhs(rhs(c)); with a tile, mode by mode";
}

def Fly_ComplementOp : Fly_AlgebraOp<"complement",
    "inferComplement(location, adaptor.getSource().getType(), "
    "::fly::getTypeOrNull(adaptor.getCodomainSize()))"> {
  let summary = "the layout of what a layout leaves out of its co-domain";
  let arguments = (ins Fly_NarrowLayout:$source, Optional<Fly_IntTupleType>:$codomainSize);
  let results = (outs Fly_NarrowLayout:$result);
}

def Fly_RightInverseOp : Fly_UnaryAlgebraOp<"right_inverse", "inferRightInverse", Fly_NarrowLayout,
    Fly_NarrowLayout> {
  let summary = "R with layout(R(i)) = i on the largest range from 0";
}
def Fly_LeftInverseOp : Fly_UnaryAlgebraOp<"left_inverse", "inferLeftInverse", Fly_NarrowLayout,
    Fly_NarrowLayout> {
  let summary = "R with R(layout(i)) = i";
}

class Fly_DivideOp<string mnemonic, string inference, string text>
    : Fly_BinaryAlgebraOp<mnemonic, inference, Fly_LayoutLike, Fly_Divisor, Fly_LayoutLike> {
  let summary = text;
}
def Fly_LogicalDivideOp : Fly_DivideOp<"logical_divide", "inferLogicalDivide",
    "splits each mode into (tile, rest)">;
def Fly_ZippedDivideOp : Fly_DivideOp<"zipped_divide", "inferZippedDivide",
    "logical_divide, as ((tiles), (rests))">;
def Fly_TiledDivideOp : Fly_DivideOp<"tiled_divide", "inferTiledDivide",
    "logical_divide, as ((tiles), rest, ...)">;
def Fly_FlatDivideOp : Fly_DivideOp<"flat_divide", "inferFlatDivide",
    "logical_divide, as (tile, ..., rest, ...)">;

// The tiler's class is checked by inference, whose message existing tests expect.
class Fly_ProductOp<string mnemonic, string inference, string text>
    : Fly_BinaryAlgebraOp<mnemonic, inference, Fly_NarrowLayout, AnyType, Fly_NarrowLayout> {
  let summary = text;
}
def Fly_LogicalProductOp : Fly_ProductOp<"logical_product", "inferLogicalProduct",
    "repeats a layout along a tiler: (block, tiler)">;
def Fly_ZippedProductOp : Fly_ProductOp<"zipped_product", "inferZippedProduct",
    "logical_product, as ((blocks), (tilers))">;
def Fly_TiledProductOp : Fly_ProductOp<"tiled_product", "inferTiledProduct",
    "logical_product, as ((blocks), tiler, ...)">;
def Fly_FlatProductOp : Fly_ProductOp<"flat_product", "inferFlatProduct",
    "logical_product, as (block, ..., tiler, ...)">;
def Fly_BlockedProductOp : Fly_ProductOp<"blocked_product", "inferBlockedProduct",
    "logical_product, zipped by mode with the block's extent first">;
def Fly_RakedProductOp : Fly_ProductOp<"raked_product", "inferRakedProduct",
    "logical_product, zipped by mode with the tiler's extent first">;

def Fly_RecastLayoutOp : Fly_AlgebraOp<"recast_layout",
    "inferRecastLayout(location, adaptor.getSource().getType(), adaptor.getNewTypeBits(), "
    "adaptor.getOldTypeBits())"> {
  let summary = "the layout of the same memory in elements of another width";
  let arguments = (ins Fly_NarrowLayout:$source, I32Attr:$new_type_bits, I32Attr:$old_type_bits);
  let results = (outs Fly_NarrowLayout:$result);
}

def Fly_TileToShapeOp : Fly_AlgebraOp<"tile_to_shape",
    "inferTileToShape(location, adaptor.getBlock().getType(), adaptor.getTargetShape().getType(), "
    "adaptor.getOrder().getType())"> {
  let summary = "repeats a block until it covers a shape, in an order";
  let arguments = (ins Fly_NarrowLayout:$block, Fly_IntTupleType:$targetShape,
                       Fly_IntTupleType:$order);
  let results = (outs Fly_NarrowLayout:$result);
}

#endif // FLY_DIALECT_FLY_IR_LAYOUTALGEBRAOPS_TD
