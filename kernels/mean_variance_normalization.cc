#include "float_kernels.h"
#include "hipep/elementwise.h"
#include "hipep/normalization.h"
#include "hipep/reduce.h"

using namespace hipep;

// Made of reductions and elementwise launches: the axes need not be neighbours.
hipep_status hipep_plan_mean_variance_normalization(hipep_emitter* e, const int32_t* axes, int32_t axis_count,
                                                    const hipep_tensor* x, const hipep_tensor* y) {
  hipep_status status = check_map("mean variance normalization", x, y);
  if (status != HIPEP_OK || hipep_element_count(x) == 0) return status;
  const int32_t work = work_type(x->dtype);
  hipep_tensor reduced = *x, from = *x, to = *y, mean, centered, deviation;
  for (int32_t i = 0; i < axis_count; ++i) reduced.dims[axes[i]] = 1;
  if (work != x->dtype) {
    status = hipep_make_temporary(e, work, x, &from);
    if (status == HIPEP_OK) status = hipep_make_temporary(e, work, x, &to);
    if (status == HIPEP_OK) status = hipep_plan_cast(e, x, &from, 1);
  }
  if (status == HIPEP_OK) status = hipep_make_temporary(e, work, &reduced, &mean);
  if (status == HIPEP_OK) status = hipep_make_temporary(e, work, x, &centered);
  if (status == HIPEP_OK) status = hipep_make_temporary(e, work, &reduced, &deviation);
  if (status == HIPEP_OK) status = hipep_plan_reduce(e, HIPEP_REDUCE_MEAN, axes, axis_count, &from, &mean);
  if (status == HIPEP_OK) status = hipep_plan_binary(e, HIPEP_BINARY_SUB, &from, &mean, &centered);
  if (status == HIPEP_OK)
    status = hipep_plan_reduce(e, HIPEP_REDUCE_DEVIATION, axes, axis_count, &centered, &deviation);
  if (status == HIPEP_OK) status = hipep_plan_binary(e, HIPEP_BINARY_DIV, &centered, &deviation, &to);
  return status == HIPEP_OK && work != x->dtype ? hipep_plan_cast(e, &to, y, 1) : status;
}
