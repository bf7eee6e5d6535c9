#include "data/bytes/local_copy.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <span>

#include <fmt/format.h>

#include "core/process/memory.hpp"
#include "data/bytes/input_file.hpp"

namespace trainrt::data {

namespace {

constexpr std::uint64_t head_of_copy = 4096;

/// As long as the object, with its first bytes in it.
void write_copy(int memory, std::uint64_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const auto count = ::pwrite(memory, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (count < 0) io::fail("write", "memory", errno);
    offset += static_cast<std::uint64_t>(count);
    bytes = bytes.subspan(static_cast<std::size_t>(count));
  }
}

}  // namespace

LocalCopy::LocalCopy(const DataFile& object)
    : memory_(::memfd_create("trainrt-object", MFD_CLOEXEC)), path_(fmt::format("/proc/self/fd/{}", memory_.get())) {
  constexpr std::uint64_t block_bytes = 8 << 20;
  if (memory_.get() < 0 || ::ftruncate(memory_.get(), static_cast<off_t>(object.size)) != 0)
    io::fail("make", "memory", errno);
  const InputFile input(object);
  std::vector<std::byte> block(std::min(object.size, head_of_copy));
  input.read(0, block);
  write_copy(memory_.get(), 0, block);
  if (block.size() < 2 || block[0] != std::byte{0x1f} || block[1] != std::byte{0x8b}) return;
  require_memory(object.size, object.path + ": its bytes");
  for (std::uint64_t done = block.size(); done < object.size; done += block.size()) {
    block.resize(std::min(block_bytes, object.size - done));
    input.read(done, block);
    write_copy(memory_.get(), done, block);
  }
}

}  // namespace trainrt::data
