#pragma once
#include <string>
#include <vector>

namespace trainrt::launch {

/// Which of `size` ranks do not answer, asked through a shared directory by those that wait: each leaves a file with its
/// number in `shared_dir`/.trainrt-here-<id>, waits for the others to do the same, and looks who did. `id` is the same on
/// all ranks of the step and on no other. The last to look removes the files. Empty if the directory cannot be used.
std::vector<int> missing_by_roll_call(const std::string& shared_dir, const std::string& id, int rank, int size);

}  // namespace trainrt::launch
