#include "checkpoint/format/names.hpp"

#include <fmt/format.h>

namespace trainrt::checkpoint {

std::string shard_name(int file) { return fmt::format("shard-{:05}.h5", file); }

std::string slab_path(const std::string& entry, std::size_t number) {
  return "/trainrt/slabs/" + entry + "/" + std::to_string(number);
}

std::string view_seal(std::string_view digest) { return fmt::format("trainrt xxh3_128 {}\n", digest); }

}  // namespace trainrt::checkpoint
