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

LocalCopy::LocalCopy(const DataFile& object)
    : memory_(::memfd_create("trainrt-object", MFD_CLOEXEC)), path_(fmt::format("/proc/self/fd/{}", memory_.get())) {
  constexpr std::uint64_t head_bytes = 4096, block_bytes = 8 << 20;
  const auto copied = "memory for " + object.path;
  if (memory_.get() < 0 || ::ftruncate(memory_.get(), static_cast<off_t>(object.size)) != 0)
    io::fail("create", copied, errno);
  const InputFile input(object);
  std::vector<std::byte> block(std::min(object.size, head_bytes));
  input.read(0, block);
  io::write_at(memory_.get(), 0, block, copied);
  const bool is_gzip = block.size() >= 2 && block[0] == std::byte{0x1f} && block[1] == std::byte{0x8b};
  if (!is_gzip) return;
  require_memory(object.size, object.path + ": its bytes");
  for (std::uint64_t done = block.size(); done < object.size; done += block.size()) {
    block.resize(std::min(block_bytes, object.size - done));
    input.read(done, block);
    io::write_at(memory_.get(), done, block, copied);
  }
}

}  // namespace trainrt::data
