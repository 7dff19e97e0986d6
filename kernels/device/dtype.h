// Element types of device code: float16 and bfloat16 are 16 stored bits, computed in float.
#pragma once

namespace hipep {
namespace {

struct half {
  uint16_t bits;
};
struct bfloat16 {
  uint16_t bits;
};

HIPEP_DEVICE uint32_t bits_of(float value) {
  uint32_t bits;
  __builtin_memcpy(&bits, &value, 4);
  return bits;
}
HIPEP_DEVICE float float_of(uint32_t bits) {
  float value;
  __builtin_memcpy(&value, &bits, 4);
  return value;
}

// Exact; branch-free so that loops vectorise.
HIPEP_DEVICE float to_float(half h) {
#if defined(HIPEP_AMD)
  _Float16 value;
  __builtin_memcpy(&value, &h.bits, 2);
  return static_cast<float>(value);
#else
  const uint32_t sign = static_cast<uint32_t>(h.bits & 0x8000u) << 16;
  const uint32_t magnitude = static_cast<uint32_t>(h.bits & 0x7fffu) << 13;
  // Scaling by 2^112 moves the exponent bias and makes subnormals normal.
  uint32_t value = bits_of(float_of(magnitude) * 5.192296858534828e33f);
  value = magnitude >= 0x0f800000u ? (magnitude | 0x7f800000u) : value;  // infinity and NaN keep their payload
  return float_of(value | sign);
#endif
}
HIPEP_DEVICE float to_float(bfloat16 b) { return float_of(static_cast<uint32_t>(b.bits) << 16); }

// Round to nearest, ties to even; NaN stays NaN; overflow gives infinity.
HIPEP_DEVICE half to_half(float value) {
#if defined(HIPEP_AMD)
  const _Float16 rounded = static_cast<_Float16>(value);
  half h;
  __builtin_memcpy(&h.bits, &rounded, 2);
  return h;
#else
  const uint32_t bits = bits_of(value);
  const uint32_t sign = (bits >> 16) & 0x8000u;
  const uint32_t magnitude = bits & 0x7fffffffu;
  // Normal results: add half of the last kept bit minus one, plus that bit.
  const uint32_t normal = (magnitude - 0x38000000u + 0x0fffu + ((magnitude >> 13) & 1u)) >> 13;
  // Subnormal results: adding 0.5 lines the value up with the last bit of the significand.
  const uint32_t subnormal = bits_of(float_of(magnitude) + 0.5f) - 0x3f000000u;
  uint32_t result = magnitude < 0x38800000u ? subnormal : normal;
  result = magnitude >= 0x477ff000u ? 0x7c00u : result;
  result = magnitude > 0x7f800000u ? 0x7e00u | ((magnitude >> 13) & 0x1ffu) : result;
  return half{static_cast<uint16_t>(sign | result)};
#endif
}
HIPEP_DEVICE bfloat16 to_bfloat16(float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t rounded = (bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16;
  const uint32_t nan = (bits >> 16) | 0x40u;
  return bfloat16{static_cast<uint16_t>((bits & 0x7fffffffu) > 0x7f800000u ? nan : rounded)};
}

}  // namespace
}  // namespace hipep
