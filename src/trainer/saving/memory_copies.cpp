#include "trainer/saving/memory_copies.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "checkpoint/save/agree.hpp"
#include "comm/agreement.hpp"
#include "core/descriptor.hpp"
#include "core/environment.hpp"
#include "core/output/log.hpp"
#include "core/process/memory.hpp"
#include "core/text/byte_size.hpp"
#include "trainer/ending/advice.hpp"

namespace trainrt::trainer {

namespace {

constexpr double max_share = 0.015;  // maximum fraction of time for copies; slower steps after copies make it 2 %

/// Returns the maximum size of all copies, in bytes. The default is not a share of the free memory, since copies of an
/// earlier attempt may already use memory.
std::uint64_t max_bytes(const config::RunSpec& spec) {
  return spec.failure.memory_bytes > 0 ? spec.failure.memory_bytes : memory_limit() / 2;
}

/// Returns whether `file` is the memfd that the starting process has created, according to its name. Any other file
/// must not be used, since the ranks may truncate the file.
bool is_file_for_copies(int file) {
  std::error_code none;
  const auto target = std::filesystem::read_symlink(fmt::format("/proc/self/fd/{}", file), none).string();
  return target.starts_with(fmt::format("/memfd:{} ", copies_name));
}

}  // namespace

int file_for_copies() {
  static const int file = [] {
    const auto path = Environment::of_process().text(copies_variable).value_or("");
    unsetenv(copies_variable);
    Descriptor opened(path.empty() ? -1 : open(path.c_str(), O_RDWR | O_CLOEXEC));
    struct stat status {};
    const bool is_own = opened && fstat(opened.get(), &status) == 0 && status.st_uid == geteuid();
    return is_own && is_file_for_copies(opened.get()) ? opened.release() : -1;
  }();
  return file;
}

MemoryCopies::MemoryCopies(const config::RunSpec& spec, const std::string& run_id, Communicator& communicator, int file,
                           double (*clock)())
    : spec_(spec), run_id_(run_id), communicator_(communicator), file_(file), clock_(clock) {}

std::optional<checkpoint::CopyNote> MemoryCopies::begin(const State& state) {
  const auto& failure = spec_.failure;
  if (failure.recovery != config::Recovery::live || failure.max_failures == 0 || !open(state)) return std::nullopt;
  return copies_->newest();
}

/// Opens the file for copies of `state`. Returns false, and logs why, if no copies can be made. Collective.
bool MemoryCopies::open(const State& state) {
  try {
    checkpoint::require_alike(state, communicator_);
  } catch (const Error& error) {
    throw comm::AgreedError(with_advice(error), error.code());
  }
  std::string reason = "the ranks must be on one node, and be started by `trainrt -n` or `trainrt supervise`";
  if (comm::agree_min_max(communicator_, file_, "file for copies of the State").min >= 0) {
    if (!copies_) copies_.emplace(file_, run_id_, communicator_);
    reason = copies_->open(state, max_bytes(spec_));
  }
  if (reason.empty()) return true;
  copies_.reset();
  log::run_warning(
      fmt::format("no copies of the State are made in memory (failure.recovery = live): {}. After a failure, the run "
                  "continues from its newest checkpoint",
                  reason));
  return false;
}

void MemoryCopies::begin_training(bool from_copy) {
  if (!copies_) return;
  copies_->begin_from_copy(from_copy);
  copied_at_s_ = clock_();
  if (!from_copy) log::info(fmt::format("copies of the State in memory take {}", byte_size(copies_->file_bytes())));
}

void MemoryCopies::stop() {
  if (!copies_) return;
  copies_->close();
  copies_.reset();
  log::info(
      "no further copies of the State are made in memory, because a copy would lack the directories that report() passes");
}

bool MemoryCopies::is_due(bool may_copy) { return copies_ && ++point_ >= due_at_ && may_copy; }

void MemoryCopies::copy(const State& state, const checkpoint::CopyNote& note) {
  const double begin_s = clock_();
  const bool is_complete = copies_->copy(state, note);
  if (schedule_next(clock_() - begin_s, is_complete)) {
    was_opened_again_ = false;
    return;
  }
  if (was_opened_again_) {
    copies_->close();
    copies_.reset();
    log::run_warning(
        "no further copies of the State are made in memory: the values of the State and the reported metrics take too "
        "much room. Store large values as tensors");
    return;
  }
  if (!open(state)) return;
  copies_->newest();
  was_opened_again_ = true;
  due_at_ = point_ + 1;  // the same on all ranks, since all ranks know that a copy is incomplete
}

/// Determines when the next copy is due, after a copy that took `copy_s` seconds on this rank. All ranks use the longest
/// copy, and the shortest time per step. Returns whether the copy is complete on all ranks. Collective.
bool MemoryCopies::schedule_next(double copy_s, bool is_complete) {
  const double now_s = clock_();
  const double step_s = std::max(0.0, now_s - copied_at_s_ - copy_s) / static_cast<double>(point_ - copied_at_);
  std::array<double, 3> slowest{copy_s, -step_s, is_complete ? 0.0 : 1.0};
  communicator_.all_reduce(slowest, Op::max, "duration of the copy of the State in memory");
  constexpr double min_step_s = 1e-7, max_points = 1e9;
  const double points = std::ceil(slowest[0] / (max_share * std::max(min_step_s, -slowest[1])));
  // At most twice the last interval, since a single copy may take long by chance.
  const auto max_next = 2 * static_cast<double>(due_at_ - copied_at_);
  copied_at_ = point_;
  copied_at_s_ = now_s;
  due_at_ = point_ + static_cast<std::int64_t>(std::clamp(std::min(points, max_next), 1.0, max_points));
  return slowest[2] == 0;
}

}  // namespace trainrt::trainer
