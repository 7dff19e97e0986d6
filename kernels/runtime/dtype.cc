#include "hipep/types.h"

namespace {

struct DtypeRow {
  uint8_t bytes;  // 0: no kernel handles it
  const char* name;
};

// By TensorProto.DataType.
constexpr DtypeRow rows[HIPEP_DTYPE_END] = {
    {0, "undefined"},      {4, "float32"},  {1, "uint8"},        {1, "int8"},           {2, "uint16"},
    {2, "int16"},          {4, "int32"},    {8, "int64"},        {0, "string"},         {1, "bool"},
    {2, "float16"},        {8, "float64"},  {4, "uint32"},       {8, "uint64"},         {0, "complex64"},
    {0, "complex128"},     {2, "bfloat16"}, {0, "float8e4m3fn"}, {0, "float8e4m3fnuz"}, {0, "float8e5m2"},
    {0, "float8e5m2fnuz"}, {0, "type 21"},  {0, "type 22"},      {0, "type 23"},        {0, "type 24"},
    {0, "type 25"},        {0, "type 26"},
};

}  // namespace

size_t hipep_dtype_size(int32_t dtype) { return dtype < 0 || dtype >= HIPEP_DTYPE_END ? 0 : rows[dtype].bytes; }

const char* hipep_dtype_name(int32_t dtype) {
  return dtype < 0 || dtype >= HIPEP_DTYPE_END ? "unknown type" : rows[dtype].name;
}
