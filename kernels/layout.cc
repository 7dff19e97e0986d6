#include "hipep/layout.h"

void hipep_layout_add(hipep_layout* layout, int64_t dim, int64_t stride0, int64_t stride1) {
  if (dim == 1) return;
  const int32_t last = layout->rank - 1;
  if (layout->rank > 0 && layout->strides[0][last] == stride0 * dim && layout->strides[1][last] == stride1 * dim) {
    layout->dims[last] *= dim;
    layout->strides[0][last] = stride0;
    layout->strides[1][last] = stride1;
    return;
  }
  layout->dims[layout->rank] = dim;
  layout->strides[0][layout->rank] = stride0;
  layout->strides[1][layout->rank] = stride1;
  ++layout->rank;
}

void hipep_layout_finish(hipep_layout* layout) {
  if (layout->rank == 0) layout->dims[layout->rank++] = 1;
  layout->count = 1;
  int64_t reach[2] = {0, 0};
  for (int32_t axis = 0; axis < layout->rank; ++axis) {
    const int64_t dim = layout->dims[axis];
    layout->count *= dim;
    layout->divisors[axis] = hipep_make_divisor(dim > 0 ? dim : 1);
    for (int k = 0; k < 2; ++k) {
      const int64_t stride = layout->strides[k][axis];
      reach[k] += (dim - 1) * (stride < 0 ? -stride : stride);
    }
  }
  layout->large = layout->count > INT32_MAX || reach[0] > INT32_MAX || reach[1] > INT32_MAX;
}
