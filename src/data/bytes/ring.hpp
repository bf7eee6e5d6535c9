#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "data/bytes/read_method.hpp"

namespace trainrt::data {

/// Reads that are in flight at the same time, by io_uring(7): each thread has the kernel's queues of its own.

inline constexpr std::size_t ring_parts = 64;  ///< at most at once

/// Throws UsageError that says why there are none here, and what to do.
void require_ring();

/// How many bytes came of each of up to `ring_parts` parts, or a negative errno. When it returns, or throws, the kernel
/// writes to none of them any more.
std::array<std::int32_t, ring_parts> read_by_ring(int fd, std::span<const FilePart> parts);

}  // namespace trainrt::data
