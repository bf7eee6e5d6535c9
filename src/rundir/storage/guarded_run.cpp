#include "rundir/storage/guarded_run.hpp"

#include <filesystem>
#include <system_error>

namespace trainrt::rundir {

GuardedTree guarded_run(const std::string& storage_path, const std::string& name) {
  const std::string users = "artifacts";
  std::error_code ignored;
  if (std::filesystem::exists(storage_path + "/sweep.json", ignored)) return GuardedTree(storage_path, name + "/" + users);
  return GuardedTree((std::filesystem::path(storage_path) / name).string(), users);
}

}  // namespace trainrt::rundir
