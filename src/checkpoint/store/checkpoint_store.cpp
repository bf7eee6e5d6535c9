#include <algorithm>
#include <exception>
#include <filesystem>
#include <optional>
#include <set>
#include <trainrt/checkpoint_store.hpp>
#include <trainrt/error.hpp>
#include <utility>

#include "checkpoint/collective.hpp"
#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/layout.hpp"
#include "checkpoint/load/load.hpp"
#include "checkpoint/save/private_directory.hpp"
#include "checkpoint/save/results.hpp"
#include "checkpoint/save/retention.hpp"
#include "checkpoint/save/saver.hpp"
#include "comm/backend.hpp"
#include "core/fault_point.hpp"
#include "core/files/guarded_tree.hpp"
#include "core/output/log.hpp"
#include "core/rank_zero.hpp"
#include "io/files/file.hpp"

namespace trainrt {

namespace {

void check_input(const std::string& directory, const CheckpointStoreOptions& options) {
  if (directory.empty()) throw UsageError("CheckpointStore: the directory name is empty");
  if (options.io_threads < 1)
    throw UsageError("CheckpointStoreOptions::io_threads is " + std::to_string(options.io_threads) +
                     "; it must be at least 1");
  if (options.num_to_keep < 0)
    throw UsageError("CheckpointStoreOptions::num_to_keep is " + std::to_string(options.num_to_keep) +
                     "; it must be 0 (keep all) or more");
}

std::function<void(const std::string&)> sink_of(const CheckpointStoreOptions& options, const Communicator& communicator) {
  if (options.say) return options.say;
  if (communicator.size() == 1) return log::warning;
  return
      [prefix = checkpoint::rank_and_host(communicator)](const std::string& text) { log::warning(prefix + ": " + text); };
}

/// Returns a copy of the State's entries in the form that is stored in a checkpoint: values declared with part_of_sum()
/// become tensors. The copy refers to the same memory.
State as_stored(const State& state) {
  State stored;
  stored.append(state);
  return stored;
}

CheckpointInfo info_of(const checkpoint::Meta& meta, std::string directory) {
  return {meta.number, std::move(directory), meta.ranks, meta.created, meta.metrics, meta.metadata};
}

}  // namespace

class CheckpointStore::Impl {
 public:
  Impl(const std::string& directory, Communicator& communicator, const CheckpointStoreOptions& options)
      : communicator_(communicator), rank_zero_(communicator.rank()), say_(sink_of(options, communicator)) {
    check_input(directory, options);
    meet(directory);
    const auto files = checkpoint::files_of_ranks(options.files, comm::nodes_of_ranks(communicator));
    checkpoint::on_every_rank(communicator, [&] {
      saver_ = std::make_unique<checkpoint::Saver>(saver_options(options, files), communicator);
      return std::string();
    });
  }

  ~Impl() {
    const bool all_here = std::uncaught_exceptions() <= exceptions_;
    try {
      if (all_here && saver_->in_flight() && broken_.empty()) settle();
    } catch (const std::exception& error) {
      rank_zero_.run([&] { say_(error.what()); });
    }
    const bool ended = !saver_->in_flight();
    saver_.reset();  // blocks until the background work after commits has ended
    if (ended) rank_zero_.run([&] { remove_private_dir(); });
  }

  std::optional<CheckpointInfo> restore(const State& state) {
    settle_all();
    const auto loaded = checkpoint::load_latest(state, directory_, communicator_);
    if (!loaded) return std::nullopt;
    saver_->restored(loaded->meta.number);
    saver_->know_as_damaged(loaded->damaged);
    next_number_ = std::max(next_number_, loaded->meta.number + 1);
    rank_zero_.run([&] {
      for (const auto& text : loaded->skipped) say_(text);
      for (const auto& text : loaded->notes) say_(text);
    });
    return info_of(loaded->meta, loaded->directory);
  }

  void save(const State& state, const std::map<std::string, double>& metrics, const std::string& metadata) {
    settle();
    checkpoint::from_root(communicator_, [&] {
      checkpoint::check_metadata(metadata);
      return std::string();
    });
    checkpoint::Saver::Request request;
    request.meta.number = next_number_++;
    request.meta.ranks = communicator_.size();
    request.meta.metrics = metrics;
    request.meta.metadata = metadata;
    if (const auto failed = saver_->start(state, std::move(request))) take(*failed);
  }

  std::optional<CheckpointInfo> wait() {
    settle_all();
    if (last_.empty()) return std::nullopt;
    const auto manifest =
        checkpoint::from_root(communicator_, [&] { return io::read_file(last_ + "/" + checkpoint::manifest_name); });
    return info_of(checkpoint::manifest_from(manifest, last_).meta, last_);
  }

 private:
  /// Sends the absolute path of the run directory, and the list of its checkpoints, from rank 0 to all ranks: a
  /// relative path could name different directories on different ranks. Collective.
  void meet(const std::string& directory) {
    const auto text = checkpoint::from_root(communicator_, [&] {
      auto path = std::filesystem::absolute(directory).lexically_normal().string();
      while (path.size() > 1 && path.back() == '/') path.pop_back();
      checkpoint::remove_abandoned(path, say_);
      checkpoint::Packer packer;
      packer.put(path).put(checkpoint::private_directory_name());
      for (const auto number : checkpoint::numbers_in(path)) packer.put(number);
      return packer.bytes();
    });
    checkpoint::Unpacker unpacker(text);
    directory_ = unpacker.text();
    guarded_.emplace(directory_);
    private_dir_ = directory_ + "/" + unpacker.text();
    while (!unpacker.done()) listed_.insert(unpacker.number());
    next_number_ = checkpoint::number_after(listed_.empty() ? -1 : *listed_.rbegin(), directory_);
  }

  checkpoint::SaverOptions saver_options(const CheckpointStoreOptions& options, const std::vector<int>& files) const {
    checkpoint::SaverOptions saver;
    saver.run_dir = directory_;
    saver.private_dir = private_dir_;
    saver.file_of_rank = files;
    saver.known = listed_;
    if (options.num_to_keep > 0)
      saver.retention = checkpoint::Retention{options.num_to_keep, options.score_attribute, options.maximize};
    saver.writer.staging_bytes = options.staging_bytes;
    saver.writer.threads = options.io_threads;
    saver.writer.read_back = options.read_back;
    saver.writer.observer = [](checkpoint::Phase phase) { fault_point(checkpoint::name_of(phase)); };
    saver.writer.warn = say_;
    saver.writer.staging_limit = "CheckpointStoreOptions::staging_bytes";
    return saver;
  }

  void remove_private_dir() const try { io::remove_tree(private_dir_); } catch (const std::exception& error) {
    say_(error.what());
  }

  /// Waits until the save in flight is complete. Throws Error if the save failed.
  void settle() {
    if (!broken_.empty()) throw Error(broken_);
    std::optional<checkpoint::SaveResult> result;
    try {
      result = saver_->finish();
    } catch (const std::exception& error) {
      // The failure is permanent: another program owns the run directory, or a rank or the storage has been lost.
      broken_ = error.what();
      throw;
    }
    if (result) take(*result);
  }

  void take(const checkpoint::SaveResult& result) {
    if (!result.committed)
      throw Error("checkpoint '" + directory_ + "/" + checkpoint::directory_name(result.number) +
                  "' was not saved: " + result.error);
    last_ = result.directory;
  }

  /// Waits until the save in flight and the background work after commits are complete. Collective.
  void settle_all() {
    settle();
    checkpoint::on_every_rank(communicator_, [&] {
      saver_->drain();
      return std::string();
    });
  }

  Communicator& communicator_;
  RankZero rank_zero_;
  std::function<void(const std::string&)> say_;
  int exceptions_ = std::uncaught_exceptions();
  std::string directory_;
  std::optional<GuardedTree> guarded_;  // guard that refuses symbolic links in the run directory
  std::string private_dir_;
  std::set<std::int64_t> listed_;  // numbers of the checkpoints that existed at construction
  std::int64_t next_number_ = 0;
  std::string last_;    // directory of the checkpoint committed last
  std::string broken_;  // reason why this store can no longer save checkpoints; "" if it can
  std::unique_ptr<checkpoint::Saver> saver_;
};

CheckpointStore::CheckpointStore(Checked, std::string directory, Communicator& communicator, CheckpointStoreOptions options)
    : impl_(std::make_unique<Impl>(directory, communicator, options)) {}

CheckpointStore::~CheckpointStore() = default;

std::optional<CheckpointInfo> CheckpointStore::restore(const State& state) { return impl_->restore(as_stored(state)); }

void CheckpointStore::save(const State& state, const std::map<std::string, double>& metrics, const std::string& metadata) {
  impl_->save(as_stored(state), metrics, metadata);
}

std::optional<CheckpointInfo> CheckpointStore::wait() { return impl_->wait(); }

}  // namespace trainrt
