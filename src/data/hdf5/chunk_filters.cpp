#include "data/hdf5/chunk_filters.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <new>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/coding/inflate.hpp"
#include "data/bytes/stage_clock.hpp"
#include "data/source/row_source.hpp"

#ifdef TRAINRT_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif

namespace trainrt::data {

namespace {

constexpr int gzip_level = 4;  // compression level; higher levels are slower, and compress only slightly better
constexpr std::size_t checksum_bytes = 4;

/// Does the work of unshuffle_bytes() for values of sizeof(Word) bytes. Compilers can vectorize the loop over bytes.
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

/// Applies HDF5's shuffle filter, which stores byte 0 of all values, then byte 1 of all values, and so on. A trailing
/// partial value is copied unchanged.
std::vector<std::byte> shuffle_bytes(std::span<const std::byte> values, std::size_t value_bytes) {
  std::vector<std::byte> out(values.begin(), values.end());
  const auto count = values.size() / value_bytes;
  for (std::size_t byte = 0; byte < value_bytes; ++byte)
    for (std::size_t i = 0; i < count; ++i) out[byte * count + i] = values[i * value_bytes + byte];
  return out;
}

/// Reverses shuffle_bytes().
std::vector<std::byte> unshuffle_bytes(std::span<const std::byte> in, std::size_t value_bytes) {
  std::vector<std::byte> out(in.begin(), in.end());
  const auto values = in.size() / value_bytes;
  if (value_bytes == 2)
    unshuffle_words<std::uint16_t>(in.data(), values, out.data());
  else if (value_bytes == 4)
    unshuffle_words<std::uint32_t>(in.data(), values, out.data());
  else if (value_bytes == 8)
    unshuffle_words<std::uint64_t>(in.data(), values, out.data());
  else
    for (std::size_t value = 0; value < values; ++value)
      for (std::size_t byte = 0; byte < value_bytes; ++byte) out[value * value_bytes + byte] = in[byte * values + value];
  return out;
}

#ifdef TRAINRT_LIBDEFLATE
std::vector<std::byte> deflate_bytes(std::span<const std::byte> bytes) {
  struct Free {
    void operator()(libdeflate_compressor* compressor) const { libdeflate_free_compressor(compressor); }
  };
  thread_local const std::unique_ptr<libdeflate_compressor, Free> compressor(libdeflate_alloc_compressor(gzip_level));
  if (!compressor) throw std::bad_alloc();
  std::vector<std::byte> out(libdeflate_zlib_compress_bound(compressor.get(), bytes.size()));
  out.resize(libdeflate_zlib_compress(compressor.get(), bytes.data(), bytes.size(), out.data(), out.size()));
  if (out.empty()) throw Error("cannot compress a chunk: libdeflate failed");
  return out;
}
#else
std::vector<std::byte> deflate_bytes(std::span<const std::byte> bytes) {
  std::vector<std::byte> out(compressBound(bytes.size()));
  auto size = static_cast<uLongf>(out.size());
  if (compress2(reinterpret_cast<Bytef*>(out.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
                gzip_level) != Z_OK)
    throw Error("cannot compress a chunk: zlib failed");
  out.resize(size);
  return out;
}
#endif

/// Returns the checksum of HDF5's filter Fletcher-32: Fletcher's checksum over big-endian words of 16 bits (Fletcher 1982).
std::uint32_t fletcher32_of(std::span<const std::byte> bytes) {
  const auto at = [&](std::size_t i) { return std::to_integer<std::uint32_t>(bytes[i]); };
  std::uint32_t low = 0, high = 0;
  const auto reduce = [&] {
    low = (low & 0xffff) + (low >> 16);
    high = (high & 0xffff) + (high >> 16);
  };
  constexpr std::size_t bytes_without_overflow = 720;
  std::size_t i = 0;
  while (i + 1 < bytes.size()) {
    for (const auto end = std::min(bytes.size() & ~std::size_t{1}, i + bytes_without_overflow); i < end; i += 2)
      high += low += at(i) << 8 | at(i + 1);
    reduce();
  }
  if (i < bytes.size()) {
    high += low += at(i) << 8;
    reduce();
  }
  reduce();
  return high << 16 | low;
}

bool is_checksum(ChunkFilter filter) {
  return filter == ChunkFilter::fletcher32 || filter == ChunkFilter::ignored_fletcher32;
}

/// Removes the checksum at the end of `bytes`. Throws Error if the checksum is wrong, unless `is_ignored` is set.
void remove_checksum(std::vector<std::byte>& bytes, bool is_ignored) {
  if (bytes.size() < checksum_bytes) throw Error("the chunk is too short to contain a checksum");
  std::uint32_t stored = 0;
  std::memcpy(&stored, bytes.data() + bytes.size() - checksum_bytes, checksum_bytes);
  bytes.resize(bytes.size() - checksum_bytes);
  if (!is_ignored && stored != fletcher32_of(bytes)) throw Error("its checksum is wrong");
}

}  // namespace

std::vector<std::byte> decode_chunk(const H5ChunkTable& table, const io::H5Chunk& chunk, std::vector<std::byte> stored,
                                    std::size_t bytes) {
  const InStage decoding(Stage::decode);
  const auto is_applied = [&](std::size_t filter) { return filter >= 32 || (chunk.skipped >> filter & 1) == 0; };
  for (auto i = table.filters.size(); i-- > 0;) {
    if (!is_applied(i)) continue;
    const auto filter = table.filters[i];
    if (is_checksum(filter)) {
      remove_checksum(stored, filter == ChunkFilter::ignored_fletcher32);
    } else if (filter == ChunkFilter::shuffle) {
      stored = unshuffle_bytes(stored, size_of(table.dtype));
    } else {
      auto inflated_bytes = bytes;  // the values, and the checksums that were added before the compression
      for (std::size_t before = 0; before < i; ++before)
        if (is_applied(before) && is_checksum(table.filters[before])) inflated_bytes += checksum_bytes;
      std::vector<std::byte> inflated(inflated_bytes);
      inflate_all(stored, inflated);
      stored = std::move(inflated);
    }
  }
  if (stored.size() != bytes) throw Error(fmt::format("it expands to {} bytes instead of {}", stored.size(), bytes));
  swap_values(stored, table.swapped);
  return stored;
}

std::vector<std::byte> gzip_chunk(std::span<const std::byte> values, std::size_t value_bytes) {
  return value_bytes == 1 ? deflate_bytes(values) : deflate_bytes(shuffle_bytes(values, value_bytes));
}

}  // namespace trainrt::data
