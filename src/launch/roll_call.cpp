#include "launch/roll_call.hpp"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace trainrt::launch {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

std::vector<int> missing_by_roll_call(const std::string& shared_dir, const std::string& id, int rank, int size) {
  const auto existing = fs::path(shared_dir);
  const auto board = existing / (".trainrt-here-" + id);
  std::error_code error;
  if (shared_dir.empty() || !fs::is_directory(existing, error)) return {};
  fs::create_directory(board, error);
  std::ofstream(board / std::to_string(rank)).put('\n');
  if (!fs::exists(board / std::to_string(rank), error)) return {};
  std::this_thread::sleep_for(2s);  // all waits began with the same fence; this is for stragglers and slow attribute caches
  std::vector<int> missing;
  for (int other = 0; other < size; ++other)
    if (!fs::exists(board / std::to_string(other), error)) missing.push_back(other);
  std::this_thread::sleep_for(1s);  // the others look before the board goes
  fs::remove_all(board, error);
  return missing;
}

}  // namespace trainrt::launch
