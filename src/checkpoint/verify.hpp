#pragma once
#include <string>
#include <vector>

#include "checkpoint/format.hpp"

namespace trainrt::checkpoint {

/// "" where the file is there with this size and digest; else what is wrong, with the file's name.
std::string damage_of(const std::string& checkpoint_dir, const FileRecord& file);

}  // namespace trainrt::checkpoint
