// SPDX-License-Identifier: Apache-2.0

#include "fly/Algebra/Text.h"

#include "llvm/ADT/StringExtras.h"

#include <limits>

using namespace fly;
using llvm::failure;
using llvm::FailureOr;

namespace {
/// Whether `c` may stand inside an identifier or a number, so that a token can't end before it.
bool isWordCharacter(char c) { return llvm::isAlnum(c) || c == '_'; }
} // namespace

namespace fly {

/// A recursive-descent parser over a cursor. Every parse method returns nothing, or the value; the
/// first failure is recorded in the cursor.
class TextParser {
public:
  explicit TextParser(TextCursor &cursor) : cursor(cursor) {}

  void skipSpace() {
    while (llvm::isSpace(peek()))
      ++cursor.pos;
  }

  FailureOr<IntTuple> intTuple(unsigned depth = 0) {
    skipSpace();
    if (peek() != '(')
      return leaf();
    if (depth == kMaxDepth)
      return error("tuple is nested deeper than " + llvm::Twine(kMaxDepth) + " levels");
    ++cursor.pos;
    llvm::SmallVector<IntTuple, 4> modes;
    unsigned leaves = 0;
    do {
      FailureOr<IntTuple> mode = intTuple(depth + 1);
      if (failed(mode))
        return failure();
      leaves += mode->leafCount();
      if (leaves > kMaxLeaves)
        return error("tuple has more than " + llvm::Twine(kMaxLeaves) + " leaves");
      modes.push_back(std::move(*mode));
    } while (consumeIf(','));
    if (!consumeIf(')'))
      return error("expected ',' or ')' in tuple");
    return IntTuple::tuple(modes);
  }

  FailureOr<Layout> layout() {
    FailureOr<IntTuple> shape = intTuple();
    if (failed(shape))
      return failure();
    return layoutAfter(std::move(*shape));
  }

  FailureOr<Swizzle> swizzle() {
    Swizzle result;
    if (failed(word("S")) || failed(expect('<')) || failed(integer(result.mask)) ||
        failed(expect(',')) || failed(integer(result.base)) || failed(expect(',')) ||
        failed(integer(result.shift)) || failed(expect('>')))
      return failure();
    return result;
  }

  FailureOr<CoordSwizzle> coordSwizzle() {
    CoordSwizzle result;
    if (failed(word("CS")) || failed(expect('<')) || failed(integer(result.mask)) ||
        failed(expect(',')) || failed(integer(result.baseRow)) || failed(expect(',')) ||
        failed(modePath(result.rowPath)) || failed(expect(',')) ||
        failed(integer(result.baseCol)) || failed(expect(',')) ||
        failed(modePath(result.colPath)) || failed(expect('>')))
      return failure();
    return result;
  }

  FailureOr<InnerMap> composedChain(unsigned depth = 0) {
    FailureOr<InnerMap> chain = chainStart();
    unsigned links = 0;
    while (succeeded(chain) && atWord("o")) {
      cursor.pos += 1;
      if (++links > kMaxDepth)
        return error("composed layout chains more than " + llvm::Twine(kMaxDepth) + " maps");
      FailureOr<IntTuple> offset = intTuple();
      if (failed(offset) || failed(word("o")))
        return failure();
      FailureOr<AnyLayout> outer = outerLayout(depth);
      if (failed(outer))
        return failure();
      chain = InnerMap(ComposedLayout(std::move(*chain), std::move(*offset), std::move(*outer)));
    }
    return chain;
  }

  FailureOr<Tile> tile(unsigned depth = 0) {
    skipSpace();
    if (peek() != '[')
      return tileLeaf();
    if (depth == kMaxDepth)
      return error("tile is nested deeper than " + llvm::Twine(kMaxDepth) + " levels");
    ++cursor.pos;
    llvm::SmallVector<Tile, 4> modes;
    do {
      if (modes.size() == kMaxLeaves)
        return error("tile has more than " + llvm::Twine(kMaxLeaves) + " modes");
      FailureOr<Tile> mode = tile(depth + 1);
      if (failed(mode))
        return failure();
      modes.push_back(std::move(*mode));
    } while (consumeIf('|'));
    if (!consumeIf(']'))
      return error("expected '|' or ']' in tile");
    return Tile(modes);
  }

  llvm::LogicalResult error(const llvm::Twine &message) { return errorAt(cursor.pos, message); }

  llvm::LogicalResult errorAt(const char *where, const llvm::Twine &message) {
    if (!cursor.failed()) {
      cursor.error = message.str();
      cursor.errorPos = where;
    }
    return failure();
  }

private:
  char peek() const { return peekAt(cursor.pos); }
  char peekAt(const char *p) const { return p == cursor.end ? '\0' : *p; }

  /// Whether the next token is `expected`, taking it if so. Otherwise nothing is taken.
  bool consumeIf(char expected) {
    const char *start = cursor.pos;
    skipSpace();
    if (peek() != expected) {
      cursor.pos = start;
      return false;
    }
    ++cursor.pos;
    return true;
  }

  llvm::LogicalResult expect(char expected) {
    if (consumeIf(expected))
      return llvm::success();
    return error(llvm::Twine("expected '") + llvm::Twine(expected) + "'");
  }

  /// Whether the next token is the word `expected`; nothing but whitespace is taken, and that only
  /// if it is.
  bool atWord(llvm::StringRef expected) {
    const char *start = cursor.pos;
    while (llvm::isSpace(peekAt(start)))
      ++start;
    const char *p = start;
    for (char c : expected)
      if (peekAt(p++) != c)
        return false;
    if (isWordCharacter(peekAt(p)))
      return false;
    cursor.pos = start;
    return true;
  }

  llvm::LogicalResult word(llvm::StringRef expected) {
    if (!atWord(expected))
      return error("expected '" + expected + "'");
    cursor.pos += expected.size();
    return llvm::success();
  }

  /// Decimal digits with an optional sign, that fit int32. What follows them is not looked at.
  llvm::LogicalResult digits(int32_t &value) {
    skipSpace();
    const char *start = cursor.pos;
    const bool negative = peek() == '-';
    if (negative) {
      ++cursor.pos;
      skipSpace();
    }
    if (!llvm::isDigit(peek()))
      return errorAt(start, "expected an integer");
    int64_t magnitude = 0;
    for (; llvm::isDigit(peek()); ++cursor.pos)
      if (magnitude <= std::numeric_limits<int32_t>::max())
        magnitude = magnitude * 10 + (peek() - '0');
    const int64_t result = negative ? -magnitude : magnitude;
    if (result < std::numeric_limits<int32_t>::min() ||
        result > std::numeric_limits<int32_t>::max())
      return errorAt(start, "integer does not fit int32");
    value = static_cast<int32_t>(result);
    return llvm::success();
  }

  llvm::LogicalResult integer(int32_t &value) {
    if (failed(digits(value)))
      return failure();
    if (isWordCharacter(peek()))
      return error("unexpected character in integer");
    return llvm::success();
  }

  llvm::LogicalResult modePath(llvm::SmallVectorImpl<int32_t> &path) {
    if (failed(expect('[')))
      return failure();
    if (consumeIf(']'))
      return llvm::success();
    do {
      if (path.size() == kMaxDepth)
        return error("mode path is longer than " + llvm::Twine(kMaxDepth));
      if (failed(integer(path.emplace_back())))
        return failure();
    } while (consumeIf(','));
    return expect(']');
  }

  /// The attributes of a dynamic leaf, behind its `?`.
  FailureOr<IntTuple> dynamicLeaf() {
    unsigned width = 32;
    int32_t divisibility = 1;
    if (consumeIf('{')) {
      if (atWord("i32")) {
        cursor.pos += 3;
      } else if (atWord("i64")) {
        cursor.pos += 3;
        width = 64;
      }
      if (atWord("div")) {
        cursor.pos += 3;
        if (failed(expect('=')) || failed(integer(divisibility)))
          return failure();
      }
      if (!consumeIf('}'))
        return error("expected 'i32', 'i64', 'div=' or '}' in dynamic integer");
    }
    return IntTuple::dynamic(width, divisibility);
  }

  /// The `E` chain behind a leaf; an empty path when there is none.
  FailureOr<BasisPath> basisPath() {
    BasisPath path;
    const char *start = cursor.pos;
    while (llvm::isSpace(peekAt(start)))
      ++start;
    if (peekAt(start) != 'E' || !llvm::isDigit(peekAt(start + 1)))
      return path;
    cursor.pos = start;
    while (peek() == 'E') {
      ++cursor.pos;
      if (!llvm::isDigit(peek()))
        return error("expected a mode number after 'E'");
      int32_t mode = 0;
      if (failed(digits(mode)))
        return failure();
      if (!path.canAppend(mode))
        return error("basis element exceeds mode " + llvm::Twine(BasisPath::kMaxMode) + " or " +
                     llvm::Twine(BasisPath::kMaxLength) + " levels");
      path = path.append(mode);
    }
    return path;
  }

  FailureOr<IntTuple> leaf() {
    skipSpace();
    IntTuple value;
    if (consumeIf('*')) {
      value = IntTuple::none();
    } else if (consumeIf('?')) {
      FailureOr<IntTuple> dynamic = dynamicLeaf();
      if (failed(dynamic))
        return failure();
      value = *dynamic;
    } else {
      int32_t number = 0;
      if (peek() != '-' && !llvm::isDigit(peek()))
        return error("expected an integer, '?', '*' or '('");
      if (failed(digits(number)))
        return failure();
      value = number;
    }
    FailureOr<BasisPath> path = basisPath();
    if (failed(path))
      return failure();
    if (isWordCharacter(peek()))
      return error("unexpected character in integer");
    return path->empty() ? value : value.withPath(*path);
  }

  FailureOr<Layout> layoutAfter(IntTuple shape) {
    if (!consumeIf(':'))
      return error("expected ':' and a stride in layout");
    FailureOr<IntTuple> stride = intTuple();
    if (failed(stride))
      return failure();
    return Layout(std::move(shape), std::move(*stride));
  }

  FailureOr<InnerMap> chainStart() {
    skipSpace();
    if (peek() == 'S') {
      FailureOr<Swizzle> map = swizzle();
      return failed(map) ? FailureOr<InnerMap>() : FailureOr<InnerMap>(InnerMap(*map));
    }
    if (peek() == 'C') {
      FailureOr<CoordSwizzle> map = coordSwizzle();
      return failed(map) ? FailureOr<InnerMap>() : FailureOr<InnerMap>(InnerMap(std::move(*map)));
    }
    if (peek() == '[')
      return error("only the outer part of a composed layout may stand in brackets");
    FailureOr<Layout> map = layout();
    return failed(map) ? FailureOr<InnerMap>() : FailureOr<InnerMap>(InnerMap(std::move(*map)));
  }

  FailureOr<AnyLayout> outerLayout(unsigned depth) {
    if (!consumeIf('[')) {
      FailureOr<Layout> plain = layout();
      return failed(plain) ? FailureOr<AnyLayout>() : FailureOr<AnyLayout>(AnyLayout(*plain));
    }
    if (depth == kMaxDepth)
      return error("composed layout is nested deeper than " + llvm::Twine(kMaxDepth) + " levels");
    const char *start = cursor.pos;
    FailureOr<InnerMap> chain = composedChain(depth + 1);
    if (failed(chain) || failed(expect(']')))
      return failure();
    if (const ComposedLayout *composed = chain->composed())
      return AnyLayout(*composed);
    if (const Layout *plain = chain->layout())
      return AnyLayout(*plain);
    return errorAt(start, "expected a layout or a composed layout as outer part");
  }

  FailureOr<Tile> tileLeaf() {
    const char *start = cursor.pos;
    FailureOr<IntTuple> value = intTuple();
    if (failed(value))
      return failure();
    const char *behind = cursor.pos;
    if (consumeIf(':')) {
      cursor.pos = behind;
      FailureOr<Layout> tiler = layoutAfter(std::move(*value));
      return failed(tiler) ? FailureOr<Tile>() : FailureOr<Tile>(Tile(std::move(*tiler)));
    }
    if (value->isTuple() || value->isBasis())
      return errorAt(start, "expected an integer, '?', '*', a layout or a bracket as tile mode");
    return Tile(*value);
  }

  TextCursor &cursor;
};

} // namespace fly

bool TextCursor::atEnd() {
  TextParser(*this).skipSpace();
  return pos == end || *pos == '\0';
}

FailureOr<IntTuple> fly::parseIntTuple(TextCursor &cursor) { return TextParser(cursor).intTuple(); }

FailureOr<Layout> fly::parseLayout(TextCursor &cursor) { return TextParser(cursor).layout(); }

FailureOr<Swizzle> fly::parseSwizzle(TextCursor &cursor) { return TextParser(cursor).swizzle(); }

FailureOr<CoordSwizzle> fly::parseCoordSwizzle(TextCursor &cursor) {
  return TextParser(cursor).coordSwizzle();
}

FailureOr<Tile> fly::parseTile(TextCursor &cursor) { return TextParser(cursor).tile(); }

FailureOr<AnyLayout> fly::parseAnyLayout(TextCursor &cursor) {
  TextParser parser(cursor);
  const char *start = cursor.position();
  FailureOr<InnerMap> chain = parser.composedChain();
  if (failed(chain))
    return failure();
  if (const ComposedLayout *composed = chain->composed())
    return AnyLayout(*composed);
  if (const Layout *plain = chain->layout())
    return AnyLayout(*plain);
  return parser.errorAt(start, "expected a layout or a composed layout, found a bare swizzle");
}

FailureOr<ComposedLayout> fly::parseComposedLayout(TextCursor &cursor) {
  TextParser parser(cursor);
  const char *start = cursor.position();
  FailureOr<InnerMap> chain = parser.composedChain();
  if (failed(chain))
    return failure();
  if (const ComposedLayout *composed = chain->composed())
    return *composed;
  return parser.errorAt(start, "invalid kind of attribute specified: expected a composed layout "
                               "'inner o offset o outer'");
}
