#pragma once
#include <cstdint>
#include <functional>
#include <string>

namespace trainrt::checkpoint {

/// The whole view is derived, and written when the checkpoint is whole already: one may lack it.
bool has_view(const std::string& checkpoint_dir);

/// "" where state.h5 ends with the digest of all before; else what is wrong. `read` hears of bytes that were read.
std::string view_damage(const std::string& checkpoint_dir, const std::function<void(std::uint64_t bytes)>& read = {});

}  // namespace trainrt::checkpoint
