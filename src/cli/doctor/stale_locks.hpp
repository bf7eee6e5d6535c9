#pragma once
#include <string>
#include <vector>

#include "core/environment.hpp"

namespace trainrt::cli {

/// Where torch compiles its extensions (torch.utils.cpp_extension; DeepSpeed's operators are some): TORCH_EXTENSIONS_DIR,
/// else torch_extensions in XDG_CACHE_HOME or ~/.cache. "" if no home is known.
std::string torch_extensions_folder(const Environment& environment);

struct StaleLock {
  std::string path;
  double age_s = 0;
};

/// The files of the name `lock` in that folder that are at least so old: torch makes one while it compiles, and waits for
/// ever if there is one already. Folders that are not there or may not be read have none.
std::vector<StaleLock> stale_locks_in(const std::string& folder, double least_age_s);

}  // namespace trainrt::cli
