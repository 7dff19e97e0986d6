/* Element types, status codes and tensor descriptors shared by every layer. */
#ifndef HIPEP_TYPES_H
#define HIPEP_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define HIPEP_API __attribute__((visibility("default")))
#define HIPEP_MAX_RANK 8

/* The numbers of ONNX TensorProto.DataType. */
enum {
  HIPEP_FLOAT = 1,
  HIPEP_UINT8 = 2,
  HIPEP_INT8 = 3,
  HIPEP_UINT16 = 4,
  HIPEP_INT16 = 5,
  HIPEP_INT32 = 6,
  HIPEP_INT64 = 7,
  HIPEP_STRING = 8,
  HIPEP_BOOL = 9,
  HIPEP_FLOAT16 = 10,
  HIPEP_DOUBLE = 11,
  HIPEP_UINT32 = 12,
  HIPEP_UINT64 = 13,
  HIPEP_BFLOAT16 = 16,
  HIPEP_DTYPE_END = 27
};

/* Bytes of one element; 0 for types that hipep's kernels do not handle (strings, complex, sub-byte). */
HIPEP_API size_t hipep_dtype_size(int32_t dtype);
/* "float32", "bfloat16", ...; "type 23" for others. */
HIPEP_API const char* hipep_dtype_name(int32_t dtype);

typedef int32_t hipep_status;
enum {
  HIPEP_OK = 0,
  HIPEP_INVALID = 1,     /* an argument, a shape or a value does not fit */
  HIPEP_UNSUPPORTED = 2, /* no kernel for this case: a claim let it through */
  HIPEP_OUT_OF_MEMORY = 3,
  HIPEP_DEVICE_ERROR = 4, /* the driver refused or failed */
  HIPEP_NO_DRIVER = 5,    /* the backend's driver or kernel library is not there */
  HIPEP_INTERNAL = 6,
  HIPEP_NEEDS_HOST = 7 /* planning stops here until a value has been read back; never leaves the planner */
};

/* A tensor as a planner sees it: contiguous, row major, somewhere inside the bytes of a plan value.
 * value is -1 for an optional tensor that is absent. alignment is what is known of the first byte (>= 1). */
typedef struct hipep_tensor {
  int32_t dtype;
  int32_t rank;
  int64_t dims[HIPEP_MAX_RANK];
  int64_t offset; /* bytes from the start of the value */
  int32_t value;
  uint32_t alignment;
} hipep_tensor;

static inline int64_t hipep_element_count(const hipep_tensor* t) {
  int64_t n = 1;
  for (int32_t i = 0; i < t->rank; ++i) n *= t->dims[i];
  return n;
}

#ifdef __cplusplus
}
#endif
#endif
