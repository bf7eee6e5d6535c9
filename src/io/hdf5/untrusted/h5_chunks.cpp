#include "io/hdf5/untrusted/h5_chunks.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "io/hdf5/untrusted/h5_watched_file.hpp"

namespace trainrt::io {

namespace {

std::uint64_t chunks_along_axis(std::int64_t extent, std::int64_t size) {
  return static_cast<std::uint64_t>((extent - 1) / size + 1);
}

/// Moves `at` to the first element of the next chunk in row-major order. Returns false after the last chunk.
bool advance(std::vector<hsize_t>& at, const Shape& shape, const Shape& chunk) {
  for (auto axis = at.size(); axis-- > 0;) {
    at[axis] += static_cast<hsize_t>(chunk[axis]);
    if (at[axis] < static_cast<hsize_t>(shape[axis])) return true;
    at[axis] = 0;
  }
  return false;
}

H5Chunk chunk_at(hid_t dataset, const std::vector<hsize_t>& at, H5Watch& watch) {
  hsize_t stored = 0;
  h5_check(H5Dget_chunk_storage_size(dataset, at.data(), &stored), "read the size of a chunk");
  if (stored == 0) return {};
  H5Chunk found;
  std::byte nothing{};  // this buffer is not filled, because the file driver only records the read
  h5_check(H5Dread_chunk(dataset, H5P_DEFAULT, at.data(), &found.skipped, &nothing), "find a chunk");
  const auto reads = watch.take();
  if (reads.count != 1 || reads.bytes != stored || stored > std::numeric_limits<std::uint32_t>::max())
    throw Error(fmt::format("cannot find the chunk at {} in the file", fmt::join(at, ", ")));
  found.address = reads.address;
  found.bytes = static_cast<std::uint32_t>(stored);
  return found;
}

}  // namespace

std::uint64_t h5_chunk_count(const Shape& shape, const Shape& chunk) {
  constexpr auto max_count = std::uint64_t{1} << 62;
  std::uint64_t count = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return 0;
    if (__builtin_mul_overflow(count, chunks_along_axis(shape[axis], chunk[axis]), &count)) return max_count;
  }
  return std::min(count, max_count);
}

std::vector<H5Chunk> h5_chunks(hid_t dataset, const Shape& shape, const Shape& chunk) {
  const auto lock = h5_lock();
  std::vector<H5Chunk> chunks;
  const auto count = h5_chunk_count(shape, chunk);
  if (count == 0) return chunks;
  chunks.reserve(count);
  H5Watch watch;
  std::vector<hsize_t> at(shape.size());
  do chunks.push_back(chunk_at(dataset, at, watch));
  while (advance(at, shape, chunk));
  return chunks;
}

}  // namespace trainrt::io
