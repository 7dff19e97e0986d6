#include "hipep/elementwise.h"

#include "hipep/movement.h"

namespace {

constexpr int32_t kBlock = 256;

#define UNARY(name)                       \
  {                                       \
    "elementwise_unary", name, kBlock, {} \
  }
#define NONE                \
  {                         \
    nullptr, nullptr, 0, {} \
  }
#define SIGNED(op) UNARY(op "_i8"), UNARY(op "_i16"), UNARY(op "_i32"), UNARY(op "_i64")
#define FLOATS(op, f16, bf16) UNARY(op f16), UNARY(op bf16), UNARY(op "_f32"), UNARY(op "_f64")

hipep_kernel unary_kernels[HIPEP_UNARY_COUNT][HIPEP_NUMERIC_SLOTS] = {
    {FLOATS("relu", "_f16", "_bf16"), SIGNED("relu"), NONE, NONE, NONE, NONE},
    {FLOATS("neg", "_sign16", "_sign16"), SIGNED("neg"), NONE, NONE, NONE, NONE},
    {FLOATS("abs", "_sign16", "_sign16"), SIGNED("abs"), NONE, NONE, NONE, NONE},
};

#define BINARY(name)                       \
  {                                        \
    "elementwise_binary", name, kBlock, {} \
  }
#define BINARY_ROW(op, i)                                                                                             \
  {BINARY(op "_f16"), BINARY(op "_bf16"), BINARY(op "_f32"), BINARY(op "_f64"), BINARY(op i "8"),  BINARY(op i "16"), \
   BINARY(op i "32"), BINARY(op i "64"),  BINARY(op "_u8"),  BINARY(op "_u16"), BINARY(op "_u32"), BINARY(op "_u64")}

hipep_kernel binary_kernels[HIPEP_BINARY_COUNT][HIPEP_NUMERIC_SLOTS] = {
    BINARY_ROW("add", "_u"), BINARY_ROW("sub", "_u"), BINARY_ROW("mul", "_u"),
    BINARY_ROW("div", "_i"), BINARY_ROW("min", "_i"), BINARY_ROW("max", "_i"),
};

bool is_unsigned(int32_t dtype) { return hipep_dtype_slot(dtype) >= hipep_dtype_slot(HIPEP_UINT8); }

hipep_kernel* unary_kernel(int32_t op, int32_t dtype) {
  const int32_t slot = hipep_dtype_slot(dtype);
  if (op < 0 || op >= HIPEP_UNARY_COUNT || slot < 0 || slot >= HIPEP_NUMERIC_SLOTS) return nullptr;
  hipep_kernel* kernel = &unary_kernels[op][slot];
  return kernel->name == nullptr ? nullptr : kernel;
}

hipep_kernel* binary_kernel(int32_t op, int32_t dtype) {
  const int32_t slot = hipep_dtype_slot(dtype);
  if (op < 0 || op >= HIPEP_BINARY_COUNT || slot < 0 || slot >= HIPEP_NUMERIC_SLOTS) return nullptr;
  return &binary_kernels[op][slot];
}

int64_t binary_cost(int32_t op, int32_t dtype) {
  const int64_t size = static_cast<int64_t>(hipep_dtype_size(dtype));
  const bool integer_division = op == HIPEP_BINARY_DIV && hipep_dtype_slot(dtype) >= hipep_dtype_slot(HIPEP_INT8);
  const bool converted = dtype == HIPEP_FLOAT16 || dtype == HIPEP_BFLOAT16;
  return integer_division ? 2500 : (converted ? 400 : 0) + 80 * size;
}

// Whether every thread may take 16 bytes of each tensor at a time.
bool binary_is_wide(const hipep_broadcast& shape, const hipep_tensor& a, const hipep_tensor& b, const hipep_tensor& y) {
  const int64_t items = 16 / static_cast<int64_t>(hipep_dtype_size(y.dtype));
  const bool aligned = y.alignment % 16 == 0 && (shape.step[0] == 0 || a.alignment % 16 == 0) &&
                       (shape.step[1] == 0 || b.alignment % 16 == 0);
  return aligned && (shape.rank == 0 || shape.inner % items == 0);
}

}  // namespace

int32_t hipep_unary_supports(int32_t op, int32_t dtype) {
  return unary_kernel(op, dtype) != nullptr || (op == HIPEP_UNARY_ABS && is_unsigned(dtype) && dtype != HIPEP_BOOL);
}

int32_t hipep_binary_supports(int32_t op, int32_t dtype) { return binary_kernel(op, dtype) != nullptr; }

hipep_status hipep_plan_unary(hipep_emitter* e, int32_t op, const hipep_tensor* x, const hipep_tensor* y) {
  if (!hipep_unary_supports(op, x->dtype)) {
    return hipep_fail(HIPEP_UNSUPPORTED, "no unary kernel %d for %s; cast to a supported type first", op,
                      hipep_dtype_name(x->dtype));
  }
  const int64_t count = hipep_element_count(x);
  if (x->dtype != y->dtype || count != hipep_element_count(y)) {
    return hipep_fail(HIPEP_INVALID, "unary input (%s) and output (%s) differ in dtype or size",
                      hipep_dtype_name(x->dtype), hipep_dtype_name(y->dtype));
  }
  hipep_kernel* kernel = unary_kernel(op, x->dtype);
  if (kernel == nullptr) return hipep_plan_copy(e, x, y);
  if (count == 0) return HIPEP_OK;
  const int64_t size = static_cast<int64_t>(hipep_dtype_size(x->dtype));
  const int32_t wide = x->alignment % 16 == 0 && y->alignment % 16 == 0;
  const hipep_map_args args = {nullptr, nullptr, count, wide};
  const hipep_pointer pointers[] = {{offsetof(hipep_map_args, x), x}, {offsetof(hipep_map_args, y), y}};
  const int64_t threads = wide ? count / (16 / size) + 1 : count;
  if (e->debug) hipep_describe(e, "%s, %s", kernel->name, wide ? "16-byte accesses" : "element accesses");
  return hipep_emit(e, kernel, hipep_grid(e->info, threads, kBlock), count, 60 * size, &args, sizeof args, pointers, 2);
}

hipep_status hipep_plan_binary(hipep_emitter* e, int32_t op, const hipep_tensor* a, const hipep_tensor* b,
                               const hipep_tensor* y) {
  hipep_kernel* kernel = binary_kernel(op, y->dtype);
  if (kernel == nullptr || a->dtype != y->dtype || b->dtype != y->dtype) {
    return hipep_fail(HIPEP_UNSUPPORTED,
                      "no binary kernel %d for %s and %s giving %s; cast to one supported type first", op,
                      hipep_dtype_name(a->dtype), hipep_dtype_name(b->dtype), hipep_dtype_name(y->dtype));
  }
  const hipep_tensor* operands[] = {a, b};
  hipep_binary_args args = {};
  const hipep_status status = hipep_make_broadcast(operands, 2, y, &args.shape);
  if (status != HIPEP_OK || args.shape.count == 0) return status;
  args.wide = binary_is_wide(args.shape, *a, *b, *y);
  const hipep_pointer pointers[] = {
      {offsetof(hipep_binary_args, a), a}, {offsetof(hipep_binary_args, b), b}, {offsetof(hipep_binary_args, y), y}};
  const int64_t items = args.wide ? 16 / static_cast<int64_t>(hipep_dtype_size(y->dtype)) : 1;
  if (e->debug) {
    hipep_describe(e, "%s, %d outer dimensions, rows of %lld, %s", kernel->name, args.shape.rank,
                   static_cast<long long>(args.shape.inner), args.wide ? "16-byte accesses" : "element accesses");
  }
  const uint32_t grid = hipep_grid(e->info, args.shape.count / items + 1, kBlock);
  return hipep_emit(e, kernel, grid, args.shape.count, binary_cost(op, y->dtype), &args, sizeof args, pointers, 3);
}
