#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "data/bytes/read_method.hpp"

namespace trainrt::data {

// Concurrent reads by io_uring(7), an interface of the Linux kernel. Each thread has its own queues in the kernel.

inline constexpr std::size_t ring_parts = 64;  ///< maximum number of parts in a call of read_by_ring()

/// Throws UsageError, with the reason and the remedy, if this build of trainrt or this machine does not support io_uring.
void require_ring();

/// Reads up to `ring_parts` parts of the open file `fd` at the same time. Returns one number for each part: the number of
/// bytes read, which may be less than the part's size, or a negative errno. Once the function has returned or thrown, the
/// kernel no longer writes to the parts.
std::array<std::int32_t, ring_parts> read_by_ring(int fd, std::span<const FilePart> parts);

}  // namespace trainrt::data
