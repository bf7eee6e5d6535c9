#include "checkpoint/save/saver.hpp"

#include <algorithm>
#include <condition_variable>
#include <numeric>

#include "checkpoint/checkpoint_error.hpp"
#include "checkpoint/collective.hpp"
#include "checkpoint/save/agree.hpp"
#include "checkpoint/save/commit.hpp"
#include "core/host.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "io/storage_error.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::checkpoint {

namespace {

std::vector<int> one_file_per_rank(int ranks) {
  std::vector<int> files(static_cast<std::size_t>(ranks));
  std::iota(files.begin(), files.end(), 0);
  return files;
}

std::int64_t now_ms() { return static_cast<std::int64_t>(1000 * monotonic_seconds()); }

}  // namespace

/// The save in flight. A save is in flight from start() until its result is returned.
struct Saver::PendingSave {
  Request request;
  SavePaths paths;
  std::int64_t began_ms = 0;
  bool gathered = false;
};

/// The result of the last commit, which a background thread of rank 0 passes to the training thread of rank 0. Thread-safe.
struct Saver::LastCommit {
  std::mutex mutex;
  std::condition_variable changed;
  std::int64_t number = 0;  // number of the last save with a successful or failed commit; 0 before the first
  SaveResult result;

  void set(std::int64_t save, SaveResult what) {
    const std::lock_guard lock(mutex);
    number = save;
    result = std::move(what);
    changed.notify_all();
  }
  std::int64_t finished() {
    const std::lock_guard lock(mutex);
    return number;
  }
  SaveResult wait(std::int64_t save, double limit_s) {
    std::unique_lock lock(mutex);
    if (!changed.wait_for(lock, std::chrono::duration<double>(limit_s), [&] { return number >= save; }))
      throw SaveStalled("the commit of a checkpoint makes no progress: the storage does not respond", limit_s);
    return result;
  }
};

Saver::Saver(SaverOptions options, Communicator& communicator)
    : options_(std::move(options)),
      communicator_(communicator),
      rank_zero_(communicator.rank()),
      last_commit_(std::make_shared<LastCommit>()),
      missing_views_(options_.run_dir, view_aside(options_.private_dir)),
      writer_(options_.writer) {
  if (options_.file_of_rank.empty()) options_.file_of_rank = one_file_per_rank(communicator.size());
  agreement_ = std::make_unique<Agreement>(communicator, options_.file_of_rank);
}

Saver::~Saver() = default;

std::optional<SaveResult> Saver::start(const State& state, Request request) {
  state.bring_up_to_date();
  const auto paths = save_paths(options_.run_dir, options_.private_dir, request.meta.number);
  const auto began_ms = now_ms();
  SaveResult failure;  // the result if the preparation of the directory fails; set on rank 0 only
  failure.number = request.meta.number;
  rank_zero_.run([&] {
    try {
      make_private_dir();
      const auto file_bytes = plan_ ? plan_->file_bytes : 0;
      const int files = std::ranges::max(options_.file_of_rank) + 1;
      io::retried_in(options_.run_dir, [&] { prepare_work(paths, file_bytes, files); });
      if (request.meta.has_directory) prepare_files(paths);
      options_.writer.observer(Phase::prepared);
    } catch (const std::exception& error) {
      const auto lost = options_.makes_private_dir ? std::string() : lost_text(paths);
      failure.lost = !lost.empty();
      failure.error = failure.lost ? lost : rank_and_host(communicator_) + ": " + options_.writer.explain(error);
      failure.is_transient = io::is_transient(error);
      failure.is_full = io::is_full(error);
      failure.began_ms = began_ms;
      failure.ended_ms = now_ms();
    }
  });
  const auto& [number, conclude] = request.comparison;
  const auto agreed = agreement_->update(state, Agreement::Purpose::save, !failure.error.empty(), number ? number() : 0);
  if (number) conclude(agreed.alike);
  if (agreed.new_layout) plan(state);
  if (agreed.cannot_save) {
    auto result = unpacked_result(communicator_.broadcast_text(packed(failure), 0));
    if (result.lost) throw LostRun(result.error);
    return result;
  }
  ++started_;
  pending_ = std::make_unique<PendingSave>(PendingSave{std::move(request), paths, began_ms});
  value_names_.clear();
  for (const auto& value : state.values()) value_names_.push_back(value.name);
  writer_.begin(plan_, state, pending_->request.given, paths.work);
  if (pending_->request.meta.has_directory) require_readable();
  return std::nullopt;
}

void Saver::require_readable() {
  const auto check = [&] { return writer_.require_readable(), std::string(); };
  const auto failures = try_on_every_rank(communicator_, check, options_.writer.explain).failures;
  if (failures.empty()) return;
  finish();
  throw DirectoryFileUnreadable(join(failures, "; "));
}

/// Creates the private directory at the first save only. If the directory is missing at a later save, another attempt of
/// the run has removed it, so that it must not be created again.
void Saver::make_private_dir() {
  if (options_.makes_private_dir) io::make_directories(options_.private_dir);
  options_.makes_private_dir = false;
}

/// Computes the plan for writing this rank's shard file. If that fails on any rank, throws on all ranks, and the next save
/// tries again. Collective.
void Saver::plan(const State& state) try {
  on_every_rank(communicator_, [&] {
    plan_ = std::make_shared<const ShardPlan>(plan_shard(agreement_->layout(), state, communicator_.rank()));
    return std::string();
  });
  writer_.prepare(*plan_, state);
} catch (...) {
  agreement_->forget();
  throw;
}

void Saver::restored(std::int64_t number) {
  const std::lock_guard no_commit(commit_mutex_);
  options_.known.erase(options_.known.upper_bound(number), options_.known.end());
  options_.known.insert(number);  // not in `known` yet if the checkpoint was restored from a mirror
  may_retain_ = true;
}

void Saver::know_as_damaged(std::vector<std::int64_t> numbers) {
  const std::lock_guard no_commit(commit_mutex_);
  options_.known.insert(numbers.begin(), numbers.end());
  damaged_ = std::move(numbers);
}

void Saver::prepare(const State& state) {
  if (agreement_->update(state, Agreement::Purpose::plan).new_layout) plan(state);
}

Saver::Progress Saver::progress() const {
  return {.sealed = started_ - (writer_.is_sealed() ? 0 : 1), .finished = last_commit_->finished()};
}

void Saver::finish_writes() {
  if (!writer_.is_sealed()) writer_.wait();
}

std::optional<SaveResult> Saver::advance(Progress of_all) {
  if (!pending_) return std::nullopt;
  if (!pending_->gathered && of_all.sealed >= started_) gather();
  if (pending_->gathered && of_all.finished >= started_) return conclude();
  return std::nullopt;
}

std::optional<SaveResult> Saver::finish() {
  if (!pending_) return std::nullopt;
  if (!pending_->gathered) gather();
  return conclude();
}

/// Waits until all bytes of this rank are durable or a write has failed, gathers the results of all ranks, and starts the
/// commit on rank 0. Throws Error on all ranks if the writes of any rank make no progress. Collective.
void Saver::gather() {
  const auto wait = [&] {
    auto mine = writer_.wait();
    if (!mine.failure.empty()) mine.failure = rank_and_host(communicator_) + ": " + mine.failure;
    return packed(mine);
  };
  const auto sealed = on_every_rank(communicator_, wait, options_.writer.explain);
  pending_->gathered = true;
  options_.writer.observer(Phase::gathered);
  rank_zero_.run([&] { commit_gathered(sealed); });
}

void Saver::commit_gathered(const std::vector<std::string>& sealed) {
  std::vector<Sealed> parts;
  for (const auto& bytes : sealed) parts.push_back(unpacked_sealed(bytes));
  auto work = std::make_shared<Commit>();
  work->paths = pending_->paths;
  work->meta = pending_->request.meta;
  work->layout = agreement_->layout();
  work->value_names = value_names_;
  work->before = pending_->request.before_commit;
  work->file_bytes.resize(static_cast<std::size_t>(work->layout.files()));
  for (std::size_t rank = 0; rank < parts.size(); ++rank) {
    work->file_bytes[static_cast<std::size_t>(work->layout.file_of_rank[rank])] = parts[rank].file_bytes;
    work->parts.push_back(std::move(parts[rank]));
  }
  commit_in_background(std::move(work), pending_->began_ms);
}

void Saver::commit_in_background(std::shared_ptr<const Commit> work, std::int64_t began_ms) {
  writer_.workers().submit([this, work = std::move(work), number = started_, began_ms] {
    const std::lock_guard one_at_a_time(commit_mutex_);
    SaveResult result;
    result.began_ms = began_ms;
    result.number = work->meta.number;
    try {
      result.bytes = commit(*work, options_.writer.observer);
      result.committed = true;
      result.directory = work->paths.final;
    } catch (const LostRun& error) {
      result.lost = true;
      result.error = error.what();
    } catch (const std::exception& error) {
      result.error = options_.writer.explain(error);
      result.is_transient = io::is_transient(error);
      result.is_full = io::is_full(error) || std::ranges::any_of(work->parts, &Sealed::is_full);
      const bool own =
          std::all_of(work->parts.begin(), work->parts.end(), [](const Sealed& p) { return p.failure.empty(); });
      if (own) result.error = rank_and_host(communicator_) + ": " + result.error;
    }
    result.ended_ms = now_ms();
    last_commit_->set(number, result);
    if (result.committed) follow_up(*work);
  });
}

SaveResult Saver::conclude() {
  const auto wait = [&] { return packed(last_commit_->wait(started_, options_.writer.stuck_s)); };
  auto result = unpacked_result(from_root(communicator_, wait, options_.writer.explain));
  pending_.reset();
  if (result.lost) throw LostRun(result.error);
  return result;
}

SaveResult save(const State& state, const SaverOptions& options, const Meta& meta, Communicator& communicator) {
  Saver saver(options, communicator);
  const auto failed = saver.start(state, {meta, {}});
  auto result = failed ? *failed : saver.finish().value();
  on_every_rank(communicator, [&] {  // state.h5 must exist when save() returns on any rank
    saver.drain();
    return std::string();
  });
  return result;
}

}  // namespace trainrt::checkpoint
