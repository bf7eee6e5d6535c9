#include "data/bytes/block_checksums.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/coding/crc32.hpp"

namespace trainrt::data {

/// A part of a request, and the complete blocks around it.
struct BlockChecksums::Cover {
  FilePart part;
  std::uint64_t first_block = 0, blocks = 0;  ///< no blocks: the part is in no range, and is read as it is
  std::uint64_t offset = 0, bytes = 0;        ///< of the blocks in the file
  std::size_t range = 0;
};

BlockChecksums::BlockChecksums(std::vector<ChecksummedRange> ranges, std::uint64_t block_bytes)
    : ranges_(std::move(ranges)), block_bytes_(block_bytes) {
  std::uint64_t blocks = 0;
  for (const auto& range : ranges_) ends_.push_back(blocks += (range.bytes + block_bytes_ - 1) / block_bytes_);
  checksums_.resize(blocks);
}

BlockChecksums::Block BlockChecksums::block(std::uint64_t number) const {
  const auto range = static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), number) - ends_.begin());
  const auto within = (number - (range == 0 ? 0 : ends_[range - 1])) * block_bytes_;
  return {ranges_[range].offset + within, std::min(block_bytes_, ranges_[range].bytes - within)};
}

const ChecksummedRange* BlockChecksums::first_damaged() const {
  std::uint64_t number = 0;
  for (std::size_t range = 0; range < ranges_.size(); ++range) {
    std::uint32_t crc32 = 0;
    for (; number < ends_[range]; ++number) crc32 = joined_crc32(crc32, checksums_[number], block(number).bytes);
    if (crc32 != ranges_[range].crc32) return &ranges_[range];
  }
  return nullptr;
}

/// A part that reaches beyond a range is cut there.
std::vector<BlockChecksums::Cover> BlockChecksums::covers_of(std::span<const FilePart> parts) const {
  std::vector<Cover> covers;
  for (auto part : parts)
    while (!part.into.empty()) {
      Cover cover{.part = part};
      auto bytes = part.into.size();
      for (std::size_t i = 0; i < ranges_.size(); ++i) {
        const auto& range = ranges_[i];
        if (part.offset < range.offset) bytes = std::min<std::uint64_t>(bytes, range.offset - part.offset);
        if (part.offset < range.offset || part.offset - range.offset >= range.bytes) continue;
        const auto within = part.offset - range.offset;
        bytes = std::min<std::uint64_t>(part.into.size(), range.bytes - within);
        const auto first = within / block_bytes_, end = (within + bytes + block_bytes_ - 1) / block_bytes_;
        cover.range = i;
        cover.first_block = (i == 0 ? 0 : ends_[i - 1]) + first;
        cover.blocks = end - first;
        cover.offset = range.offset + first * block_bytes_;
        cover.bytes = std::min(end * block_bytes_, range.bytes) - first * block_bytes_;
        break;
      }
      cover.part.into = part.into.first(bytes);
      covers.push_back(cover);
      part = {part.offset + bytes, part.into.subspan(bytes)};
    }
  return covers;
}

void BlockChecksums::verify(const Cover& cover, std::span<const std::byte> bytes) const {
  for (auto number = cover.first_block; number < cover.first_block + cover.blocks; ++number) {
    const auto [offset, size] = block(number);
    if (crc32_of(bytes.subspan(offset - cover.offset, size)) != checksums_[number])
      throw Error(
          fmt::format("{}: bytes {} to {} of the file have other values than when its checksum was verified: the "
                      "file was changed, or its storage returns wrong data",
                      ranges_[cover.range].what, offset, offset + size));
  }
}

void BlockChecksums::read_verified(std::span<const FilePart> parts, const Read& read) const {
  constexpr std::size_t max_together = 64;
  const auto covers = covers_of(parts);
  for (std::size_t at = 0; at < covers.size(); at += max_together) {
    const auto some = std::span(covers).subspan(at, std::min(max_together, covers.size() - at));
    std::vector<std::vector<std::byte>> buffers;
    std::vector<FilePart> wanted;
    for (const auto& cover : some) {
      buffers.emplace_back(cover.bytes);
      wanted.push_back(cover.blocks == 0 ? cover.part : FilePart{cover.offset, buffers.back()});
    }
    read(wanted);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const auto& [part, first, blocks, offset, bytes, range] = some[i];
      if (blocks == 0) continue;
      verify(some[i], buffers[i]);
      std::memcpy(part.into.data(), buffers[i].data() + (part.offset - offset), part.into.size());
    }
  }
}

}  // namespace trainrt::data
