#include "data/section/file_verification.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "data/bytes/coding/crc32.hpp"
#include "data/bytes/input_file.hpp"

namespace trainrt::data {

namespace {

constexpr std::uint64_t large_verified_block =
    16 << 20;  // bytes; block size if each block is verified only once (verify = first)
constexpr std::uint64_t small_verified_block =
    64 << 10;  // bytes; block size if a block is verified each time a part of it is read (verify = always)

std::uint32_t crc32_of_block(const InputFile& file, BlockChecksums::Block block, std::vector<std::byte>& buffer) {
  constexpr std::uint64_t verified_at_once = 1 << 20;
  std::uint32_t crc32 = 0;
  for (std::uint64_t done = 0; done < block.bytes; done += buffer.size()) {
    buffer.resize(std::min(verified_at_once, block.bytes - done));
    file.read(block.offset + done, buffer);
    crc32 = crc32_of(buffer, crc32);
  }
  return crc32;
}

}  // namespace

FileVerification::FileVerification(const Listing& listing, Verify how) : how_(how) {
  if (how_ == Verify::off) return;
  for (const auto& [file, content] : listing.entries)
    for (const auto& range : content.checksums) bytes_ += range.bytes;
  if (bytes_ == 0) return;
  for (const auto& [file, content] : listing.entries) {
    auto& state = states_.emplace_back();
    if (content.checksums.empty()) continue;
    state.file = file;
    state.blocks = std::make_shared<BlockChecksums>(content.checksums,
                                                    how_ == Verify::always ? small_verified_block : large_verified_block);
    blocks_ += state.blocks->size();
  }
}

void FileVerification::judge(State& state) const {
  state.is_known = true;
  if (const auto* range = state.blocks->first_damaged())
    state.damage = range->what +
                   " is damaged: its checksum is wrong. "
                   "Copy the file here again, or set verify = off to read it nevertheless";
}

void FileVerification::verify_together(const Team& team) {
  const std::lock_guard lock(mutex_);
  const auto [first, end] = team.own_share(blocks_);
  const auto made = team.gather([this, first = first, end = end] {
    std::string checksums;
    std::vector<std::byte> buffer;
    std::uint64_t begin = 0;
    for (const auto& state : states_) {
      if (!state.blocks) continue;
      const auto from = std::max(first, begin), to = std::min(end, begin + state.blocks->size());
      if (from < to) {
        const InputFile file(state.file);
        for (auto number = from; number < to; ++number) {
          const auto crc32 = crc32_of_block(file, state.blocks->block(number - begin), buffer);
          checksums.append(reinterpret_cast<const char*>(&crc32), sizeof crc32);
        }
      }
      begin += state.blocks->size();
    }
    return checksums;
  });
  std::string all;
  for (const auto& part : made) all += part;
  std::uint64_t number = 0;
  for (auto& state : states_) {
    if (!state.blocks) continue;
    for (std::uint64_t block = 0; block < state.blocks->size(); ++block, ++number) {
      std::uint32_t crc32 = 0;
      std::memcpy(&crc32, all.data() + number * sizeof crc32, sizeof crc32);
      state.blocks->set(block, crc32);
    }
    judge(state);
  }
}

std::vector<std::string> FileVerification::damages() const {
  const std::lock_guard lock(mutex_);
  std::vector<std::string> found;
  for (const auto& state : states_)
    if (!state.damage.empty()) found.push_back(state.damage);
  return found;
}

DataFile FileVerification::verified(std::size_t number, DataFile file, bool is_kept) {
  const std::lock_guard lock(mutex_);
  if (states_.empty() || !states_[number].blocks) return file;
  auto& state = states_[number];
  if (!state.is_known && !is_kept) {
    const InputFile input(state.file);
    std::vector<std::byte> buffer;
    for (std::uint64_t block = 0; block < state.blocks->size(); ++block)
      state.blocks->set(block, crc32_of_block(input, state.blocks->block(block), buffer));
    judge(state);
  }
  if (!state.damage.empty()) throw UsageError(state.damage);
  if (how_ == Verify::always && !is_kept) file.checksums = state.blocks;
  return file;
}

}  // namespace trainrt::data
