#include "hipep/elementwise.h"
#include "hipep/movement.h"

namespace {

constexpr int32_t kBlock = 256;

#define CAST(from, to)                      \
  {                                         \
    "cast", "cast_" from "_" to, kBlock, {} \
  }
#define NONE                \
  {                         \
    nullptr, nullptr, 0, {} \
  }
#define TO_FLOATS(from) CAST(from, "f16"), CAST(from, "bf16"), CAST(from, "f32"), CAST(from, "f64")
#define TO_INTEGERS(from)                                                                                         \
  CAST(from, "i8"), CAST(from, "i16"), CAST(from, "i32"), CAST(from, "i64"), CAST(from, "u8"), CAST(from, "u16"), \
      CAST(from, "u32"), CAST(from, "u64")
#define TWICE(to8, to16, to32, to64) to8, to16, to32, to64, to8, to16, to32, to64
#define FROM_FLOAT(from, f16, bf16, f32, f64) {f16, bf16, f32, f64, TO_INTEGERS(from), CAST(from, "bool")}
#define FROM_8(from) \
  {TO_FLOATS(from), TWICE(NONE, CAST(from, "u16"), CAST(from, "u32"), CAST(from, "u64")), CAST("u8", "bool")}
#define FROM_16(from) \
  {TO_FLOATS(from), TWICE(CAST("u16", "u8"), NONE, CAST(from, "u32"), CAST(from, "u64")), CAST("u16", "bool")}
#define FROM_32(from) \
  {TO_FLOATS(from), TWICE(CAST("u32", "u8"), CAST("u32", "u16"), NONE, CAST(from, "u64")), CAST("u32", "bool")}
#define FROM_64(from) \
  {TO_FLOATS(from), TWICE(CAST("u64", "u8"), CAST("u64", "u16"), CAST("u64", "u32"), NONE), CAST("u64", "bool")}

// NONE: the bits stay as they are.
hipep_kernel kernels[HIPEP_SLOTS][HIPEP_SLOTS] = {
    FROM_FLOAT("f16", NONE, CAST("f16", "bf16"), CAST("f16", "f32"), CAST("f16", "f64")),
    FROM_FLOAT("bf16", CAST("bf16", "f16"), NONE, CAST("bf16", "f32"), CAST("bf16", "f64")),
    FROM_FLOAT("f32", CAST("f32", "f16"), CAST("f32", "bf16"), NONE, CAST("f32", "f64")),
    FROM_FLOAT("f64", CAST("f64", "f16"), CAST("f64", "bf16"), CAST("f64", "f32"), NONE),
    FROM_8("i8"),
    FROM_16("i16"),
    FROM_32("i32"),
    FROM_64("i64"),
    FROM_8("u8"),
    FROM_16("u16"),
    FROM_32("u32"),
    FROM_64("u64"),
    {TO_FLOATS("u8"), TWICE(NONE, CAST("u8", "u16"), CAST("u8", "u32"), CAST("u8", "u64")), NONE},
};

}  // namespace

int32_t hipep_cast_supports(int32_t from, int32_t to) {
  return hipep_dtype_slot(from) >= 0 && hipep_dtype_slot(to) >= 0;
}

hipep_status hipep_plan_cast(hipep_emitter* e, const hipep_tensor* x, const hipep_tensor* y,
                             [[maybe_unused]] int32_t saturate) {
  if (!hipep_cast_supports(x->dtype, y->dtype)) {
    return hipep_fail(HIPEP_UNSUPPORTED, "no kernel casts %s to %s; cast by way of float32 elsewhere",
                      hipep_dtype_name(x->dtype), hipep_dtype_name(y->dtype));
  }
  const int64_t count = hipep_element_count(x);
  if (count != hipep_element_count(y)) {
    return hipep_fail(HIPEP_INVALID, "the input of a cast has %lld elements, its output %lld",
                      static_cast<long long>(count), static_cast<long long>(hipep_element_count(y)));
  }
  hipep_kernel* kernel = &kernels[hipep_dtype_slot(x->dtype)][hipep_dtype_slot(y->dtype)];
  if (kernel->name == nullptr) return hipep_plan_copy(e, x, y);
  if (count == 0) return HIPEP_OK;
  const int64_t from = static_cast<int64_t>(hipep_dtype_size(x->dtype));
  const int64_t to = static_cast<int64_t>(hipep_dtype_size(y->dtype));
  const int32_t wide = x->alignment % 16 == 0 && y->alignment % 16 == 0;
  const hipep_map_args args = {nullptr, nullptr, count, wide};
  const hipep_pointer pointers[] = {{offsetof(hipep_map_args, x), x}, {offsetof(hipep_map_args, y), y}};
  const int64_t threads = wide ? count / (16 / (from > to ? from : to)) + 1 : count;
  if (e->debug) hipep_describe(e, "%s, %s", kernel->name, wide ? "16-byte accesses" : "element accesses");
  return hipep_emit(e, kernel, hipep_grid(e->info, threads, kBlock), count, 30 * (from + to) + 100, &args, sizeof args,
                    pointers, 2);
}
