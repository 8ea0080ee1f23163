// SPDX-License-Identifier: Apache-2.0
//
// The textual grammar of tuples, layouts, swizzles and tiles.
//
// Each parse function reads the longest prefix at the cursor that spells its kind of value, with
// any whitespace before and between tokens, and leaves the cursor just behind the last token that
// it took. On failure the cursor holds a message and the place that it is about. No input crashes
// or recurses deeper than kMaxDepth.

#ifndef FLY_ALGEBRA_TEXT_H
#define FLY_ALGEBRA_TEXT_H

#include "fly/Algebra/Layout.h"
#include "fly/Algebra/Tile.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/LogicalResult.h"

namespace fly {

/// A place in a text that is being parsed.
class TextCursor {
public:
  explicit TextCursor(llvm::StringRef text) : pos(text.begin()), end(text.end()) {}
  /// A NUL-terminated buffer; its length is never computed.
  explicit TextCursor(const char *text) : pos(text) {}

  /// The next character to read.
  const char *position() const { return pos; }
  /// Whether only whitespace is left.
  bool atEnd();

  bool failed() const { return errorPos != nullptr; }
  const std::string &message() const { return error; }
  const char *errorPosition() const { return errorPos; }

private:
  friend class TextParser;

  const char *pos;
  /// Null for a NUL-terminated text.
  const char *end = nullptr;
  std::string error;
  const char *errorPos = nullptr;
};

llvm::FailureOr<IntTuple> parseIntTuple(TextCursor &cursor);
/// `shape:stride`.
llvm::FailureOr<Layout> parseLayout(TextCursor &cursor);
/// A layout or a composed layout.
llvm::FailureOr<AnyLayout> parseAnyLayout(TextCursor &cursor);
/// A composed layout; a bare layout or swizzle is an error.
llvm::FailureOr<ComposedLayout> parseComposedLayout(TextCursor &cursor);
llvm::FailureOr<Swizzle> parseSwizzle(TextCursor &cursor);
llvm::FailureOr<CoordSwizzle> parseCoordSwizzle(TextCursor &cursor);
llvm::FailureOr<Tile> parseTile(TextCursor &cursor);

/// Parses the whole of `text` with one of the functions above. On failure, `error` says what is
/// wrong and at which column (from 1).
template <typename T>
llvm::FailureOr<T> parseWhole(llvm::StringRef text, llvm::FailureOr<T> (*parse)(TextCursor &),
                              std::string &error) {
  TextCursor cursor(text);
  llvm::FailureOr<T> value = parse(cursor);
  if (llvm::succeeded(value) && cursor.atEnd())
    return value;
  const char *where = cursor.failed() ? cursor.errorPosition() : cursor.position();
  error = (llvm::Twine(cursor.failed() ? cursor.message() : "unexpected text after the value") +
           " at column " + llvm::Twine(where - text.begin() + 1) + " of '" + text + "'")
              .str();
  return llvm::failure();
}

} // namespace fly

#endif // FLY_ALGEBRA_TEXT_H
