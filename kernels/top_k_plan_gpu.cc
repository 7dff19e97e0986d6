// TopK on GPUs: which kernels take a row, and in how many pieces.
#include <stddef.h>

#include "top_k_plan.h"

namespace hipep {
namespace top_k {
namespace {

constexpr int64_t kMostBlocks = 1 << 20;
constexpr int64_t kLow = 256, kTall = 512;  // threads of the blocks that select
constexpr int64_t kPadding = 1 << 14;       // most that blocks read beyond the end of a row, with indices
constexpr int64_t kRankExtent = 512, kSortTile = 2048;
constexpr int64_t kFew = 128;       // words that are ranked by counting, which is faster
constexpr int64_t kListed = 16384;  // words that the last block of a row selects from

// Measured on an NVIDIA H200; see docs/performance.md.
constexpr int64_t kRankedExtent = 128;  // rows up to here are ranked by counting
constexpr int64_t kLowExtent = 4096;    // with a small K; else a quarter: longer rows take a tall block
constexpr int64_t kTallExtent = 8192;   // one row, four times as much for four: longer ones take several blocks
constexpr int64_t kOneExtent = 32768;   // the same with K = 1
constexpr int64_t kSplitCount = 256;    // K: above, a bound comes before the pieces

#define SORT(name, block) HIPEP_TOP_K_KERNELS("top_k", name, block)
#define SELECT(name, block) HIPEP_TOP_K_KERNELS("top_k_select", name, block)
#define SIEVE(name, block) HIPEP_TOP_K_KERNELS("top_k_sieve", name, block)
hipep_kernel one_low[4] = HIPEP_TOP_K_KERNELS("top_k_one", "top_k_one", 256);
hipep_kernel one_tall[4] = HIPEP_TOP_K_KERNELS("top_k_one", "top_k_one_tall", 512);
hipep_kernel select_low[4] = SELECT("top_k_select", 256);
hipep_kernel select_tall[4] = SELECT("top_k_select_tall", 512);
hipep_kernel split[4] = SELECT("top_k_split", 512);
hipep_kernel bound[4] = SIEVE("top_k_bound", 512);
hipep_kernel sieve[4] = SIEVE("top_k_sieve", 512);
hipep_kernel rank[4] = SORT("top_k_rank", 256);
hipep_kernel collect[4] = SORT("top_k_collect", 512);
hipep_kernel store[4] = SORT("top_k_store", 256);
hipep_kernel sort_tile[2] = {{"top_k", "top_k_sort_tile_32", 1024, {}}, {"top_k", "top_k_sort_tile_64", 1024, {}}};
hipep_kernel merge[2] = {{"top_k", "top_k_merge_32", 256, {}}, {"top_k", "top_k_merge_64", 256, {}}};
#undef SORT
#undef SELECT
#undef SIEVE

struct Workspace {
  const hipep_tensor* words = nullptr;
  const hipep_tensor *keys = nullptr, *places = nullptr, *next_keys = nullptr, *next_places = nullptr;
};

hipep_status emit(const Problem& p, hipep_kernel* kernel, int64_t units, const TopKArgs& args, const Workspace& w,
                  bool elements = false) {
  const hipep_tensor tickets = hipep_tickets();
  const hipep_pointer pointers[] = {
      {offsetof(TopKArgs, x), p.x},
      {offsetof(TopKArgs, values), p.values},
      {offsetof(TopKArgs, indices), p.indices},
      {offsetof(TopKArgs, keys), w.keys},
      {offsetof(TopKArgs, places), w.places},
      {offsetof(TopKArgs, next_keys), w.next_keys},
      {offsetof(TopKArgs, next_places), w.next_places},
      {offsetof(TopKArgs, words), w.words},
      {offsetof(TopKArgs, tickets), w.words == nullptr ? nullptr : &tickets},
  };
  const int64_t blocks = elements ? ceiling(units, kernel->block) : units;
  return hipep_emit(p.emitter, kernel, static_cast<uint32_t>(blocks < kMostBlocks ? blocks : kMostBlocks), units, 1000,
                    &args, sizeof args, pointers, sizeof pointers / sizeof *pointers);
}

TopKArgs arguments(const Problem& p) {
  TopKArgs args = {};
  args.rows = p.rows;
  args.extent = args.piece = p.extent;
  args.pieces = 1;
  args.inner = p.inner;
  args.k = p.k;
  args.order = p.order;
  while ((p.extent + kPadding) >> args.index_bits != 0) ++args.index_bits;
  return args;
}

int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

// The words that a block can rank.
int64_t room(const Problem& p, int64_t block) { return (block == kTall ? 32768 : 8192) / (2 * p.key_bytes()); }
int64_t vector(const Problem& p) { return p.width == 3 ? 2 : 4; }

bool is_short(const Problem& p) { return !p.serial && p.extent < INT32_MAX - kPadding; }
bool fills(const Problem& p, int64_t blocks) { return blocks >= p.emitter->info->compute_units; }
int64_t capacity(const Problem& p, int64_t block) { return least(most(kFew, 2 * p.k), room(p, block)); }

// Emits launches for as many rows at a time as there are tickets; each has pieces blocks a row.
template <class Emit>
hipep_status by_tickets(const Problem& p, TopKArgs args, Emit emit_rows) {
  const int64_t step = HIPEP_TICKET_COUNT;
  for (int64_t row = 0; row < p.rows; row += step) {
    args.first_row = row;
    args.rows = least(step, p.rows - row);
    const hipep_status status = emit_rows(args);
    if (status != HIPEP_OK) return status;
  }
  return HIPEP_OK;
}

bool is_one(const Problem& p) { return is_short(p) && p.k == 1; }
bool prefers_one(const Problem& p) { return p.extent > kRankedExtent; }
hipep_status plan_one(const Problem& p) {
  TopKArgs args = arguments(p);
  if (p.extent <= kOneExtent || fills(p, p.rows)) {
    return emit(p, p.extent <= kLow * 4 || fills(p, p.rows) ? &one_low[p.width] : &one_tall[p.width], p.rows, args, {});
  }
  const int64_t step = 4 * vector(p) * kLow;
  args.piece = ceiling(p.extent, kTall * step) * step;
  args.pieces = ceiling(p.extent, args.piece);
  hipep_tensor words;
  const hipep_status status =
      p.emitter->workspace(p.emitter, least(p.rows, HIPEP_TICKET_COUNT) * args.pieces * 2 * p.key_bytes(), &words);
  if (status != HIPEP_OK) return status;
  return by_tickets(p, args, [&](const TopKArgs& some) {
    return emit(p, &one_low[p.width], some.rows * some.pieces, some, {&words});
  });
}

bool is_ranked(const Problem& p) { return !p.serial && p.extent <= kRankExtent; }
bool prefers_rank(const Problem& p) { return p.extent <= kRankedExtent; }
hipep_status plan_rank(const Problem& p) {
  int64_t group = 1;
  while (group < p.extent && group < 256) group *= 2;
  return emit(p, &rank[p.width], ceiling(p.rows, 256 / group), arguments(p), {});
}

hipep_status plan_select(const Problem& p, hipep_kernel* kernel) {
  TopKArgs args = arguments(p);
  args.capacity = capacity(p, kernel->block);
  return emit(p, kernel, p.rows, args, {});
}
bool is_low(const Problem& p) { return is_short(p) && 2 * p.k <= room(p, kLow); }
bool prefers_low(const Problem& p) {
  return fills(p, p.rows / 4) || p.extent <= (p.k <= 64 ? kLowExtent : kLowExtent / 4);
}
hipep_status plan_low(const Problem& p) { return plan_select(p, &select_low[p.width]); }
bool is_tall(const Problem& p) { return is_short(p) && p.k <= 2048; }
hipep_status plan_tall(const Problem& p) { return plan_select(p, &select_tall[p.width]); }

// Enough pieces for two blocks a compute unit, of at least a vector a thread.
int64_t piece_of(const Problem& p, int64_t most_pieces, int64_t vectors) {
  const int64_t step = vectors * vector(p) * kTall;
  const int64_t wanted = least(most_pieces, ceiling(2 * p.emitter->info->compute_units, p.rows));
  return ceiling(p.extent, wanted * step) * step;
}
int64_t split_slots(const Problem& p) { return least(most(128, 2 * p.k), room(p, kTall)); }
bool is_split(const Problem& p) { return is_short(p) && p.k <= 2048; }
bool prefers_split(const Problem& p) { return p.k <= kSplitCount; }
hipep_status plan_split(const Problem& p) {
  TopKArgs args = arguments(p);
  args.slots = split_slots(p);
  args.piece = piece_of(p, kListed / args.slots, 1);
  args.pieces = ceiling(p.extent, args.piece);
  args.capacity = capacity(p, kTall);
  hipep_tensor words;
  const int64_t row_bytes = args.pieces * args.slots * 2 * p.key_bytes();
  const hipep_status status = p.emitter->workspace(p.emitter, least(p.rows, HIPEP_TICKET_COUNT) * row_bytes, &words);
  if (status != HIPEP_OK) return status;
  return by_tickets(
      p, args, [&](const TopKArgs& some) { return emit(p, &split[p.width], some.rows * some.pieces, some, {&words}); });
}

// Each of the four groups of a thread gets a vector, and there are at least k groups with elements.
bool is_sieved(const Problem& p) { return is_short(p) && p.k <= 2048 && p.extent >= 4 * p.k * vector(p); }
bool prefers_tall(const Problem& p) {
  if (p.extent <= kTallExtent * least(p.rows, 4) || fills(p, 2 * p.rows)) return true;
  return p.k > kSplitCount && !is_sieved(p);
}
hipep_status plan_sieve(const Problem& p) {
  TopKArgs args = arguments(p);
  args.piece = piece_of(p, 32 * kListed / (4 * kTall), 4);
  args.pieces = ceiling(p.extent, args.piece);
  args.lanes = 1;
  while (args.pieces * 4 * kTall / args.lanes > kListed) args.lanes *= 2;
  args.slots = 4 * kTall / args.lanes;
  const int64_t words = most(args.pieces * args.slots, p.extent);
  args.row_bytes = ceiling(256 + words * 2 * p.key_bytes(), 256) * 256;
  hipep_tensor space;
  const hipep_status status =
      p.emitter->workspace(p.emitter, least(p.rows, HIPEP_TICKET_COUNT) * args.row_bytes, &space);
  if (status != HIPEP_OK) return status;
  return by_tickets(p, args, [&](TopKArgs some) {
    some.capacity = least(p.k + p.k / 4 + 16, room(p, kTall));
    const hipep_status bounded = emit(p, &bound[p.width], some.rows * some.pieces, some, {&space});
    some.capacity = capacity(p, kTall);
    return bounded != HIPEP_OK ? bounded : emit(p, &sieve[p.width], some.rows * some.pieces, some, {&space});
  });
}

bool is_any(const Problem& p) { return !p.serial; }
hipep_status plan_sort(const Problem& p) {
  const int wide = p.width == 3;
  hipep_tensor keys[2], places[2];
  for (int i = 0; i < 2; ++i) {
    hipep_status status = p.emitter->workspace(p.emitter, p.rows * p.k * p.key_bytes(), &keys[i]);
    if (status == HIPEP_OK) status = p.emitter->workspace(p.emitter, p.rows * p.k * 8, &places[i]);
    if (status != HIPEP_OK) return status;
  }
  TopKArgs args = arguments(p);
  int from = 0;
  const Workspace first = {nullptr, &keys[0], &places[0]};
  hipep_status status = emit(p, &collect[p.width], p.rows, args, first);
  if (status == HIPEP_OK) status = emit(p, &sort_tile[wide], p.rows * ceiling(p.k, kSortTile), args, first);
  for (args.run = kSortTile; status == HIPEP_OK && args.run < p.k; args.run *= 2) {
    status = emit(p, &merge[wide], p.rows * p.k, args,
                  {nullptr, &keys[from], &places[from], &keys[1 - from], &places[1 - from]}, true);
    from = 1 - from;
  }
  if (status != HIPEP_OK) return status;
  return emit(p, &store[p.width], p.rows * p.k, args, {nullptr, &keys[from], &places[from]}, true);
}

}  // namespace

const Variant gpu_variants[kGpuVariants] = {
    {"top_k_one", is_one, prefers_one, plan_one},
    {"top_k_rank", is_ranked, prefers_rank, plan_rank},
    {"top_k_select", is_low, prefers_low, plan_low},
    {"top_k_select_tall", is_tall, prefers_tall, plan_tall},
    {"top_k_split", is_split, prefers_split, plan_split},
    {"top_k_sieve", is_sieved, always, plan_sieve},
    {"top_k_sort", is_any, always, plan_sort},
};

}  // namespace top_k
}  // namespace hipep
