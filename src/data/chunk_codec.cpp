#include "data/chunk_codec.hpp"

#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/inflate.hpp"
#include "data/row_file.hpp"

namespace trainrt::data {

namespace {

template <std::size_t Bytes>
void unshuffle_values(const std::byte* in, std::size_t values, std::byte* out) {
  for (std::size_t value = 0; value < values; ++value)
    for (std::size_t byte = 0; byte < Bytes; ++byte) out[value * Bytes + byte] = in[byte * values + value];
}

struct Steps {
  bool deflate = false;
  bool shuffle = false;
};

/// Bit i of what a chunk skips is the i-th filter.
Steps steps_of(ChunkCodec codec, std::uint32_t skipped) {
  const bool first = (skipped & 1) == 0;
  const bool second = (skipped & 2) == 0;
  switch (codec) {
    case ChunkCodec::deflate:
      return {.deflate = first};
    case ChunkCodec::shuffle:
      return {.shuffle = first};
    case ChunkCodec::shuffle_deflate:
      return {.deflate = second, .shuffle = first};
    default:
      return {};
  }
}

}  // namespace

void unshuffle(std::span<const std::byte> in, std::size_t value_bytes, std::byte* out) {
  const auto values = in.size() / value_bytes;
  if (value_bytes == 2)
    unshuffle_values<2>(in.data(), values, out);
  else if (value_bytes == 4)
    unshuffle_values<4>(in.data(), values, out);
  else if (value_bytes == 8)
    unshuffle_values<8>(in.data(), values, out);
  else
    for (std::size_t value = 0; value < values; ++value)
      for (std::size_t byte = 0; byte < value_bytes; ++byte) out[value * value_bytes + byte] = in[byte * values + value];
  const auto whole = values * value_bytes;
  if (whole < in.size()) std::memcpy(out + whole, in.data() + whole, in.size() - whole);
}

void decode_chunk(const H5ChunkTable& table, const io::H5Chunk& chunk, std::vector<std::byte> stored,
                  std::span<std::byte> out) {
  const auto steps = steps_of(table.codec, chunk.skipped);
  if (steps.deflate) {
    if (steps.shuffle) {
      std::vector<std::byte> inflated(out.size());
      inflate_all(stored, inflated);
      stored = std::move(inflated);
    } else {
      inflate_all(stored, out);
    }
  }
  if (!steps.deflate || steps.shuffle) {
    if (stored.size() != out.size())
      throw Error(fmt::format("it has {} bytes in the file, and not {}", stored.size(), out.size()));
    if (steps.shuffle)
      unshuffle(stored, size_of(table.dtype), out.data());
    else
      std::memcpy(out.data(), stored.data(), stored.size());
  }
  swap_values(out, table.swapped);
}

}  // namespace trainrt::data
