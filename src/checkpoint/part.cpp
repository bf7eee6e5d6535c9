#include "checkpoint/part.hpp"

#include <fmt/format.h>

#include <trainrt/error.hpp>

#include "checkpoint/damage.hpp"
#include "io/files/block_pool.hpp"
#include "io/files/digest.hpp"

namespace trainrt::checkpoint {

std::vector<PartRef> parts_of(const Manifest& manifest) {
  std::vector<PartRef> parts;
  for (std::size_t shard = 0; shard < manifest.shards.size(); ++shard)
    for (std::size_t part = 0; part < manifest.shards[shard].parts.size(); ++part) parts.push_back({shard, part});
  return parts;
}

io::PositionalFile open_shard(const std::string& checkpoint_dir, const ShardRecord& shard,
                              io::PositionalFile::Cache cache) {
  auto file = io::PositionalFile::open(checkpoint_dir + "/" + shard.name, cache);
  if (const auto size = file.size(); size != shard.bytes)
    throw Error(fmt::format("'{}' has {} bytes, not {}", file.path(), size, shard.bytes));
  return file;
}

std::string read_part(const std::string& checkpoint_dir, const ShardRecord& shard, const PartRecord& part) {
  const auto file = open_shard(checkpoint_dir, shard, io::PositionalFile::Cache::bypass);
  if (part.bytes > max_index_bytes)
    throw Error(fmt::format("'{}' has an index of {} bytes; the maximum is {}", file.path(), part.bytes, max_index_bytes));
  io::BlockPool pool(read_buffer_for(std::min<std::uint64_t>(part.bytes, block_bytes)), 0);
  const auto buffer = pool.take();
  std::string text;
  text.reserve(part.bytes);  // reserve() cannot exhaust memory: open_shard() has checked that the file is this long
  while (text.size() < part.bytes) {
    const auto count = std::min<std::uint64_t>(part.bytes - text.size(), block_bytes);
    const auto piece = file.read(part.at + text.size(), count, buffer);
    text.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  }
  if (io::digest_of(std::string_view(text)) != part.digest) throw Error(damaged_bytes(file.path(), part.at, part.bytes));
  text.resize(text.find_last_not_of(' ') + 1);
  text.shrink_to_fit();
  return text;
}

}  // namespace trainrt::checkpoint
