// SPDX-License-Identifier: Apache-2.0

#include "GemmTraversal.h"

#include "fly/Algebra/Coordinates.h"

#include "llvm/ADT/BitVector.h"

using namespace fly;

namespace {
enum Axis : unsigned { M, N, K };

struct LoopOrder {
  /// Innermost first.
  std::array<Axis, 3> axes;
  bool serpentine;
};
} // namespace

static LoopOrder loopOrder(GemmTraversalOrder order) {
  switch (order) {
  case GemmTraversalOrder::KMN:
    return {{K, M, N}, false};
  case GemmTraversalOrder::KNM:
    return {{K, N, M}, false};
  case GemmTraversalOrder::MKN:
    return {{M, K, N}, false};
  case GemmTraversalOrder::MNK:
    return {{M, N, K}, false};
  case GemmTraversalOrder::NKM:
    return {{N, K, M}, false};
  case GemmTraversalOrder::NMK:
    return {{N, M, K}, false};
  case GemmTraversalOrder::KMN_Serpentine:
    return {{K, M, N}, true};
  case GemmTraversalOrder::KNM_Serpentine:
    return {{K, N, M}, true};
  case GemmTraversalOrder::MKN_Serpentine:
    return {{M, K, N}, true};
  case GemmTraversalOrder::MNK_Serpentine:
    return {{M, N, K}, true};
  case GemmTraversalOrder::NKM_Serpentine:
    return {{N, K, M}, true};
  case GemmTraversalOrder::NMK_Serpentine:
    break;
  }
  return {{N, M, K}, true};
}

llvm::SmallVector<IndexMNK> fly::traverse(GemmTraversalOrder order, IndexMNK counts) {
  const auto [axes, serpentine] = loopOrder(order);
  const auto [inner, middle, outer] = axes;
  auto at = [serpentine = serpentine](int32_t step, int32_t count, int64_t passes) {
    return serpentine && passes % 2 != 0 ? count - 1 - step : step;
  };
  llvm::SmallVector<IndexMNK> visits;
  for (int32_t o = 0; o != counts[outer]; ++o)
    for (int32_t m = 0; m != counts[middle]; ++m)
      for (int32_t i = 0; i != counts[inner]; ++i) {
        IndexMNK &visit = visits.emplace_back();
        visit[outer] = o;
        visit[middle] = at(m, counts[middle], o);
        visit[inner] = at(i, counts[inner], int64_t(o) * counts[middle] + m);
      }
  return visits;
}

llvm::SmallVector<IndexMNK> fly::traverse(AlgebraContext &cx, const Layout &layout,
                                          IndexMNK counts) {
  const int64_t atoms = int64_t(counts[M]) * counts[N] * counts[K];
  llvm::SmallVector<IndexMNK> visits;
  const IntTuple size = layoutSize(cx, layout);
  if (cx.failed() || !layout.isStatic() || size.staticValue() != atoms) {
    cx.fail("traversal layout " + layout.str() + " must be static and visit " + llvm::Twine(atoms) +
            " atoms");
    return visits;
  }
  llvm::BitVector visited(atoms);
  for (int32_t position = 0; position != atoms && !cx.failed(); ++position) {
    const IntTuple index = crd2idx(cx, position, layout);
    const int64_t atom = index.isPlainInt() ? index.staticValue() : -1;
    if (atom < 0 || atom >= atoms || visited.test(atom)) {
      cx.fail("traversal layout " + layout.str() + " must visit each of " + llvm::Twine(atoms) +
              " atoms once, but position " + llvm::Twine(position) + " gives " + index.str());
      return visits;
    }
    visited.set(atom);
    const int32_t beyondM = static_cast<int32_t>(atom / counts[M]);
    visits.push_back(
        {static_cast<int32_t>(atom % counts[M]), beyondM % counts[N], beyondM / counts[N]});
  }
  return visits;
}
