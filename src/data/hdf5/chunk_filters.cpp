#include "data/hdf5/chunk_filters.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/inflate.hpp"
#include "data/bytes/stage_clock.hpp"
#include "data/source/row_file.hpp"

namespace trainrt::data {

namespace {

/// Put together in registers: the compiler makes vector code of it.
template <class Word>
void unshuffle_words(const std::byte* in, std::size_t values, std::byte* out) {
  static_assert(std::endian::native == std::endian::little);
  for (std::size_t value = 0; value < values; ++value) {
    Word word = 0;
    for (std::size_t byte = 0; byte < sizeof word; ++byte)
      word = static_cast<Word>(word | std::to_integer<Word>(in[byte * values + value]) << 8 * byte);
    std::memcpy(out + value * sizeof word, &word, sizeof word);
  }
}

/// HDF5's checksum: Fletcher's over big-endian words of 16 bits (Fletcher 1982).
std::uint32_t fletcher32_of(std::span<const std::byte> bytes) {
  const auto at = [&](std::size_t i) { return std::to_integer<std::uint32_t>(bytes[i]); };
  std::uint32_t one = 0, two = 0;
  const auto reduce = [&] {
    one = (one & 0xffff) + (one >> 16);
    two = (two & 0xffff) + (two >> 16);
  };
  constexpr std::size_t without_overflow = 720;
  std::size_t i = 0;
  while (i + 1 < bytes.size()) {
    for (const auto end = std::min(bytes.size() & ~std::size_t{1}, i + without_overflow); i < end; i += 2)
      two += one += at(i) << 8 | at(i + 1);
    reduce();
  }
  if (i < bytes.size()) {
    two += one += at(i) << 8;
    reduce();
  }
  reduce();
  return two << 16 | one;
}

constexpr std::size_t checksum_bytes = 4;

bool is_checksum(ChunkFilter filter) {
  return filter == ChunkFilter::fletcher32 || filter == ChunkFilter::ignored_fletcher32;
}

/// Takes the checksum from the end; throws if it is wrong, unless it is `ignored`.
void take_checksum(std::vector<std::byte>& bytes, bool ignored) {
  if (bytes.size() < checksum_bytes) throw Error("it is shorter than its checksum");
  std::uint32_t stored = 0;
  std::memcpy(&stored, bytes.data() + bytes.size() - checksum_bytes, checksum_bytes);
  bytes.resize(bytes.size() - checksum_bytes);
  if (!ignored && stored != fletcher32_of(bytes)) throw Error("its checksum is wrong");
}

std::vector<std::byte> undone(ChunkFilter filter, std::size_t value_bytes, std::vector<std::byte> bytes,
                              std::size_t expected) {
  if (is_checksum(filter)) {
    take_checksum(bytes, filter == ChunkFilter::ignored_fletcher32);
    return bytes;
  }
  std::vector<std::byte> out(filter == ChunkFilter::shuffle ? bytes.size() : expected);
  if (filter == ChunkFilter::shuffle)
    unshuffle(bytes, value_bytes, out.data());
  else
    inflate_all(bytes, out);
  return out;
}

}  // namespace

void unshuffle(std::span<const std::byte> in, std::size_t value_bytes, std::byte* out) {
  const auto values = in.size() / value_bytes;
  if (value_bytes == 2)
    unshuffle_words<std::uint16_t>(in.data(), values, out);
  else if (value_bytes == 4)
    unshuffle_words<std::uint32_t>(in.data(), values, out);
  else if (value_bytes == 8)
    unshuffle_words<std::uint64_t>(in.data(), values, out);
  else
    for (std::size_t value = 0; value < values; ++value)
      for (std::size_t byte = 0; byte < value_bytes; ++byte) out[value * value_bytes + byte] = in[byte * values + value];
  const auto whole = values * value_bytes;
  if (whole < in.size()) std::memcpy(out + whole, in.data() + whole, in.size() - whole);
}

std::vector<std::byte> decoded_chunk(const H5ChunkTable& table, const io::H5Chunk& chunk, std::vector<std::byte> stored,
                                     std::size_t bytes) {
  const InStage decoding(Stage::decode);
  const auto applied = [&](std::size_t filter) { return filter >= 32 || (chunk.skipped >> filter & 1) == 0; };
  for (auto i = table.filters.size(); i-- > 0;) {
    if (!applied(i)) continue;
    auto expected = bytes;  // what it was applied to: the values, and checksums of the filters before it
    for (std::size_t before = 0; before < i; ++before)
      if (applied(before) && is_checksum(table.filters[before])) expected += checksum_bytes;
    stored = undone(table.filters[i], size_of(table.dtype), std::move(stored), expected);
  }
  if (stored.size() != bytes) throw Error(fmt::format("it gives {} bytes, and not {}", stored.size(), bytes));
  swap_values(stored, table.swapped);
  return stored;
}

}  // namespace trainrt::data
