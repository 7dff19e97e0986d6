#include "gpu_inflate.h"

#include <string.h>

#include <algorithm>
#include <memory>

namespace hipep {
namespace {

constexpr int kLongestCode = 15, kLiterals = 288, kDistances = 32, kEndOfBlock = 256;

class BitReader {
 public:
  BitReader(const uint8_t* from, size_t bytes) : at_(from), end_(from + bytes) {}

  // Bits to come, the next one lowest; zeros follow the last one.
  uint64_t peek() {
    for (; count_ <= 56 && at_ != end_; count_ += 8) bits_ |= static_cast<uint64_t>(*at_++) << count_;
    return bits_;
  }
  bool drop(int count) {
    if (count > count_) return false;
    bits_ >>= count;
    count_ -= count;
    return true;
  }
  // At most 16 bits; -1 if the input ends before.
  int take(int count) {
    const int value = static_cast<int>(peek() & ((1u << count) - 1));
    return drop(count) ? value : -1;
  }
  void align() {
    drop(count_ % 8);
    at_ -= count_ / 8;
    bits_ = 0;
    count_ = 0;
  }
  // Bytes of an aligned input; NULL if there are not so many.
  const uint8_t* take_bytes(size_t count) {
    if (count > static_cast<size_t>(end_ - at_)) return nullptr;
    at_ += count;
    return at_ - count;
  }
  bool at_end() const { return at_ == end_ && count_ == 0; }

 private:
  const uint8_t *at_, *end_;
  uint64_t bits_ = 0;
  int count_ = 0;
};

// A prefix code as a table over the bits to come: the symbol above four bits of length, 0 where there is no code.
class Code {
 public:
  // False if the lengths are no prefix code.
  bool build(const uint8_t* lengths, int symbols) {
    int counts[kLongestCode + 1] = {}, next[kLongestCode + 2] = {};
    for (int symbol = 0; symbol < symbols; ++symbol) ++counts[lengths[symbol]];
    counts[0] = 0;
    int free = 1, longest = 0;
    for (int length = 1; length <= kLongestCode; ++length) {
      next[length + 1] = (next[length] + counts[length]) << 1;
      free = free * 2 - counts[length];
      if (free < 0) return false;
      if (counts[length] != 0) longest = length;
    }
    if (free != 0 && longest > 1) return false;  // a lone symbol has a code of one bit
    memset(entries_, 0, sizeof entries_);
    for (int symbol = 0; symbol < symbols; ++symbol) {
      const int length = lengths[symbol];
      if (length == 0) continue;
      const uint16_t entry = static_cast<uint16_t>(symbol << 4 | length);
      for (int at = reversed(next[length]++, length); at < 1 << kLongestCode; at += 1 << length) entries_[at] = entry;
    }
    return true;
  }
  // -1 if the input ends or has no such code.
  int decode(BitReader* reader) const {
    const int entry = entries_[reader->peek() & ((1u << kLongestCode) - 1)];
    const int length = entry & 15;
    return length != 0 && reader->drop(length) ? entry >> 4 : -1;
  }

 private:
  static int reversed(int code, int length) {
    int result = 0;
    for (int bit = 0; bit < length; ++bit) result |= (code >> bit & 1) << (length - 1 - bit);
    return result;
  }

  uint16_t entries_[1 << kLongestCode];
};

class Inflater {
 public:
  Inflater(const uint8_t* from, size_t from_bytes, uint8_t* to, size_t to_bytes)
      : reader_(from, from_bytes), begin_(to), at_(to), end_(to + to_bytes) {}

  bool run() {
    const int method = reader_.take(8), flags = reader_.take(8);
    constexpr int kDeflate = 8, kDictionary = 0x20;
    if (method < 0 || flags < 0 || method % 16 != kDeflate || (method * 256 + flags) % 31 != 0) return false;
    if ((flags & kDictionary) != 0) return false;
    int last = 0;
    while (last == 0) {
      last = reader_.take(1);
      if (last < 0 || !block(reader_.take(2))) return false;
    }
    reader_.align();
    const uint8_t* sum = reader_.take_bytes(4);
    return sum != nullptr && reader_.at_end() && at_ == end_ && checksum() == big_endian(sum);
  }

 private:
  bool block(int type) {
    switch (type) {
      case 0: return stored();
      case 1: return fixed_codes() && coded();
      case 2: return read_codes() && coded();
    }
    return false;
  }

  bool stored() {
    reader_.align();
    const int count = reader_.take(16), inverted = reader_.take(16);
    if (count < 0 || inverted < 0 || (count ^ inverted) != 0xffff || count > end_ - at_) return false;
    reader_.align();
    const uint8_t* bytes = reader_.take_bytes(count);
    if (bytes == nullptr) return false;
    memcpy(at_, bytes, count);
    at_ += count;
    return true;
  }

  bool fixed_codes() {
    uint8_t lengths[kLiterals];
    for (int symbol = 0; symbol < kLiterals; ++symbol) {
      lengths[symbol] = symbol < 144 ? 8 : symbol < 256 ? 9 : symbol < 280 ? 7 : 8;
    }
    if (!literals_.build(lengths, kLiterals)) return false;
    memset(lengths, 5, kDistances);
    return distances_.build(lengths, kDistances);
  }

  bool read_codes() {
    constexpr uint8_t kOrder[19] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    const int literals = reader_.take(5) + 257, distances = reader_.take(5) + 1, codes = reader_.take(4) + 4;
    uint8_t lengths[kLiterals + kDistances] = {};
    for (int i = 0; i < codes; ++i) {
      const int length = reader_.take(3);
      if (length < 0) return false;
      lengths[kOrder[i]] = static_cast<uint8_t>(length);
    }
    // The code of the lengths: it takes the place of the literals' until theirs are known.
    if (literals > 286 || distances > 30 || !literals_.build(lengths, 19)) return false;
    const int total = literals + distances;
    for (int at = 0; at < total;) {
      const int symbol = literals_.decode(&reader_);
      if (symbol < 0) return false;
      int repeat = 1, length = symbol;
      if (symbol >= 16) {
        const int bits = symbol == 16 ? 2 : symbol == 17 ? 3 : 7, more = reader_.take(bits);
        if (more < 0 || (symbol == 16 && at == 0)) return false;
        repeat = more + (symbol == 18 ? 11 : 3);
        length = symbol == 16 ? lengths[at - 1] : 0;
      }
      if (repeat > total - at) return false;
      memset(lengths + at, length, repeat);
      at += repeat;
    }
    return lengths[kEndOfBlock] != 0 && literals_.build(lengths, literals) &&
           distances_.build(lengths + literals, distances);
  }

  bool coded() {
    for (;;) {
      const int symbol = literals_.decode(&reader_);
      if (symbol == kEndOfBlock) return true;
      if (symbol < 0 || at_ == end_) return false;
      if (symbol < kEndOfBlock) {
        *at_++ = static_cast<uint8_t>(symbol);
      } else if (!copy(symbol - 257)) {
        return false;
      }
    }
  }

  bool copy(int length_symbol) {
    constexpr uint16_t kLengths[29] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                       31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    constexpr uint16_t kStarts[30] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                      33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                      1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    if (length_symbol >= 29) return false;
    const int length_bits = length_symbol < 8 || length_symbol == 28 ? 0 : length_symbol / 4 - 1;
    const int more_length = reader_.take(length_bits), symbol = distances_.decode(&reader_);
    if (more_length < 0 || symbol < 0 || symbol >= 30) return false;
    const int more_distance = reader_.take(symbol < 4 ? 0 : symbol / 2 - 1);
    const int length = kLengths[length_symbol] + more_length, distance = kStarts[symbol] + more_distance;
    if (more_distance < 0 || distance > at_ - begin_ || length > end_ - at_) return false;
    // Byte by byte: the ranges overlap where a pattern repeats.
    for (int i = 0; i < length; ++i, ++at_) *at_ = at_[-distance];
    return true;
  }

  // Adler-32.
  uint32_t checksum() const {
    constexpr uint32_t kBase = 65521;
    constexpr ptrdiff_t kUntilOverflow = 5552;
    uint32_t low = 1, high = 0;
    for (const uint8_t* at = begin_; at != end_; low %= kBase, high %= kBase) {
      for (const uint8_t* stop = at + std::min(kUntilOverflow, end_ - at); at != stop; ++at) {
        low += *at;
        high += low;
      }
    }
    return high << 16 | low;
  }

  static uint32_t big_endian(const uint8_t* at) {
    return static_cast<uint32_t>(at[0]) << 24 | static_cast<uint32_t>(at[1]) << 16 | static_cast<uint32_t>(at[2]) << 8 |
           at[3];
  }

  BitReader reader_;
  uint8_t *begin_, *at_, *end_;
  Code literals_, distances_;
};

}  // namespace

bool inflate(const uint8_t* from, size_t from_bytes, uint8_t* to, size_t to_bytes) {
  // 128 KiB of tables: too much for a stack.
  return std::make_unique<Inflater>(from, from_bytes, to, to_bytes)->run();
}

}  // namespace hipep
