#include "data/bytes/coding/crc32.hpp"

#include <zlib.h>

#ifdef TRAINRT_LIBDEFLATE
#include <libdeflate.h>
#endif

namespace trainrt::data {

std::uint32_t crc32_of(std::span<const std::byte> bytes, std::uint32_t before) {
#ifdef TRAINRT_LIBDEFLATE
  return libdeflate_crc32(before, bytes.data(), bytes.size());
#else
  return static_cast<std::uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
#endif
}

std::uint32_t concatenated_crc32(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes) {
  return static_cast<std::uint32_t>(crc32_combine(first, second, static_cast<z_off_t>(second_bytes)));
}

}  // namespace trainrt::data
