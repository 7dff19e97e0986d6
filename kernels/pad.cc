#include "hipep/pad.h"

namespace {

constexpr int32_t kBlock = 256;

#define PAD(name)           \
  {                         \
    "pad", name, kBlock, {} \
  }
hipep_kernel kernels[] = {PAD("pad_x1"), PAD("pad_x2"), PAD("pad_x4"), PAD("pad_x8"), PAD("pad_x16")};

struct Axis {
  int64_t dim, extent, before, stride;

  bool padded() const { return before != 0 || dim != extent; }
};

// In bytes at first, then in units.
struct Box {
  Axis axes[HIPEP_MAX_RANK + 1];
  int32_t rank = 0;
  int64_t offset = 0; /* of x, in bytes */

  // An axis that is not padded moves as one with the axis around it, unless that one's elements are repeated.
  void add(const Axis& axis, bool constant) {
    if (axis.dim == 1 && !axis.padded()) return;
    Axis* outer = rank > 0 ? &axes[rank - 1] : nullptr;
    if (outer == nullptr || axis.padded() || (outer->padded() && !constant) ||
        outer->stride != axis.stride * axis.extent) {
      axes[rank++] = axis;
      return;
    }
    *outer = {outer->dim * axis.dim, outer->extent * axis.extent, outer->before * axis.extent, axis.stride};
  }
};

int64_t positive(int64_t n) { return n > 0 ? n : 0; }

hipep_status make_box(int32_t mode, const int64_t* before, const hipep_tensor& x, const hipep_tensor& y, Box* box) {
  const int64_t size = static_cast<int64_t>(hipep_dtype_size(x.dtype));
  const bool constant = mode == HIPEP_PAD_CONSTANT;
  int64_t strides[HIPEP_MAX_RANK];
  int64_t stride = size;
  for (int32_t axis = x.rank - 1; axis >= 0; --axis) {
    strides[axis] = stride;
    stride *= x.dims[axis];
  }
  for (int32_t axis = 0; axis < x.rank; ++axis) {
    Axis made = {y.dims[axis], x.dims[axis], before[axis], strides[axis]};
    if (!constant) {
      const int64_t after = y.dims[axis] - x.dims[axis] - before[axis];
      made.before = positive(before[axis]);
      made.extent -= positive(-before[axis]) + positive(-after);
      box->offset += positive(-before[axis]) * made.stride;
      if (made.extent < 1) {
        return hipep_fail(HIPEP_INVALID, "axis %d has nothing to repeat: %lld of its %lld elements are left", axis,
                          static_cast<long long>(made.extent), static_cast<long long>(x.dims[axis]));
      }
    }
    box->add(made, constant);
  }
  box->add({size, size, 0, 1}, constant);
  if (box->rank == 0) box->axes[box->rank++] = {1, 1, 0, 1};
  return HIPEP_OK;
}

bool unit_fits(const Box& box, const hipep_tensor& x, const hipep_tensor& y, bool constant, int64_t bytes) {
  const Axis& inner = box.axes[box.rank - 1];
  if (inner.stride != 1 || (inner.padded() && !constant)) return false;
  if (inner.dim % bytes != 0 || inner.extent % bytes != 0 || inner.before % bytes != 0) return false;
  for (int32_t axis = 0; axis < box.rank - 1; ++axis) {
    if (box.axes[axis].stride % bytes != 0) return false;
  }
  return (x.offset + box.offset) % bytes == 0 && x.alignment % bytes == 0 && y.alignment % bytes == 0;
}

// log2 of the bytes of a unit: an element, or as many as every row and both tensors are aligned to.
int32_t widen(Box* box, const hipep_tensor& x, const hipep_tensor& y, bool constant) {
  const int64_t size = static_cast<int64_t>(hipep_dtype_size(x.dtype));
  int32_t width = 4;
  while ((int64_t{1} << width) > size && !unit_fits(*box, x, y, constant, int64_t{1} << width)) --width;
  Axis& inner = box->axes[box->rank - 1];
  if (width > 0) inner = {inner.dim >> width, inner.extent >> width, inner.before / (1 << width), 1};
  for (int32_t axis = 0; axis < box->rank - 1; ++axis) box->axes[axis].stride >>= width;
  if (box->rank > 1 && inner.dim == 1 && !inner.padded()) --box->rank;
  return width;
}

}  // namespace

hipep_status hipep_plan_pad(hipep_emitter* e, int32_t mode, const int64_t* before, const hipep_tensor* x,
                            const hipep_tensor* value, const hipep_tensor* y) {
  if (hipep_dtype_size(x->dtype) == 0 || x->dtype != y->dtype || x->rank != y->rank) {
    return hipep_fail(HIPEP_UNSUPPORTED, "no kernel pads %s of rank %d to %s of rank %d", hipep_dtype_name(x->dtype),
                      x->rank, hipep_dtype_name(y->dtype), y->rank);
  }
  if (hipep_element_count(y) == 0) return HIPEP_OK;
  const bool constant = mode == HIPEP_PAD_CONSTANT;
  Box box;
  const hipep_status status = make_box(mode, before, *x, *y, &box);
  if (status != HIPEP_OK) return status;
  const int32_t width = widen(&box, *x, *y, constant);
  hipep_tensor from = *x;
  from.offset += box.offset;
  hipep_pad_args args = {};
  args.count = 1;
  args.rank = box.rank;
  args.mode = mode;
  args.value_bytes = static_cast<int32_t>(hipep_dtype_size(x->dtype));
  for (int32_t axis = 0; axis < box.rank; ++axis) {
    const Axis& made = box.axes[axis];
    args.dims[axis] = made.dim;
    args.extents[axis] = made.extent;
    args.before[axis] = made.before;
    args.strides[axis] = made.stride;
    args.divisors[axis] = hipep_make_divisor(made.dim);
    args.count *= made.dim;
  }
  args.large = args.count > INT32_MAX;
  const hipep_pointer pointers[] = {
      {offsetof(hipep_pad_args, x), &from}, {offsetof(hipep_pad_args, value), value}, {offsetof(hipep_pad_args, y), y}};
  if (e->debug) hipep_describe(e, "%s, mode %d, rank %d", kernels[width].name, mode, args.rank);
  const int64_t unit_cost = 20000 / args.dims[args.rank - 1] + (int64_t{50} << width);
  return hipep_emit(e, &kernels[width], hipep_grid(e->info, args.count, kBlock), args.count, unit_cost, &args,
                    sizeof args, pointers, 3);
}
