// Decompression of zlib streams (RFC 1950 and 1951), so that no library beside this one is needed.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace hipep {

// True if `from` is one whole zlib stream of exactly `to_bytes` bytes with the right checksum. Never reads or writes
// outside of the two ranges, whatever `from` holds.
bool inflate(const uint8_t* from, size_t from_bytes, uint8_t* to, size_t to_bytes);

}  // namespace hipep
