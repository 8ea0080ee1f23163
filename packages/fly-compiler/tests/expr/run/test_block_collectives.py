# SPDX-License-Identifier: Apache-2.0
"""Rearranging, sorting and counting the items of a workgroup, against torch."""

import pytest
import torch

import flydsl.compiler as flyc
import flydsl.expr as fx

coop = fx.coop
T, N = 128, 4


def run(body, items, results=1, dtype=torch.int32, threads=T, n=N):
    """Run body(items of this thread) -> vectors; items and results are (threads, n), in blocked order."""

    @flyc.kernel(known_block_size=(threads, 1, 1))
    def kernel(source: fx.Tensor, target: fx.Tensor):
        i = fx.thread_idx.x
        mine = fx.Vector.from_elements([source[i, j] for j in range(n)])
        found = body(mine if n > 1 else mine[0])
        for r, value in enumerate(found if isinstance(found, tuple) else (found,)):
            lanes = list(value) if isinstance(value, fx.Vector) else [value] * n
            for j in fx.range_constexpr(n):
                target[r, i, j] = lanes[j].to(target.dtype)

    @flyc.jit
    def launch(source: fx.Tensor, target: fx.Tensor):
        kernel(source, target).launch(grid=(1,), block=(threads,))

    target = torch.empty(results, threads, n, dtype=dtype)
    launch(items, target)
    return target if results > 1 else target[0]


def storage(collective):
    return fx.SharedAllocator().allocate(collective.SharedStorage)


def ints(low=-50, high=50, threads=T, n=N):
    return torch.randint(low, high, (threads, n), generator=torch.Generator().manual_seed(7), dtype=torch.int32)


@pytest.mark.parametrize("algorithm", list(coop.BlockScanAlgorithm))
@pytest.mark.parametrize("n", [1, N])
def test_scans_of_several_items(algorithm, n):
    x = ints(n=n)

    def body(v):
        Scan = coop.BlockScan[fx.Int32, T, algorithm]
        allocator = fx.SharedAllocator()
        store = [allocator.allocate(Scan.SharedStorage) for _ in range(4)]
        inclusive, total = Scan.inclusive_with_aggregate(v, "add", storage=store[0])
        exclusive = Scan.exclusive(v, "add", storage=store[1], prefix_callback=lambda whole: whole + 1)
        largest = Scan.inclusive(v, fx.ReductionOp.MAX, storage=store[2], init=-10)
        few = Scan.exclusive(v, lambda a, b: a + b, storage=store[3], identity=0, valid_items=3)
        return inclusive, total, exclusive, largest, few

    inclusive, total, exclusive, largest, few = run(body, x, 5, n=n)
    flat = x.flatten()
    sums = flat.cumsum(0)
    assert torch.equal(inclusive.flatten(), sums.int())
    assert (total == sums[-1]).all()
    assert torch.equal(exclusive.flatten(), (sums - flat + sums[-1] + 1).int())
    assert torch.equal(largest.flatten(), flat.cummax(0).values.clamp(min=-10).int())
    head = torch.where(torch.arange(T * n) < 3 * n, flat, 0)
    assert torch.equal(few.flatten(), (head.cumsum(0) - head).int())


@pytest.mark.parametrize("algorithm", list(coop.BlockReduceAlgorithm))
def test_reductions(algorithm):
    x = ints()

    def body(v):
        Reduce = coop.BlockReduce[fx.Int32, T, algorithm]
        allocator = fx.SharedAllocator()
        store = [allocator.allocate(Reduce.SharedStorage) for _ in range(2)]
        return Reduce(v, "add", storage=store[0]), Reduce(v, "add", storage=store[1], valid_items=5)

    whole, few = run(body, x, 2)
    assert (whole == x.sum()).all()
    assert (few == x[:5].sum()).all()


@pytest.mark.parametrize("algorithm", list(coop.BlockExchangeAlgorithm))
def test_exchanges(algorithm):
    x = ints()
    warps = T // fx.num_warp_threads()
    warp = x.view(warps, -1, N)

    def body(v):
        Exchange = coop.BlockExchange[fx.Int32, T, N, algorithm]
        allocator = fx.SharedAllocator()
        store = [allocator.allocate(Exchange.SharedStorage) for _ in range(6)]
        t = fx.thread_idx.x
        ranks = fx.Vector.from_elements([T * N - 1 - (t * N + i) for i in range(N)])
        odd = fx.Vector.from_elements([(t * N + i) % 2 for i in range(N)])
        return (
            Exchange.blocked_to_striped(v, storage=store[0]),
            Exchange.striped_to_blocked(v, storage=store[1]),
            Exchange.blocked_to_warp_striped(v, storage=store[2]),
            Exchange.warp_striped_to_blocked(v, storage=store[3]),
            Exchange.scatter_to_blocked(v, ranks, storage=store[4]),
            Exchange.scatter_to_striped_flagged(v, ranks, odd, storage=store[5], default=-1),
        )

    got = run(body, x, 6)
    assert torch.equal(got[0], x.flatten().view(N, T).t())
    assert torch.equal(got[1], x.t().reshape(T, N))
    assert torch.equal(got[2], warp.reshape(warps, N, -1).transpose(1, 2).reshape(T, N))
    assert torch.equal(got[3], warp.transpose(1, 2).reshape(T, N))
    assert torch.equal(got[4], x.flatten().flip(0).view(T, N))
    kept = torch.where(torch.arange(T * N) % 2 == 1, x.flatten(), -1).flip(0)
    assert torch.equal(got[5], kept.int().view(N, T).t())


def test_neighbours():
    x = ints(0, 4)

    def body(v):
        allocator = fx.SharedAllocator()

        def fresh(kind):
            return allocator.allocate(kind.SharedStorage)

        Shuffle, Difference = coop.BlockShuffle[fx.Int32, T], coop.BlockAdjacentDifference[fx.Int32, T]
        Runs = coop.BlockDiscontinuity[fx.Int32, T]
        heads, tails = Runs.flag_heads_and_tails(v, storage=fresh(Runs), successor=0)
        up, suffix = Shuffle.up(v, storage=fresh(Shuffle), predecessor=9, return_suffix=True)
        return (
            Shuffle.offset(v[0], 3, storage=fresh(Shuffle), fill=-7),
            Shuffle.rotate(v[0], 5, storage=fresh(Shuffle)),
            up + suffix,
            Shuffle.down(v, storage=fresh(Shuffle)),
            Difference.subtract_left(v, storage=fresh(Difference)),
            Difference.subtract_right(v, lambda a, b: a + b, storage=fresh(Difference), successor=100),
            heads,
            tails,
        )

    got = run(body, x, 8)
    flat, first = x.flatten(), x[:, 0]
    assert torch.equal(got[0][:, 0], torch.cat([first[3:], torch.tensor([-7, -7, -7])]).int())
    assert torch.equal(got[1][:, 0], first.roll(-5))
    assert torch.equal(got[2].flatten(), (torch.cat([torch.tensor([9]), flat[:-1]]) + flat[-1]).int())
    assert torch.equal(got[3].flatten(), torch.cat([flat[1:], flat[-1:]]))
    assert torch.equal(got[4].flatten(), torch.cat([flat[:1], flat[1:] - flat[:-1]]))
    assert torch.equal(got[5].flatten(), (flat + torch.cat([flat[1:], torch.tensor([100])])).int())
    assert torch.equal(got[6].flatten(), torch.cat([torch.tensor([1]), (flat[1:] != flat[:-1])]).int())
    assert torch.equal(got[7].flatten(), torch.cat([(flat[1:] != flat[:-1]), flat[-1:] != 0]).int())


@pytest.mark.parametrize("algorithm", [one.name for one in coop.BlockLoadAlgorithm])
@pytest.mark.parametrize("valid", [None, 301])
def test_loads_and_stores(algorithm, valid):
    @flyc.kernel(known_block_size=(T, 1, 1))
    def kernel(source: fx.Tensor, target: fx.Tensor, shown: fx.Tensor):
        Load = coop.BlockLoad[fx.Float32, T, N, coop.BlockLoadAlgorithm[algorithm]]
        Store = coop.BlockStore[fx.Float32, T, N, coop.BlockStoreAlgorithm[algorithm]]
        allocator = fx.SharedAllocator()
        first = allocator.allocate(Load.SharedStorage) if Load.storage_slots() else None
        second = allocator.allocate(Store.SharedStorage) if Store.storage_slots() else None
        items = Load(source, storage=first, offset=4, valid_items=valid, default=-1.0)
        for j in fx.range_constexpr(N):
            shown[fx.thread_idx.x, j] = items[j]
        Store(target, items * 2.0, storage=second, valid_items=valid)

    @flyc.jit
    def launch(source: fx.Tensor, target: fx.Tensor, shown: fx.Tensor):
        kernel(source, target, shown).launch(grid=(1,), block=(T,))

    count = T * N if valid is None else valid
    x, y, shown = torch.randn(4 + count), torch.zeros(T * N), torch.empty(T, N)
    launch(flyc.from_dlpack(x, assumed_align=16), flyc.from_dlpack(y, assumed_align=16), shown)
    expected = torch.cat([x[4:], torch.full((T * N - count,), -1.0)])
    arranged = expected.view(N, T).t() if algorithm == "STRIPED" else expected.view(T, N)
    assert torch.equal(shown, arranged)
    assert torch.equal(y[:count], x[4:] * 2)
    assert not y[count:].any()


@pytest.mark.parametrize("algorithm", list(coop.BlockHistogramAlgorithm))
def test_histogram(algorithm):
    x = ints(0, 37)

    def body(v):
        Histogram = coop.BlockHistogram[fx.Int32, T, 37, algorithm]
        counts = Histogram(v, storage=storage(Histogram))
        return fx.Vector.from_elements([counts[item] for item in v])

    counts = torch.bincount(x.flatten(), minlength=37).int()
    assert torch.equal(run(body, x), counts[x])


@pytest.mark.parametrize("sort", ["radix", "digit", "merge"])
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("threads", [T, 16])
def test_sorting_pairs_is_stable(sort, descending, threads):
    x = ints(-5, 5, threads)

    def body(v):
        kind = coop.BlockMergeSort if sort == "merge" else coop.BlockRadixSort
        digit = (coop.BlockRadixSortAlgorithm.RADIX_DIGIT,) if sort == "digit" else ()
        Sort = kind[((fx.Int32, fx.Int32), threads, N, *digit)]
        numbers = fx.Vector.from_elements([fx.thread_idx.x * N + i for i in range(N)])
        return Sort(v, numbers, storage=storage(Sort), descending=descending)

    keys, places = run(body, x, 2, threads=threads)
    expected = x.flatten().sort(stable=True, descending=descending)
    assert torch.equal(keys.flatten(), expected.values)
    assert torch.equal(places.flatten(), expected.indices.int())


def test_sorting_floats():
    x = torch.randn(T, N)

    def body(v):
        Sort = coop.BlockRadixSort[fx.Float32, T, N]
        return Sort(v, storage=storage(Sort))

    assert torch.equal(run(body, x, dtype=torch.float32).flatten(), x.flatten().sort().values)


@pytest.mark.parametrize("algorithm", list(coop.BlockRadixRankAlgorithm))
def test_ranks_by_a_digit(algorithm):
    x = ints(0, 1 << 20)
    lanes = fx.num_warp_threads()
    counts = []

    def body(v):
        Rank = coop.BlockRadixRank[fx.Uint32, T, N, algorithm]
        options = {"count_callback": counts.append} if algorithm.name.startswith("MATCH") else {}
        ranks, prefix = Rank(
            v.bitcast(fx.Uint32), storage=storage(Rank), begin_bit=4, end_bit=8, with_prefix=True, **options
        )
        return ranks, prefix, counts[0] if counts else prefix

    ranks, prefix, count = run(body, x, 3)
    digits = (x >> 4) & 15
    if algorithm.name.startswith("MATCH"):  # the order of items is warp-striped
        digits = digits.view(-1, lanes, N).transpose(1, 2).reshape(-1)
        ranks = ranks.view(-1, lanes, N).transpose(1, 2)
    expected = torch.empty(T * N, dtype=torch.int32)
    expected[digits.flatten().sort(stable=True).indices] = torch.arange(T * N, dtype=torch.int32)
    assert torch.equal(ranks.flatten(), expected)
    per_digit = torch.bincount(digits.flatten(), minlength=16)
    assert torch.equal(prefix[:16, 0], (per_digit.cumsum(0) - per_digit).int())
    assert not counts or torch.equal(count[:16, 0], per_digit.int())


@pytest.mark.parametrize("algorithm", list(coop.BlockRadixRankAlgorithm))
def test_ranks_by_digits_of_several_rounds(algorithm):
    x = ints(0, 1 << 20)
    lanes = fx.num_warp_threads()

    def body(v):
        Rank = coop.BlockRadixRank[fx.Uint32, T, N, algorithm]
        return Rank(v.bitcast(fx.Uint32), storage=storage(Rank), begin_bit=3, end_bit=20)

    digits = x >> 3
    digits[::2] &= 0xF  # equal ones, too
    ranks = run(body, digits << 3)
    if algorithm.name.startswith("MATCH"):
        digits = digits.view(-1, lanes, N).transpose(1, 2).reshape(-1)
        ranks = ranks.view(-1, lanes, N).transpose(1, 2)
    expected = torch.empty(T * N, dtype=torch.int32)
    expected[digits.flatten().sort(stable=True).indices] = torch.arange(T * N, dtype=torch.int32)
    assert torch.equal(ranks.flatten(), expected)


def test_ranks_by_wide_and_extracted_digits():
    x = ints(0, 1 << 12)

    def body(v):
        Rank, Wide = coop.BlockRadixRank, coop.BlockRadixRank.with_radix_bits(5)
        kinds = Rank[fx.Uint32, T, N], Wide[fx.Uint32, T, N]
        allocator = fx.SharedAllocator()
        stores = [allocator.allocate(kind.SharedStorage) for kind in kinds]
        whole = kinds[0].rank(v.bitcast(fx.Uint32), storage=stores[0], descending=True, end_bit=12)
        low = kinds[1](v.bitcast(fx.Uint32), storage=stores[1], radix_bits=5, digit_extractor=lambda key: key & 31)
        return whole, low

    for ranks, keys in zip(run(body, x, 2), (4095 - x.flatten(), x.flatten() & 31), strict=True):
        expected = torch.empty(T * N, dtype=torch.int32)
        expected[keys.sort(stable=True).indices] = torch.arange(T * N, dtype=torch.int32)
        assert torch.equal(ranks.flatten(), expected)


@pytest.mark.parametrize("algorithm", list(coop.BlockTopKAlgorithm))
def test_the_largest(algorithm):
    x = ints()

    def body(v):
        Top, Pairs = coop.BlockTopK[fx.Int32, T, N, algorithm], coop.BlockTopK[(fx.Int32, fx.Int32), T, N, algorithm]
        allocator = fx.SharedAllocator()
        store = [allocator.allocate(kind.SharedStorage) for kind in (Top, Top, Pairs)]
        numbers = fx.Vector.from_elements([fx.thread_idx.x * N + i for i in range(N)])
        largest, smallest = Top.max_keys(v, 10, storage=store[0]), Top.min_keys(v, 10, 20, storage=store[1])
        return largest, smallest, *Pairs.max_pairs(v, numbers, 33, storage=store[2])

    largest, smallest, keys, places = (one.flatten() for one in run(body, x, 4))
    assert torch.equal(largest[:10].sort(descending=True).values, x.flatten().topk(10).values)
    assert torch.equal(smallest[:10].sort().values, x.flatten()[:20].sort().values[:10])
    assert torch.equal(keys[:33].sort(descending=True).values, x.flatten().topk(33).values)
    assert len(set(places[:33].tolist())) == 33
    assert torch.equal(x.flatten()[places[:33]], keys[:33])


@pytest.mark.parametrize("largest", [False, True])
def test_the_largest_floats_by_digits(largest):
    x = torch.randn(T, N)

    def body(v):
        Top = coop.BlockTopK[fx.Float32, T, N, coop.BlockTopKAlgorithm.AIR]
        return Top(v, 7, storage=storage(Top), largest=largest)

    got = run(body, x, dtype=torch.float32).flatten()[:7]
    expected = x.flatten().topk(7, largest=largest).values
    assert torch.equal(got.sort(descending=largest).values, expected)


def test_runs_are_decoded():
    lengths = ints(0, 4)
    total = int(lengths.sum())

    def body(v):
        Decode = coop.BlockRunLengthDecode[fx.Int32, T, N]
        numbers = fx.Vector.from_elements([fx.thread_idx.x * N + i for i in range(N)])
        decoder = Decode.init_with_run_lengths(numbers, v, storage=storage(Decode))
        first = decoder.decode(decoded_items_per_thread=N)
        return first, decoder.decode(decoded_items_per_thread=N, offset=T * N, default=-1), decoder.total

    first, second, count = run(body, lengths, 3)
    items = torch.arange(T * N, dtype=torch.int32).repeat_interleave(lengths.flatten())
    expected = torch.full((2 * T * N,), -1, dtype=torch.int32)
    expected[:total] = items
    assert torch.equal(torch.cat([first.flatten(), second.flatten()]), expected)
    assert (count == total).all()


@pytest.mark.parametrize("n", [1, 2])
@pytest.mark.parametrize("width", [fx.num_warp_threads(), 8])
def test_waves_sort(n, width):
    x = ints(-5, 5, 64, n)

    def body(v):
        lane = fx.thread_idx.x % width
        number = fx.Vector.from_elements([lane * n + i for i in range(n)]) if n > 1 else lane
        Bitonic, Merge = coop.WarpBitonicSort[fx.Int32, width, n], coop.WarpMergeSort[(fx.Int32, fx.Int32), width, n]
        plain = Bitonic.sort(v, compare_op=lambda a, b: a > b)
        few = coop.warp_merge_sort(v, width=width, compare_op=lambda a, b: a < b, valid_items=5)
        return plain, few, *Merge.sort(v, number, compare_op=lambda a, b: a < b)

    down, few, up, places = run(body, x, 4, threads=64, n=n)
    assert torch.equal(few.view(-1, width * n)[:, :5], x.view(-1, width * n)[:, :5].sort(dim=1).values)
    groups = x.view(-1, width * n)
    expected = groups.sort(stable=True, dim=1)
    assert torch.equal(down.view(-1, width * n), groups.sort(dim=1, descending=True).values)
    assert torch.equal(up.view(-1, width * n), expected.values)
    assert torch.equal(places.view(-1, width * n), expected.indices.int())


def test_waves_reduce_segments_and_batches():
    x = ints(threads=64, n=1)
    flags = (torch.arange(64) % 7 == 0) | (torch.arange(64) == 10)

    def body(v):
        lane = fx.thread_idx.x
        head = (lane % 7 == 0) | (lane == 10)
        tail = (lane % 7 == 6) | (lane == 9)
        Reduce = coop.WarpReduce[fx.Int32, 16]
        batch = coop.warp_reduce_batched_to_striped(fx.Vector.from_elements([v, v * 2]), "add", width=2)
        return (
            coop.warp_head_segmented_reduce(v, head, "add"),
            coop.warp_tail_segmented_reduce(v, tail, "max"),
            Reduce.reduce(v, "add", valid_items=5),
            Reduce.head_segmented_reduce(v, head, "add"),
            batch[0],
        )

    heads, tails, few, narrow, batch = (one.flatten() for one in run(body, x, 5, threads=64, n=1))
    flat = x.flatten()
    starts = flags.nonzero().flatten().tolist()
    for begin, end in zip(starts, [*starts[1:], 64], strict=True):
        assert heads[begin] == flat[begin:end].sum()
        assert tails[begin] == flat[begin:end].max()
        assert narrow[begin] == flat[begin : min(end, (begin // 16 + 1) * 16)].sum()
    assert torch.equal(few.view(4, 16)[:, 0], flat.view(4, 16)[:, :5].sum(1).int())
    pairs = flat.view(-1, 2).sum(1)
    assert torch.equal(batch.view(-1, 2), torch.stack([pairs, pairs * 2], 1).int())


def test_waves_scan_some_of_their_lanes():
    x = ints(threads=64, n=1)

    def body(v):
        Scan = coop.WarpScan[fx.Int32, 16]
        inclusive, exclusive, total = Scan.scan_with_aggregate(v, lambda a, b: a + b, init=3, valid_items=5)
        largest = coop.warp_reduce(v, lambda a, b: fx.max(a, b), width=16, valid_items=5)
        return inclusive, exclusive, total, largest, coop.warp_broadcast(v, 3, width=16)

    inclusive, exclusive, total, largest, third = (one.view(4, 16) for one in run(body, x, 5, threads=64, n=1))
    x = x.view(4, 16)
    sums = x[:, :5].cumsum(1).int()
    assert torch.equal(inclusive[:, :5], sums + 3)
    assert torch.equal(exclusive[:, :6], torch.cat([torch.full((4, 1), 3), sums + 3], 1).int())
    assert (total == sums[:, 4:]).all()
    assert (largest == x[:, :5].max(1, keepdim=True).values).all()
    assert (third == x[:, 3:4]).all()


@pytest.mark.parametrize("algorithm", list(coop.WarpExchangeAlgorithm))
@pytest.mark.parametrize("width", [16, fx.num_warp_threads()])
def test_waves_exchange(algorithm, width):
    x = ints()

    def body(v):
        Exchange = coop.WarpExchange[fx.Int32, width, N, algorithm]
        shared = algorithm is coop.WarpExchangeAlgorithm.SHARED
        allocator = fx.SharedAllocator()
        groups = fx.Array[Exchange.SharedStorage, T // width] if shared else None
        store = [allocator.allocate(groups) if shared else None for _ in range(3)]
        striped = Exchange.blocked_to_striped(v, storage=store[0])
        blocked = Exchange.striped_to_blocked(v, storage=store[1])
        lane = fx.thread_idx.x % width
        ranks = fx.Vector.from_elements([width * N - 1 - (lane * N + i) for i in range(N)])
        flipped = Exchange.scatter_to_striped(v, ranks, storage=store[2]) if shared else striped
        return striped, blocked, flipped

    striped, blocked, flipped = (one.view(-1, width, N) for one in run(body, x, 3))
    x = x.view(-1, width, N)
    arranged = x.reshape(-1, N, width).transpose(1, 2)
    assert torch.equal(striped, arranged)
    assert torch.equal(blocked, x.transpose(1, 2).reshape(-1, width, N))
    if algorithm is coop.WarpExchangeAlgorithm.SHARED:
        assert torch.equal(flipped, x.flatten(1).flip(1).view(-1, N, width).transpose(1, 2))


@pytest.mark.parametrize("algorithm", [one.name for one in coop.WarpLoadAlgorithm])
@pytest.mark.parametrize("valid", [None, 61])
def test_waves_load_and_store(algorithm, valid):
    width = 32

    @flyc.kernel(known_block_size=(T, 1, 1))
    def kernel(source: fx.Tensor, target: fx.Tensor, shown: fx.Tensor):
        Load = coop.WarpLoad[fx.Float32, width, N, coop.WarpLoadAlgorithm[algorithm]]
        Store = coop.WarpStore[fx.Float32, width, N, coop.WarpStoreAlgorithm[algorithm]]
        allocator, groups = fx.SharedAllocator(), T // width
        transposed = algorithm == "TRANSPOSE"
        first = allocator.allocate(fx.Array[Load.SharedStorage, groups]) if transposed else None
        second = allocator.allocate(fx.Array[Store.SharedStorage, groups]) if transposed else None
        offset = fx.thread_idx.x // width * (width * N)
        items = Load.load(source, storage=first, offset=offset, valid_items=valid, default=-1.0)
        for j in fx.range_constexpr(N):
            shown[fx.thread_idx.x, j] = items[j]
        Store.store(target, items * 2.0, storage=second, offset=offset, valid_items=valid)

    @flyc.jit
    def launch(source: fx.Tensor, target: fx.Tensor, shown: fx.Tensor):
        kernel(source, target, shown).launch(grid=(1,), block=(T,))

    x, y, shown = torch.randn(T * N), torch.zeros(T * N), torch.empty(T, N)
    launch(flyc.from_dlpack(x, assumed_align=16), flyc.from_dlpack(y, assumed_align=16), shown)
    groups = x.view(-1, width * N).clone()
    groups[:, valid if valid is not None else width * N :] = -1
    striped = groups.view(-1, N, width).transpose(1, 2)
    assert torch.equal(shown.view(-1, width, N), striped if algorithm == "STRIPED" else groups.view(-1, width, N))
    stored = torch.where(groups == -1, 0.0, groups * 2)
    assert torch.equal(y.view(-1, width * N), stored)


def test_waves_reduce_batches():
    x = ints(threads=64)

    def body(v):
        Batched = coop.WarpReduceBatched[fx.Int32, 2, N]
        blocked, striped = Batched.reduce_to_blocked(v, "add"), Batched.reduce_to_striped(v, "add")
        return Batched.reduce(v, "max"), *(fx.Vector.from_elements([*one, *one]) for one in (blocked, striped))

    largest, blocked, striped = run(body, x, 3, threads=64)
    pairs = x.view(-1, 2, N)
    sums = pairs.sum(1).int()
    assert torch.equal(largest.view(-1, 2, N), pairs.max(1, keepdim=True).values.expand(-1, 2, N))
    assert torch.equal(blocked[:, :2].reshape(-1, 4), sums)
    assert torch.equal(striped[:, :2].reshape(-1, 2, 2), sums.view(-1, 2, 2).transpose(1, 2))


def test_differences_of_a_part():
    x = ints()

    def body(v):
        allocator = fx.SharedAllocator()
        Difference, Runs = coop.BlockAdjacentDifference[fx.Int32, T], coop.BlockDiscontinuity[fx.Int32, T]
        left = Difference.subtract_left_partial_tile(v, 9, storage=allocator.allocate(Difference.SharedStorage))
        right = Difference.subtract_right(
            v, storage=allocator.allocate(Difference.SharedStorage), valid_items=9, successor=5
        )
        _, before = Runs.flag_heads(
            v, storage=allocator.allocate(Runs.SharedStorage), predecessor=8, return_predecessors=True
        )
        return left, right, before

    left, right, before = (one.flatten() for one in run(body, x, 3))
    flat = x.flatten()
    assert torch.equal(left, torch.cat([flat[:1], flat[1:9] - flat[:8], flat[9:]]))
    assert torch.equal(right, torch.cat([flat[:8] - flat[1:9], flat[8:9] - 5, flat[9:]]))
    assert torch.equal(before, torch.cat([torch.tensor([8]), flat[:-1]]).int())
