#include <chrono>
#include <thread>
#include <trainrt/error.hpp>

#include "checkpoint/agree.hpp"
#include "checkpoint/collective.hpp"
#include "checkpoint/manifest.hpp"
#include "checkpoint/pack.hpp"
#include "checkpoint/phases.hpp"
#include "checkpoint/shard.hpp"
#include "checkpoint/whole_view.hpp"
#include "core/host.hpp"
#include "core/text.hpp"
#include "io/digest.hpp"
#include "io/file.hpp"

namespace trainrt::checkpoint {

namespace {

/// Where a checkpoint is written, and where it goes.
struct Place {
  std::string work;   ///< inside the private directory
  std::string final;  ///< inside the run directory
};

/// The one failure that is no dropped checkpoint.
class Lost : public Error {
 public:
  explicit Lost(const std::string& directory)
      : Error("cannot commit checkpoint '" + directory +
              "': it exists already, so another attempt owns this run now; this one must end") {}
};

/// Makes the directory that all ranks write into.
void prepare(const SaveOptions& options, const Place& place) {
  if (io::exists(place.final)) throw Lost(place.final);
  io::make_directories(options.private_dir);
  io::remove_tree(place.work);
  io::make_directories(place.work);
}

/// A directory that rank 0 made a moment ago shows up late on network file systems.
void await_directory(const std::string& path) {
  const auto until = monotonic_seconds() + 30;
  while (!io::exists(path)) {
    if (monotonic_seconds() > until)
      throw Error("cannot see '" + path +
                  "', which rank 0 made 30 s ago: is storage_path on a file system that all nodes share?");
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::string packed(const FileRecord& file) { return Packer().put(file.name).put(file.bytes).put(file.xxh3_128).bytes(); }

FileRecord unpacked(std::string_view bytes) {
  Unpacker unpacker(bytes);
  FileRecord file;
  file.name = unpacker.text();
  file.bytes = static_cast<std::uint64_t>(unpacker.number());
  file.xxh3_128 = unpacker.text();
  return file;
}

FileRecord write_view(const Place& place, const Layout& layout, const State& state) {
  const auto bytes = whole_view(layout, state);
  io::write_file(place.work + "/" + view_name, bytes);
  return {view_name, bytes.size(), io::digest_of(bytes)};
}

/// Gives the written directory its final name: the only commit point.
void commit(const SaveOptions& options, const Place& place, const Observer& observer) {
  io::sync_directory(place.work);
  observer(Phase::directory_synced);
  if (!io::rename_to_new(place.work, place.final)) throw Lost(place.final);
  observer(Phase::renamed);
  try {
    io::sync_directory(options.run_dir);
  } catch (const Error&) {
    io::rename_to_new(place.final, place.work);  // what may not last must not be taken for committed
    throw;
  }
  observer(Phase::committed);
}

/// What rank 0 does once all shards are durable. Returns the checkpoint's bytes.
std::uint64_t seal(const State& state, const SaveOptions& options, const Place& place, const Layout& layout,
                   const std::vector<std::string>& shards, const Observer& observer) {
  Manifest manifest{options.meta, {}};
  manifest.meta.ranks = layout.ranks;
  manifest.meta.created = utc_now();
  for (const auto& shard : shards) manifest.files.push_back(unpacked(shard));
  manifest.files.push_back(write_view(place, layout, state));
  observer(Phase::view_written);
  const auto text = to_text(manifest);
  io::write_file(place.work + "/" + manifest_name, text);
  observer(Phase::manifest_written);
  commit(options, place, observer);
  std::uint64_t bytes = text.size();
  for (const auto& file : manifest.files) bytes += file.bytes;
  return bytes;
}

/// Removes what a dropped checkpoint left behind; returns `why`, and what could not be removed.
std::string drop(const Place& place, std::string why) {
  try {
    io::remove_tree(place.work);
  } catch (const Error& error) {
    why += "; " + std::string(error.what());
  }
  return why;
}

/// Runs `work`; "" or why it failed and where. A lost commit is passed on.
std::string failure_of(const std::function<void()>& work, const Communicator& communicator) {
  try {
    work();
    return "";
  } catch (const Lost&) {
    throw;
  } catch (const std::exception& error) {
    return who(communicator) + ": " + error.what();
  }
}

}  // namespace

SaveResult save(const State& state, const SaveOptions& options, Communicator& communicator, const Observer& observer) {
  const auto name = directory_name(options.meta.index);
  const Place place{options.private_dir + "/" + name, options.run_dir + "/" + name};
  const auto layout = agree(state, communicator);

  // A text from rank 0: why the checkpoint is dropped, or "".
  const auto obstacle = from_root(communicator, [&] { return failure_of([&] { prepare(options, place); }, communicator); });
  SaveResult result;
  result.error = obstacle;
  if (!obstacle.empty()) return result;
  observer(Phase::prepared);

  const auto shards = try_on_every_rank(communicator, [&] {
    await_directory(place.work);
    const auto shard = write_shard(place.work, communicator.rank(), layout, state);
    observer(Phase::shard_written);
    return packed(shard);
  });
  observer(Phase::shards_gathered);

  std::uint64_t bytes = 0;
  const auto outcome = from_root(communicator, [&] {
    auto failure = join(shards.failures, "; ");
    if (failure.empty())
      failure = failure_of([&] { bytes = seal(state, options, place, layout, shards.texts, observer); }, communicator);
    if (!failure.empty()) failure = drop(place, failure);
    return Packer().put(failure).put(bytes).bytes();
  });
  Unpacker unpacker(outcome);
  result.error = unpacker.text();
  result.committed = result.error.empty();
  result.bytes = static_cast<std::uint64_t>(unpacker.number());
  if (result.committed) result.directory = place.final;
  return result;
}

SaveResult save(const State& state, const SaveOptions& options, Communicator& communicator) {
  return save(state, options, communicator, [](Phase) {});
}

}  // namespace trainrt::checkpoint
