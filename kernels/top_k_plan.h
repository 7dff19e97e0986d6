// A TopK to be planned, and how each variant is.
#pragma once
#include "device/top_k_args.h"
#include "hipep/top_k.h"

namespace hipep {
namespace top_k {

struct Problem {
  hipep_emitter* emitter;
  const hipep_tensor *x, *values, *indices;
  int64_t rows, extent, inner, k;
  int width;  // log2 of the bytes of an element
  SortOrder order;
  bool serial;

  int64_t outer() const { return rows / inner; }
  int64_t element_bytes() const { return int64_t{1} << width; }
  int64_t key_bytes() const { return width == 3 ? 8 : 4; }
};

struct Variant {
  const char* name;
  bool (*applies)(const Problem& p);
  bool (*prefers)(const Problem& p);  // among those that apply
  hipep_status (*plan)(const Problem& p);
};
// The first that applies and is preferred is taken.
constexpr int kHostVariants = 3, kGpuVariants = 7;
extern const Variant host_variants[kHostVariants];
extern const Variant gpu_variants[kGpuVariants];

// One kernel for each width of element: 1, 2, 4 and 8 bytes.
#define HIPEP_TOP_K_KERNELS(module, name, block) \
  {                                              \
      {module, name "_8", block, {}},            \
      {module, name "_16", block, {}},           \
      {module, name "_32", block, {}},           \
      {module, name "_64", block, {}},           \
  }

inline bool always(const Problem&) { return true; }
inline int64_t ceiling(int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

}  // namespace top_k
}  // namespace hipep
