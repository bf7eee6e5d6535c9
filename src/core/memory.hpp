#pragma once
#include <cstdint>
#include <string>

namespace trainrt {

/// Bytes of memory that this process can still get: what the kernel calls available on this node, or what is left of the
/// limits of the process's cgroups and of `ulimit -v`, if that is less.
std::uint64_t available_memory();

/// Throws UsageError "WHAT takes 16.0 GiB of memory, and 3.1 GiB are left for it on HOST" if it cannot be had.
void require_memory(std::uint64_t bytes, const std::string& what);

/// What a std::bad_alloc means, as a sentence.
std::string out_of_memory_text();

}  // namespace trainrt
