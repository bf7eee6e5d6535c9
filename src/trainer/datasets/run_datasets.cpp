#include "trainer/datasets/run_datasets.hpp"

#include <algorithm>
#include <bit>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "comm/agreement.hpp"
#include "core/host.hpp"
#include "core/output/log.hpp"
#include "core/text/text.hpp"
#include "data/section/dataset_options.hpp"
#include "data/section/identity.hpp"
#include "data/section/open_dataset.hpp"
#include "data/section/prepare.hpp"
#include "data/source/skipping_reader.hpp"

namespace trainrt::trainer {

namespace {

/// Reports that a dataset has changed since the checkpoint was saved. Throws UsageError if the run stopped inside an epoch,
/// otherwise logs a warning. `difference` is a clause that describes the change.
void report_change(const data::DatasetPlan& plan, const std::string& difference, bool is_inside_epoch) {
  const auto changed = fmt::format("[data.{}] was changed since the checkpoint: {}", plan.name, difference);
  if (is_inside_epoch)
    throw UsageError(
        changed +
        "; the run stopped inside an epoch and cannot continue with the remaining samples. "
        "Restore the files and keys of the dataset, or start a new run (another run.name) from that checkpoint");
  log::run_warning(changed + "; the run continues with the new data");
}

std::int64_t hash_of(const std::string& text) { return std::bit_cast<std::int64_t>(stable_hash(text)); }

/// Compares the dataset's files and sample order with the texts `files` and `order` in the checkpoint, and calls
/// report_change() if they differ. A position in a dataset refers to the same samples only if both are equal. `order` is ""
/// if there is no checkpoint, or if an old version of trainrt wrote the checkpoint.
void require_same_order(const data::DatasetPlan& plan, const std::string& files, const std::string& order,
                        bool is_inside_epoch) {
  if (order.empty()) return;
  auto difference = data::difference_of_files(files, plan.files_text);
  if (!difference && order != plan.order_text)
    difference = fmt::format("it had {}, and now has {}", order, plan.order_text);
  if (difference) report_change(plan, *difference, is_inside_epoch);
}

/// Returns the Team of all ranks of the run. The ranks of a Team scan datasets and fit preprocessors together.
Team team_of(Communicator& communicator) {
  return {communicator.rank(), communicator.size(),
          [&communicator](const std::function<void()>& scan, std::span<std::int64_t> numbers) {
            comm::collectively(communicator, scan);
            communicator.all_reduce(
                numbers, Op::sum,
                "numbers of samples that a filter keeps");  // each number is set by one rank, and 0 on others
          },
          [&communicator](const std::function<std::string()>& make) {
            std::string mine;
            comm::collectively(communicator, [&] { mine = make(); });
            return communicator.all_gather(mine);
          }};
}

}  // namespace

RunDatasets::RunDatasets(const config::RunSpec& spec, Communicator& communicator, int workers, const Listings& listings,
                         const NodeShares& shares)
    : spec_(spec),
      communicator_(communicator),
      shard_{communicator.rank(), communicator.size(), workers},
      listings_(listings),
      shares_(shares) {
  for (const auto& [name, options] : spec_.data) cursors_[name];
}

void RunDatasets::pin_for(device::Runtime& gpus) {
  pinning_ =
      std::make_shared<const data::Pinning>(data::Pinning{[&gpus](std::span<std::byte> memory) { return gpus.pin(memory); },
                                                          [&gpus](std::span<std::byte> memory) { gpus.unpin(memory); }});
}

void RunDatasets::verify_files() {
  constexpr double min_reported_s = 10;
  for (const auto& [name, options] : spec_.data) {
    const auto& verification = verifications_[name] = data::verification_of(name, options, listings_.at(name));
    if (!verification->is_needed()) continue;
    const auto began_s = monotonic_seconds();
    verification->verify_together(team_of(communicator_));
    if (const auto seconds = monotonic_seconds() - began_s; seconds >= min_reported_s)
      log::info(fmt::format("[data.{}]: verified checksums of {} bytes in {:.0f} s; set verify = off to skip this", name,
                            verification->bytes(), seconds));
    const auto damages = verification->damages();
    if (damages.empty()) continue;
    const auto text = fmt::format("[data.{}]: {}", name, fmt::join(damages, "; "));
    if (!data::skips_errors(options)) comm::collectively(communicator_, [&] { throw UsageError(text); });
    log::run_warning(text + "; its samples are skipped");
  }
}

bool RunDatasets::need_preparation() const {
  return std::ranges::any_of(spec_.data, [&](const auto& section) {
    return data::needs_preparation(section.second, listings_.at(section.first));
  });
}

std::string RunDatasets::prepare(const std::string& stored) {
  const auto earlier = nlohmann::json::parse(stored, nullptr, false);
  auto fitted = nlohmann::json::object();
  for (const auto& [name, options] : spec_.data) {
    const auto& listing = listings_.at(name);
    if (!data::needs_preparation(options, listing)) continue;
    open(name);
    const auto known = earlier.is_object() && earlier.contains(name) ? earlier.at(name).dump() : "";
    const auto collectively = [&](const auto& call) { comm::collectively(communicator_, call); };
    const auto text = data::prepare(*opened_.at(name), options, listing, {.stored = known, .collectively = collectively});
    if (!text.empty()) fitted[name] = nlohmann::json::parse(text);
  }
  return fitted.empty() ? "" : fitted.dump();
}

Dataset RunDatasets::open(const std::string& name) {
  const auto open = opened_.find(name);
  if (open != opened_.end()) return Dataset(open->second);
  const auto section = spec_.data.find(name);
  if (section == spec_.data.end()) {
    std::vector<std::string> names;
    for (const auto& [known, options] : spec_.data) names.push_back(known);
    throw UsageError(fmt::format(
        "the train function requests the dataset '{}', but the config has no section [data.{}]{}; its datasets: {}", name,
        name, did_you_mean(name, names), names.empty() ? "none" : join(names)));
  }
  auto impl = data::open_dataset(name, section->second, listings_.at(name), shard_, spec_.run.seed, shares_.at(name),
                                 verifications_[name]);
  auto plan = impl->plan();
  plan.team = team_of(communicator_);
  plan.pinning = pinning_;
  impl->replace(std::move(plan));
  restore_position(*impl, cursors_[name]);
  if (limit_) impl->replace(data::first_samples(impl->plan(), *limit_));
  opened_.emplace(name, impl);
  return Dataset(impl);
}

void RunDatasets::limit(std::uint64_t samples) {
  limit_ = samples;
  for (auto& [name, impl] : opened_) impl->replace(data::first_samples(impl->plan(), samples));
}

void RunDatasets::attach(State& state) {
  for (auto& [name, cursor] : cursors_) {
    const auto folder = "trainrt/data/" + name + "/";
    state.value(folder + "in_progress", cursor.in_progress).optional = true;
    state.value(folder + "epoch", cursor.epoch).optional = true;
    state.value(folder + "position", cursor.position).optional = true;
    state.value(folder + "files", cursor.files).optional = true;
    state.value(folder + "order", cursor.order).optional = true;
    state.value(folder + "filter", cursor.filter).optional = true;
    if (!data::is_split(spec_.data.at(name))) state.tensor(folder + "own", cursor.own).per_rank().optional = true;
  }
}

void RunDatasets::restore_positions() {
  for (auto& [name, impl] : opened_) restore_position(*impl, cursors_[name]);
}

/// Returns the position in a dataset that is not split between ranks, as seven numbers: 1 (the position is known),
/// in_progress, epoch, position, and the hashes of files_text, order_text and steps_text().
RunDatasets::OwnPosition RunDatasets::own_position(const DatasetImpl& dataset) {
  const auto& cursor = dataset.walk().cursor();
  const auto& plan = dataset.plan();
  return {1,
          cursor.in_progress ? 1 : 0,
          cursor.epoch,
          cursor.position,
          hash_of(plan.files_text),
          hash_of(plan.order_text),
          hash_of(plan.steps_text())};
}

void RunDatasets::restore_position(DatasetImpl& dataset, const StoredCursor& stored) {
  if (!dataset.plan().is_split && stored.own[0] == 1) return restore_own_position(dataset, stored.own);
  if (stored.epoch >= 0) dataset.replace(data::with_legacy_shuffle(dataset.plan(), stored.order));
  require_same_order(dataset.plan(), stored.files, stored.order, stored.in_progress && stored.position > 0);
  dataset.walk().restore({stored.in_progress, stored.epoch, stored.position}, stored.filter);
}

void RunDatasets::restore_own_position(DatasetImpl& dataset, const OwnPosition& own) {
  const auto [known, in_progress, epoch, position, files, order, filter] = own;
  const auto* const difference = files != hash_of(dataset.plan().files_text) ? "its files on this rank are different"
                                 : order != hash_of(dataset.plan().order_text)
                                     ? "its samples on this rank, or their order, are different"
                                     : nullptr;
  if (epoch >= 0 && difference != nullptr) report_change(dataset.plan(), difference, in_progress != 0 && position > 0);
  dataset.walk().restore({in_progress != 0, epoch, position}, std::bit_cast<std::uint64_t>(filter));
}

double RunDatasets::waited_s() const {
  double seconds = 0;
  for (const auto& [name, impl] : opened_) seconds += impl->walk().waited_s();
  return seconds;
}

std::vector<std::pair<std::string, double>> RunDatasets::stages() const {
  std::vector<std::pair<std::string, double>> all;
  if (spec_.data.empty()) return all;
  for (std::size_t stage = 0; stage < data::stage_count; ++stage) {
    double seconds = 0;
    for (const auto& [name, impl] : opened_) seconds += impl->walk().stages().seconds()[stage];
    all.emplace_back(data::name_of(static_cast<data::Stage>(stage)), seconds);
  }
  double handed_over_s = 0;
  for (const auto& [name, impl] : opened_) handed_over_s += impl->walk().handed_over_s();
  all.emplace_back("handover", handed_over_s);
  return all;
}

bool RunDatasets::may_skip() const {
  return std::ranges::any_of(spec_.data, [](const auto& section) { return data::skips_errors(section.second); });
}

std::uint64_t RunDatasets::skipped() const {
  std::uint64_t count = 0;
  for (const auto& [name, impl] : opened_)
    if (const auto& skipping = impl->plan().skipping) count += skipping->skipped();
  return count;
}

void RunDatasets::warn_if_starving() {
  for (const auto& [name, impl] : opened_)
    if (const auto text = starvation_.check(name, impl->walk(), monotonic_seconds())) log::run_warning(*text);
}

void RunDatasets::update_positions() {
  for (auto& [name, cursor] : cursors_)
    if (cursor.own[0] == 0) cursor.own = {1, 0, -1};  // no epoch has begun on this rank
  for (const auto& [name, impl] : opened_) {
    auto& stored = cursors_[name];
    const auto& cursor = impl->walk().cursor();
    const auto& plan = impl->plan();
    if (plan.is_split)
      stored = {cursor.in_progress, cursor.epoch, cursor.position, plan.files_text, plan.order_text, plan.steps_text()};
    else
      stored.own = own_position(*impl);
  }
}

}  // namespace trainrt::trainer
