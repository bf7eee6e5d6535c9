#include "checkpoint/memory/copy_file.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/fault_point.hpp"
#include "core/files/reserve_pages.hpp"
#include "core/process/memory.hpp"
#include "io/files/digest.hpp"

namespace trainrt::checkpoint {

namespace {

constexpr std::size_t digits = 32;            // length of an identity or a digest
constexpr std::uint64_t slot_alignment = 64;  // size of a cache line in bytes
constexpr std::uint64_t page = 4096;

std::uint64_t rounded_up(std::uint64_t bytes, std::uint64_t to) { return (bytes + to - 1) / to * to; }

using Digits = std::array<char, digits>;

void put(Digits& to, std::string_view text) { std::copy_n(text.data(), std::min(text.size(), digits), to.begin()); }
std::string_view text_of(const Digits& from) { return {from.data(), from.size()}; }

std::int64_t load(std::int64_t& number) { return std::atomic_ref(number).load(std::memory_order_acquire); }
void store(std::int64_t& number, std::int64_t value) { std::atomic_ref(number).store(value, std::memory_order_release); }

}  // namespace

struct CopyFile::Header {
  std::int64_t ranks;
  Digits identity;
  std::int64_t origin;
  std::int64_t is_in_use;
  std::int64_t attempts;
};

/// Describes the copy in one slot. Each rank has two seals, one per slot; the seals of all ranks follow the Header, in
/// rank order.
struct alignas(slot_alignment) CopyFile::Seal {
  std::int64_t number;
  std::uint64_t used;
  Digits digest;
  std::uint64_t room;  // size of the slot
};

namespace {

/// Returns the size of the header and the seals, which precede the slots.
std::uint64_t slots_begin(std::size_t ranks) {
  constexpr std::uint64_t bytes_of_seal = 64;
  return rounded_up(slot_alignment + ranks * 2 * bytes_of_seal, page);
}

}  // namespace

std::uint64_t CopyLayout::file_bytes() const {
  auto total = slots_begin(bytes.size());
  for (const auto each : bytes) total += 2 * rounded_up(each, slot_alignment);
  return rounded_up(total, page);
}

std::optional<CopyLayout> CopyFile::layout_of(int file, int ranks) {
  Header header{};
  std::vector<Seal> seals(2 * static_cast<std::size_t>(ranks));
  const auto bytes_of_seals = static_cast<ssize_t>(seals.size() * sizeof(Seal));
  if (pread(file, &header, sizeof header, 0) != sizeof header || header.ranks != ranks ||
      pread(file, seals.data(), seals.size() * sizeof(Seal), slot_alignment) != bytes_of_seals)
    return std::nullopt;
  CopyLayout layout{std::string(text_of(header.identity)), {}};
  for (std::size_t i = 0; i < seals.size(); i += 2) layout.bytes.push_back(seals[i].room);
  return layout;
}

void CopyFile::make(int file, const CopyLayout& layout) {
  const auto size = layout.file_bytes();
  const auto fail = [&](int code) {
    clear(file);  // frees the memory that was reserved so far
    throw Error(fmt::format("cannot reserve {} bytes of memory for copies of the State: {}", size, std::strerror(code)));
  };
  clear(file);
  constexpr std::uint64_t headroom = 2;  // the train function has not allocated all of its memory yet
  if (size > available_memory() / headroom) fail(ENOMEM);
  fault_point("reserve_copies");
  if (ftruncate(file, static_cast<off_t>(size)) != 0) fail(errno);
  if (const int code = reserve_pages(file, 0, size); code != 0) fail(code);
  fault_point("copies_reserved");
  Header header{
      .ranks = static_cast<std::int64_t>(layout.bytes.size()), .identity = {}, .origin = 0, .is_in_use = 0, .attempts = 0};
  put(header.identity, layout.identity);
  std::vector<Seal> seals(2 * layout.bytes.size(), Seal{});
  for (std::size_t i = 0; i < seals.size(); ++i) seals[i].room = layout.bytes[i / 2];
  if (pwrite(file, seals.data(), seals.size() * sizeof(Seal), slot_alignment) < 0 ||
      pwrite(file, &header, sizeof header, 0) != sizeof header)
    fail(errno);
}

void CopyFile::clear(int file) { static_cast<void>(ftruncate(file, 0)); }

bool CopyFile::is_in_use(int file) {
  Header found{};
  return pread(file, &found, sizeof found, 0) == sizeof found && found.is_in_use != 0;
}

void CopyFile::forget_use(int file) {
  Header found{};
  if (pread(file, &found, sizeof found, 0) != sizeof found) return;  // the file is empty
  found.is_in_use = 0;
  static_cast<void>(pwrite(file, &found, sizeof found, 0));  // cannot fail: the memory is reserved
}

CopyFile::CopyFile(int file, CopyLayout layout) : layout_(std::move(layout)) {
  static_assert(sizeof(Header) <= slot_alignment && sizeof(Seal) == slot_alignment);
  const auto size = layout_.file_bytes();
  void* mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (mapped == MAP_FAILED)
    throw Error(fmt::format("cannot map {} bytes of memory with copies of the State: {}", size, std::strerror(errno)));
  memory_ = Memory(static_cast<std::byte*>(mapped), [size](std::byte* begin) { munmap(begin, size); });
  auto begin = slots_begin(layout_.bytes.size());
  for (const auto each : layout_.bytes) {
    begins_.push_back(begin);
    begin += 2 * rounded_up(each, slot_alignment);
  }
}

CopyFile::Header& CopyFile::header() const { return *reinterpret_cast<Header*>(memory_.get()); }

CopyFile::Seal& CopyFile::seal_of(int rank, int slot) const {
  auto* seals = reinterpret_cast<Seal*>(memory_.get() + slot_alignment);
  return seals[2 * rank + slot];
}

std::span<std::byte> CopyFile::bytes(int rank, int slot) const {
  const auto index = static_cast<std::size_t>(rank);
  const auto room = layout_.bytes[index];
  const auto begin = begins_[index] + static_cast<std::uint64_t>(slot) * rounded_up(room, slot_alignment);
  return {memory_.get() + begin, static_cast<std::size_t>(room)};
}

std::int64_t CopyFile::number(int rank, int slot) const { return load(seal_of(rank, slot).number); }

void CopyFile::unseal(int rank, int slot) {
  store(seal_of(rank, slot).number, 0);
  fault_point("copy_unsealed");
}

void CopyFile::seal(int rank, int slot, std::int64_t number, std::uint64_t used, const std::string& digest) {
  auto& seal = seal_of(rank, slot);
  seal.used = used;
  fault_point("seal_copy");
  put(seal.digest, digest);
  fault_point("number_copy");
  store(seal.number, number);
  fault_point("copy_sealed");
  store(header().is_in_use, 1);
}

bool CopyFile::is_intact(int rank, int slot) const {
  const auto& seal = seal_of(rank, slot);
  const auto room = bytes(rank, slot);
  return seal.used <= room.size() &&
         io::digest_of(std::span<const std::byte>(room.first(seal.used))) == text_of(seal.digest);
}

std::int64_t CopyFile::origin() const { return load(header().origin); }

std::int64_t CopyFile::attempts_from_origin() const { return load(header().attempts); }

void CopyFile::begin_attempt(std::int64_t origin) {
  store(header().attempts, origin == this->origin() ? attempts_from_origin() + 1 : 1);
  fault_point("begin_from_copy");
  store(header().origin, origin);
  store(header().is_in_use, 0);
}

}  // namespace trainrt::checkpoint
