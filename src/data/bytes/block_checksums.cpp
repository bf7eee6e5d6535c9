#include "data/bytes/block_checksums.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/coding/crc32.hpp"

namespace trainrt::data {

/// A part of a requested byte range, and the checksummed blocks that contain it.
struct BlockChecksums::Cover {
  FilePart part;
  std::size_t range = 0;
  std::uint64_t first_block = 0, blocks = 0;  ///< 0 blocks: no checksum covers the part, so it is not verified
  std::uint64_t offset = 0, bytes = 0;        ///< position of the blocks in the file
};

BlockChecksums::BlockChecksums(std::vector<ChecksummedRange> ranges, std::uint64_t block_bytes)
    : ranges_(std::move(ranges)), block_bytes_(block_bytes) {
  std::uint64_t blocks = 0;
  for (const auto& range : ranges_) ends_.push_back(blocks += (range.bytes + block_bytes_ - 1) / block_bytes_);
  checksums_.resize(blocks);
}

BlockChecksums::Block BlockChecksums::block(std::uint64_t number) const {
  const auto range = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), number) - ends_.begin());
  const auto within = (number - first_block(range)) * block_bytes_;
  return {ranges_[range].offset + within, std::min(block_bytes_, ranges_[range].bytes - within)};
}

const ChecksummedRange* BlockChecksums::first_damaged() const {
  std::uint64_t number = 0;
  for (std::size_t range = 0; range < ranges_.size(); ++range) {
    std::uint32_t crc32 = 0;
    for (; number < ends_[range]; ++number) crc32 = concatenated_crc32(crc32, checksums_[number], block(number).bytes);
    if (crc32 != ranges_[range].crc32) return &ranges_[range];
  }
  return nullptr;
}

/// Returns the longest prefix of `part` that is inside one checksummed range, or outside all of them. If it is inside a
/// range, also returns that range and its blocks that contain the prefix.
BlockChecksums::Cover BlockChecksums::cover_of(const FilePart& part) const {
  std::uint64_t bytes = part.into.size();
  for (std::size_t i = 0; i < ranges_.size(); ++i) {
    const auto& range = ranges_[i];
    if (part.offset < range.offset) bytes = std::min(bytes, range.offset - part.offset);
    if (part.offset < range.offset || part.offset - range.offset >= range.bytes) continue;
    const auto within = part.offset - range.offset;
    bytes = std::min<std::uint64_t>(part.into.size(), range.bytes - within);
    const auto first = within / block_bytes_, end = (within + bytes + block_bytes_ - 1) / block_bytes_;
    return {.part = {part.offset, part.into.first(bytes)},
            .range = i,
            .first_block = first_block(i) + first,
            .blocks = end - first,
            .offset = range.offset + first * block_bytes_,
            .bytes = std::min(end * block_bytes_, range.bytes) - first * block_bytes_};
  }
  return {.part = {part.offset, part.into.first(bytes)}};
}

void BlockChecksums::verify(const Cover& cover, std::span<const std::byte> bytes) const {
  for (auto number = cover.first_block; number < cover.first_block + cover.blocks; ++number) {
    const auto [offset, size] = block(number);
    if (crc32_of(bytes.subspan(offset - cover.offset, size)) != checksums_[number])
      throw Error(
          fmt::format("{}: bytes {} to {} of the file have changed since the file's checksum was verified: "
                      "the file was modified, or its storage returns wrong data",
                      ranges_[cover.range].what, offset, offset + size));
  }
}

void BlockChecksums::read_verified(std::span<const FilePart> parts, const Read& read) const {
  constexpr std::size_t max_covers = 64;  // maximum number of elements of `covers` per call of `read`
  std::vector<Cover> covers;
  for (auto part : parts)
    while (!part.into.empty()) {
      const auto read_first = covers.emplace_back(cover_of(part)).part.into.size();
      part = {part.offset + read_first, part.into.subspan(read_first)};
    }
  for (std::size_t at = 0; at < covers.size(); at += max_covers) {
    const auto some = std::span(covers).subspan(at, std::min(max_covers, covers.size() - at));
    std::vector<std::vector<std::byte>> buffers;
    std::vector<FilePart> requests;
    for (const auto& cover : some) {
      buffers.emplace_back(cover.bytes);
      requests.push_back(cover.blocks == 0 ? cover.part : FilePart{cover.offset, buffers.back()});
    }
    read(requests);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto& part = some[i].part;
      if (some[i].blocks == 0) continue;
      verify(some[i], buffers[i]);
      std::memcpy(part.into.data(), buffers[i].data() + (part.offset - some[i].offset), part.into.size());
    }
  }
}

}  // namespace trainrt::data
