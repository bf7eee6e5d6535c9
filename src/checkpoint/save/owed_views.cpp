#include "checkpoint/save/owed_views.hpp"

#include <ranges>
#include <trainrt/error.hpp>
#include <utility>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/format/directory.hpp"
#include "checkpoint/save/whole_view.hpp"
#include "checkpoint/view_check.hpp"
#include "io/file.hpp"

namespace trainrt::checkpoint {

OwedViews::OwedViews(std::string run_dir, std::string aside) : run_dir_(std::move(run_dir)), aside_(std::move(aside)) {}

void OwedViews::owe(const std::string& checkpoint_dir) {
  owed_.insert(checkpoint_dir);
  told_.insert(checkpoint_dir);
}

std::vector<std::string> OwedViews::settle() {
  std::vector<std::string> lines;
  try {
    if (!has_looked_) look();
  } catch (const Error& error) {
    lines.push_back(std::string("whole views of checkpoints (state.h5) may be missing: ") + error.what());
  }
  for (auto owed = owed_.begin(); owed != owed_.end();) try {
      if (io::exists(*owed)) restore_view(*owed, aside_);  // else it was deleted
      owed = owed_.erase(owed);
    } catch (const Error& error) {
      if (told_.insert(*owed).second)
        lines.push_back("the whole view of a checkpoint is missing: " + std::string(error.what()));
      ++owed;
    }
  return lines;
}

void OwedViews::look() {
  constexpr std::size_t newest = 16;
  for (const auto index : indices_in(run_dir_) | std::views::reverse | std::views::take(newest)) {
    const auto directory = run_dir_ + "/" + directory_name(index);
    if (!has_view(directory)) owed_.insert(directory);
  }
  has_looked_ = true;
}

}  // namespace trainrt::checkpoint
