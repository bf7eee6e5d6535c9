#include "trainer/watching/replica_watch.hpp"

#include <algorithm>
#include <ranges>
#include <string>

#include <fmt/format.h>

#include "comm/agreement.hpp"
#include "core/mistake.hpp"
#include "core/output/log.hpp"
#include "core/process/cpus.hpp"
#include "core/text/text.hpp"

namespace trainrt::trainer {

namespace {

using DifferingTensor = checkpoint::ReplicaCheck::DifferingTensor;

constexpr std::size_t max_listed = 8;  // maximum number of tensors, and of ranks per tensor, in a message

std::string listed(const std::vector<int>& ranks) {
  if (ranks.empty()) return "some rank";  // ranks are determined only for the first differing tensors
  std::vector<std::string> names;
  for (const auto rank : ranks | std::views::take(max_listed)) names.push_back(std::to_string(rank));
  auto text = (ranks.size() == 1 ? "rank " : "ranks ") + join(names);
  if (ranks.size() > names.size()) text += fmt::format(" and {} more", ranks.size() - names.size());
  return text;
}

/// Returns a text that describes a tensor that differs between ranks: "'model/w' on rank 1 differs from the other ranks (it
/// was last equal at step 40)". `began_at` is the step at which the attempt began.
std::string described(const DifferingTensor& differing, std::int64_t began_at) {
  const auto since = differing.equal_at == began_at ? "when this attempt began, at step" : "at step";
  return fmt::format("'{}' on {} differs from the other ranks (it was last equal {} {})", differing.tensor,
                     listed(differing.ranks), since, differing.equal_at);
}

std::string described(const std::vector<DifferingTensor>& all, std::int64_t began_at, std::int64_t step) {
  if (all.empty())
    return fmt::format(
        "replicated tensors changed while the ranks compared them at step {}. Check whether another thread writes to them",
        step);
  auto text = fmt::format("replicated tensors differ between ranks at step {}: ", step);
  const auto count = std::min(all.size(), max_listed);
  for (std::size_t i = 0; i < count; ++i) text += (i == 0 ? "" : "; ") + described(all[i], began_at);
  if (all.size() > count) text += fmt::format("; and {} more", all.size() - count);
  return text;
}

}  // namespace

void ReplicaWatch::begin(const State& state, std::int64_t step) {
  if (spec_.checkpoint.replica_check == config::OnReplicaDifference::off || communicator_.size() == 1) return;
  began_at_ = step;
  check_.emplace(state, communicator_, step, threads_of_this_rank(spec_.checkpoint.io_threads));
}

checkpoint::Saver::Comparison ReplicaWatch::comparison(std::int64_t step) {
  if (!check_) return {};
  return {[this] { return check_->next_part(); },
          [this, step](bool alike) {
            const auto differing = check_->conclude(alike, step);
            if (!alike) judge(differing, step);
          }};
}

bool ReplicaWatch::is_due_at(std::int64_t step) const {
  return check_ && spec_.checkpoint.replica_check_every.steps > 0 && step % spec_.checkpoint.replica_check_every.steps == 0;
}

void ReplicaWatch::compare_all(std::int64_t step) {
  if (const auto compared = check_->compare_all(step); !compared.alike) judge(compared.differing, step);
}

void ReplicaWatch::judge(const std::vector<DifferingTensor>& differing, std::int64_t step) const {
  const auto difference = described(differing, began_at_, step);
  if (spec_.checkpoint.replica_check == config::OnReplicaDifference::warn)
    return log::run_warning(
        difference + "; the run continues (checkpoint.replica_check = warn) without further checks of these tensors");
  comm::AgreedError error(
      difference +
      ". No checkpoint was saved. Replicated tensors must be computed in the same way on all ranks: "
      "all-reduce gradients, derive random numbers from run.seed without the rank, or declare the tensor per_rank. "
      "Fix this and run the same command again, or set checkpoint.replica_check = warn to continue anyway");
  error.mistake = {std::string(mistake_kind::state_differs), difference};  // if the next attempt finds the same difference
  throw error;
}

}  // namespace trainrt::trainer
