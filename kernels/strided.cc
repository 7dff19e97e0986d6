#include "hipep/strided.h"

#include <string.h>

namespace {

constexpr int32_t kBlock = 256, kTileWords = 32;
constexpr int64_t kLeastTiled = 16;  // shorter sides leave most of a tile empty

#define STRIDED(name)           \
  {                             \
    "strided", name, kBlock, {} \
  }
hipep_kernel strided_kernels[] = {STRIDED("strided_x1"), STRIDED("strided_x2"), STRIDED("strided_x4"),
                                  STRIDED("strided_x8"), STRIDED("strided_x16")};
#define TRANSPOSE(name)           \
  {                               \
    "transpose", name, kBlock, {} \
  }
hipep_kernel transpose_kernels[] = {TRANSPOSE("transpose_x1"), TRANSPOSE("transpose_x2"), TRANSPOSE("transpose_x4"),
                                    TRANSPOSE("transpose_x8"), TRANSPOSE("transpose_x16")};
hipep_kernel word_kernels[] = {TRANSPOSE("transpose_words_x1"), TRANSPOSE("transpose_words_x2")};

// Both operands at the first element of the box, and the box in units of 1 << width bytes.
struct Copy {
  hipep_tensor operands[2]; /* x, y */
  hipep_layout layout;
  int32_t width;
};

bool aligned(const hipep_tensor& tensor, int64_t bytes) {
  return tensor.alignment % bytes == 0 && tensor.offset % bytes == 0;
}

bool unit_fits(const Copy& copy, int64_t bytes) {
  const hipep_layout& layout = copy.layout;
  const int32_t last = layout.rank - 1;
  if (bytes == 1) return true;
  if (last < 0 || layout.strides[0][last] != 1 || layout.strides[1][last] != 1) return false;
  if (layout.dims[last] % bytes != 0) return false;
  for (int k = 0; k < 2; ++k) {
    if (!aligned(copy.operands[k], bytes)) return false;
    for (int32_t axis = 0; axis < last; ++axis) {
      if (layout.strides[k][axis] % bytes != 0) return false;
    }
  }
  return true;
}

// From bytes to the widest unit that every element of the box and both tensors are aligned to.
void widen(Copy* copy) {
  hipep_layout& layout = copy->layout;
  copy->width = 4;
  while (!unit_fits(*copy, int64_t{1} << copy->width)) --copy->width;
  if (copy->width == 0) return;
  const int32_t last = layout.rank - 1;
  layout.dims[last] >>= copy->width;
  for (int k = 0; k < 2; ++k) {
    for (int32_t axis = 0; axis < last; ++axis) layout.strides[k][axis] /= int64_t{1} << copy->width;
  }
  if (layout.dims[last] == 1) --layout.rank;
}

Copy make_copy(const hipep_strided& strided, const hipep_tensor& x, const hipep_tensor& y) {
  const int64_t size = static_cast<int64_t>(hipep_dtype_size(x.dtype));
  Copy copy = {};
  copy.operands[0] = x;
  copy.operands[1] = y;
  copy.operands[0].offset += strided.x_offset * size;
  copy.operands[1].offset += strided.y_offset * size;
  for (int32_t axis = 0; axis < strided.rank; ++axis) {
    hipep_layout_add(&copy.layout, strided.dims[axis], strided.x_strides[axis] * size, strided.y_strides[axis] * size);
  }
  hipep_layout_add(&copy.layout, size, 1, 1);
  widen(&copy);
  hipep_layout_finish(&copy.layout);
  return copy;
}

// The axis along which x is contiguous where it pays to go by tiles, or -1.
int32_t tiled_axis(const hipep_layout& layout) {
  const int32_t last = layout.rank - 1;
  if (layout.strides[1][last] != 1 || layout.strides[0][last] == 1 || layout.dims[last] < kLeastTiled) return -1;
  for (int32_t axis = 0; axis < last; ++axis) {
    if (layout.strides[0][axis] == 1 && layout.dims[axis] >= kLeastTiled) return axis;
  }
  return -1;
}

// Units that one thread of a GPU moves at once: words of four bytes where everything is a multiple of them.
int32_t word_items(const Copy& copy, const hipep_transpose_args& args) {
  const int32_t items = copy.width < 2 ? 4 >> copy.width : 1;
  if (args.rows % items != 0 || args.columns % items != 0 || args.x_step % items != 0 || args.y_step % items != 0) {
    return 1;
  }
  for (int k = 0; k < 2; ++k) {
    if (!aligned(copy.operands[k], items << copy.width)) return 1;
    for (int32_t axis = 0; axis < args.batch.rank; ++axis) {
      if (args.batch.strides[k][axis] % items != 0) return 1;
    }
  }
  return items;
}

hipep_status plan_tiles(hipep_emitter* e, const Copy& copy, int32_t tiled) {
  const int32_t last = copy.layout.rank - 1;
  hipep_transpose_args args = {};
  args.rows = copy.layout.dims[last];
  args.columns = copy.layout.dims[tiled];
  args.x_step = copy.layout.strides[0][last];
  args.y_step = copy.layout.strides[1][tiled];
  for (int32_t axis = 0; axis < last; ++axis) {
    if (axis == tiled) continue;
    hipep_layout_add(&args.batch, copy.layout.dims[axis], copy.layout.strides[0][axis], copy.layout.strides[1][axis]);
  }
  hipep_layout_finish(&args.batch);
  const int32_t items = e->info->warp_size == 1 ? 1 : word_items(copy, args);
  const int64_t side = kTileWords * items;
  args.row_tiles = (args.rows + side - 1) / side;
  args.column_tiles = (args.columns + side - 1) / side;
  args.tiles = args.batch.count * args.row_tiles * args.column_tiles;
  args.row_divisor = hipep_make_divisor(args.row_tiles);
  args.column_divisor = hipep_make_divisor(args.column_tiles);
  args.large = args.tiles > INT32_MAX;
  hipep_kernel* kernel = items > 1 ? &word_kernels[copy.width] : &transpose_kernels[copy.width];
  const hipep_pointer pointers[] = {{offsetof(hipep_transpose_args, x), &copy.operands[0]},
                                    {offsetof(hipep_transpose_args, y), &copy.operands[1]}};
  if (e->debug) {
    hipep_describe(e, "%s, %lld of %lld x %lld", kernel->name, static_cast<long long>(args.batch.count),
                   static_cast<long long>(args.columns), static_cast<long long>(args.rows));
  }
  const uint32_t grid = hipep_grid(e->info, args.tiles * kBlock, kBlock);
  return hipep_emit(e, kernel, grid, args.tiles, 1000000, &args, sizeof args, pointers, 2);
}

// Units that a thread stores at once where the places of the box in y follow each other, else 1.
int32_t pack_items(const Copy& copy) {
  const int32_t items = copy.width == 0 ? 8 : 16 >> copy.width;
  int64_t stride = 1;
  for (int32_t axis = copy.layout.rank - 1; axis >= 0; --axis) {
    if (copy.layout.dims[axis] != 1 && copy.layout.strides[1][axis] != stride) return 1;
    stride *= copy.layout.dims[axis];
  }
  return aligned(copy.operands[1], 16) && copy.layout.dims[copy.layout.rank - 1] >= items ? items : 1;
}

hipep_status plan_rows(hipep_emitter* e, const Copy& copy) {
  hipep_strided_args args = {};
  args.layout = copy.layout;
  const int32_t items = pack_items(copy);
  args.packed = items > 1;
  hipep_kernel* kernel = &strided_kernels[copy.width];
  const hipep_pointer pointers[] = {{offsetof(hipep_strided_args, x), &copy.operands[0]},
                                    {offsetof(hipep_strided_args, y), &copy.operands[1]}};
  const int32_t last = args.layout.rank - 1;
  if (e->debug) {
    hipep_describe(e, "%s, rank %d, rows of %lld%s", kernel->name, args.layout.rank,
                   static_cast<long long>(args.layout.dims[last]), args.packed ? ", packed stores" : "");
  }
  const bool contiguous = args.layout.strides[0][last] == 1 && args.layout.strides[1][last] == 1;
  const int64_t unit_cost = 10000 / args.layout.dims[last] + (contiguous ? int64_t{50} << copy.width : 1000);
  const uint32_t grid = hipep_grid(e->info, args.layout.count / items + 1, kBlock);
  return hipep_emit(e, kernel, grid, args.layout.count, unit_cost, &args, sizeof args, pointers, 2);
}

}  // namespace

hipep_status hipep_plan_strided(hipep_emitter* e, const hipep_strided* strided, const hipep_tensor* x,
                                const hipep_tensor* y) {
  if (hipep_dtype_size(x->dtype) == 0 || x->dtype != y->dtype) {
    return hipep_fail(HIPEP_UNSUPPORTED, "no kernel copies %s to %s; cast to one supported type first",
                      hipep_dtype_name(x->dtype), hipep_dtype_name(y->dtype));
  }
  for (int32_t axis = 0; axis < strided->rank; ++axis) {
    if (strided->dims[axis] == 0) return HIPEP_OK;
  }
  const Copy copy = make_copy(*strided, *x, *y);
  const int32_t tiled = tiled_axis(copy.layout);
  return tiled < 0 ? plan_rows(e, copy) : plan_tiles(e, copy, tiled);
}

void hipep_run_strided(const hipep_strided* strided, const void* x, void* y, size_t element_bytes) {
  const int64_t size = static_cast<int64_t>(element_bytes);
  int64_t at[HIPEP_LAYOUT_RANK] = {};
  const char* from = static_cast<const char*>(x) + strided->x_offset * size;
  char* to = static_cast<char*>(y) + strided->y_offset * size;
  for (int32_t axis = 0; axis < strided->rank; ++axis) {
    if (strided->dims[axis] == 0) return;
  }
  for (int32_t axis = 0; axis >= 0;) {
    memcpy(to, from, element_bytes);
    for (axis = strided->rank - 1; axis >= 0; --axis) {
      from += strided->x_strides[axis] * size;
      to += strided->y_strides[axis] * size;
      if (++at[axis] < strided->dims[axis]) break;
      from -= strided->x_strides[axis] * size * at[axis];
      to -= strided->y_strides[axis] * size * at[axis];
      at[axis] = 0;
    }
  }
}
