#include "io/files/fetch_object.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <vector>

#include "io/files/file.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::io {

namespace {

constexpr std::size_t max_block_bytes = 32 << 20;

}  // namespace

void fetch_object(const Storage& storage, const StoredObject& object, const std::string& path,
                  const std::function<void(std::span<const std::byte>)>& on_bytes) {
  make_directories(std::filesystem::path(path).parent_path().string());
  remove_tree(path);
  FileWriter writer(path);
  std::vector<std::byte> block(std::min<std::uint64_t>(object.size, max_block_bytes));
  for (std::uint64_t done = 0; done < object.size; done += block.size()) {
    block.resize(std::min<std::uint64_t>(object.size - done, max_block_bytes));
    const ObjectPart part{done, block};
    retried([&] { storage.read(object, {&part, 1}); });
    writer.write(block);
    if (on_bytes) on_bytes(block);
  }
  writer.finish();
}

}  // namespace trainrt::io
