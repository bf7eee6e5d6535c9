#pragma once
#include <cstdint>
#include <string>

namespace trainrt {

/// Returns a number of bytes as text for people: "17 B", "1.2 GiB". Units are powers of 1024. Pure function.
std::string byte_size(std::uint64_t bytes);

}  // namespace trainrt
