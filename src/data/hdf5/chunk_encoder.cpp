#include "data/hdf5/chunk_encoder.hpp"

#include <cstring>
#include <memory>
#include <new>

#include <trainrt/error.hpp>

#ifdef TRAINRT_LIBDEFLATE
#include <libdeflate.h>
#else
#include <zlib.h>
#endif

namespace trainrt::data {

namespace {

#ifdef TRAINRT_LIBDEFLATE
std::vector<std::byte> deflated(std::span<const std::byte> bytes) {
  struct Free {
    void operator()(libdeflate_compressor* compressor) const { libdeflate_free_compressor(compressor); }
  };
  thread_local const std::unique_ptr<libdeflate_compressor, Free> compressor(libdeflate_alloc_compressor(gzip_level));
  if (!compressor) throw std::bad_alloc();
  std::vector<std::byte> made(libdeflate_zlib_compress_bound(compressor.get(), bytes.size()));
  made.resize(libdeflate_zlib_compress(compressor.get(), bytes.data(), bytes.size(), made.data(), made.size()));
  if (made.empty()) throw Error("cannot compress a chunk: libdeflate found no room for it");
  return made;
}
#else
std::vector<std::byte> deflated(std::span<const std::byte> bytes) {
  std::vector<std::byte> made(compressBound(bytes.size()));
  auto size = static_cast<uLongf>(made.size());
  if (compress2(reinterpret_cast<Bytef*>(made.data()), &size, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size(),
                gzip_level) != Z_OK)
    throw Error("cannot compress a chunk: zlib failed");
  made.resize(size);
  return made;
}
#endif

}  // namespace

std::vector<std::byte> shuffled_bytes(std::span<const std::byte> values, std::size_t value_bytes) {
  std::vector<std::byte> made(values.begin(), values.end());
  const auto count = values.size() / value_bytes;
  for (std::size_t byte = 0; byte < value_bytes; ++byte)
    for (std::size_t i = 0; i < count; ++i) made[byte * count + i] = values[i * value_bytes + byte];
  return made;
}

std::vector<std::byte> gzip_chunk(std::span<const std::byte> values, std::size_t value_bytes) {
  if (value_bytes == 1) return deflated(values);
  return deflated(shuffled_bytes(values, value_bytes));
}

}  // namespace trainrt::data
