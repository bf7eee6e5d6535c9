#include "launch/pmi/roll_call.hpp"

#include <chrono>
#include <filesystem>
#include <thread>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/files/guarded_tree.hpp"

namespace trainrt::launch {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::vector<int> missing_by_roll_call(const std::string& shared_dir, const std::string& id, int rank, int size) {
  const auto existing = fs::path(shared_dir);
  const auto board = existing / (".trainrt-here-" + id);
  std::error_code error;
  if (shared_dir.empty() || !fs::is_directory(existing, error)) return {};
  const GuardedTree guarded(shared_dir);
  at_entry(board, [](int directory, const char* name) { return mkdirat(directory, name, 0777); });
  const int mine = open_guarded(board / std::to_string(rank), O_WRONLY | O_CREAT);
  if (mine < 0) return {};
  close(mine);
  std::this_thread::sleep_for(2s);  // all waits began with the same fence; this is for stragglers and slow attribute caches
  std::vector<int> missing;
  for (int other = 0; other < size; ++other)
    if (!fs::exists(board / std::to_string(other), error)) missing.push_back(other);
  std::this_thread::sleep_for(1s);  // the others look before the board goes
  fs::remove_all(board, error);
  return missing;
}

}  // namespace trainrt::launch
