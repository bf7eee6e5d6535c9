#include "io/hdf5/untrusted/h5_chunks.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "io/hdf5/untrusted/h5_watched_file.hpp"

namespace trainrt::io {

namespace {

std::uint64_t tiles(std::int64_t extent, std::int64_t size) { return static_cast<std::uint64_t>((extent - 1) / size + 1); }

/// The next chunk's first element; false after the last one.
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
  h5_check(H5Dget_chunk_storage_size(dataset, at.data(), &stored), "look up a chunk");
  if (stored == 0) return {};
  H5Chunk found;
  std::byte nothing{};  // the driver reads nothing into it
  h5_check(H5Dread_chunk(dataset, H5P_DEFAULT, at.data(), &found.skipped, &nothing), "find a chunk");
  const auto wanted = watch.take();
  if (wanted.reads != 1 || wanted.bytes != stored || stored > std::numeric_limits<std::uint32_t>::max())
    throw Error(fmt::format("the place of the chunk at {} cannot be found", fmt::join(at, ", ")));
  found.address = wanted.address;
  found.bytes = static_cast<std::uint32_t>(stored);
  return found;
}

}  // namespace

std::uint64_t h5_chunk_count(const Shape& shape, const Shape& chunk) {
  constexpr auto most = std::uint64_t{1} << 62;
  std::uint64_t count = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (shape[axis] == 0) return 0;
    if (__builtin_mul_overflow(count, tiles(shape[axis], chunk[axis]), &count)) return most;
  }
  return std::min(count, most);
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
