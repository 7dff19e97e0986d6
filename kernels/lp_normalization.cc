#include "float_kernels.h"
#include "hipep/normalization.h"

using namespace hipep;

namespace {

#define KERNELS(name) HIPEP_FLOAT_KERNELS("lp_normalization", name, HIPEP_ROW_BLOCK)

hipep_kernel held[kFloats] = KERNELS("lp_held");
hipep_kernel held_wide[kFloats] = KERNELS("lp_held_wide");
hipep_kernel split[kFloats] = KERNELS("lp_split");
hipep_kernel split_wide[kFloats] = KERNELS("lp_split_wide");
hipep_kernel columns[kFloats] = KERNELS("lp_columns");

}  // namespace

hipep_status hipep_plan_lp_normalization(hipep_emitter* e, int32_t p, int64_t outer, int64_t extent, int64_t inner,
                                         const hipep_tensor* x, const hipep_tensor* y) {
  hipep_status status = check_map("Lp normalization", x, y);
  if (status == HIPEP_OK) status = check_count("the input", x, outer * extent * inner);
  if (status != HIPEP_OK || outer * extent * inner == 0) return status;
  if (p != 1 && p != 2) return hipep_fail(HIPEP_UNSUPPORTED, "p is %d; the norms of 1 and 2 are computed", p);
  const int32_t slot = hipep_dtype_slot(x->dtype);
  hipep_lp_args args = {};
  args.p = p;
  args.rows =
      hipep_make_rows(e->info, outer, extent, inner, x->dtype, x->alignment % 16 == 0 && y->alignment % 16 == 0);
  const hipep_row_kernels kernels = {&held[slot], &held_wide[slot], &split[slot], &split_wide[slot], &columns[slot]};
  const hipep_pointer pointers[] = {{offsetof(hipep_lp_args, x), x}, {offsetof(hipep_lp_args, y), y}};
  return hipep_emit_rows(e, &kernels, &args.rows, x->dtype, &args, sizeof args, pointers, 2,
                         offsetof(hipep_lp_args, states));
}
