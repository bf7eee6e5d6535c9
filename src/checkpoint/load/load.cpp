#include "checkpoint/load/load.hpp"

#include <algorithm>
#include <filesystem>

#include <trainrt/error.hpp>

#include "checkpoint/collective.hpp"
#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/missing_checkpoint.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/load/all_damaged.hpp"
#include "checkpoint/load/newest_intact.hpp"
#include "core/files/similar_directory.hpp"
#include "core/text/name_patterns.hpp"
#include "core/text/text.hpp"
#include "io/files/file.hpp"

namespace trainrt::checkpoint {

bool selects(const Selection& selection, const std::string& name) {
  return selection.patterns.empty() || is_selected_by(selection.patterns, name);
}

namespace {

std::optional<LoadResult> load_newest(const State& state, const std::string& run_dir,
                                      const std::vector<CheckpointCandidate>& candidates, Communicator& communicator,
                                      Covers covers = Covers::all, Fill fill = Fill::while_reading) {
  SkippedCheckpoints skipped;
  auto wanted = all_entries(state);
  wanted.check_first = wanted.check_first || fill == Fill::when_checked;
  auto loaded = load_newest_intact(candidates, std::move(wanted), require_same_model(state, communicator, covers),
                                   communicator, skipped);
  if (loaded) {
    for (const auto& entry : state.tensors())
      if (loaded->contents.find(entry.name) == nullptr) loaded->result.untouched.insert(entry.name);
    return finish_load(state, std::move(*loaded), communicator);
  }
  if (skipped.lines.empty()) return std::nullopt;
  refuse_damaged("cannot restore from '" + run_dir + "': all its checkpoints are damaged:", run_dir,
                 "A restart does not help. Restore a checkpoint from a backup and run the same command again.", candidates,
                 skipped, communicator);
}

}  // namespace

std::optional<LoadResult> load_latest(const State& state, const std::string& run_dir, Communicator& communicator) {
  return load_newest(state, run_dir, candidates_in(run_dir, communicator), communicator);
}

std::optional<LoadResult> load_latest(const State& state, const std::string& run_dir,
                                      const std::vector<std::int64_t>& numbers, Communicator& communicator, Covers covers,
                                      Fill fill) {
  return load_newest(state, run_dir, candidates_of(run_dir, numbers), communicator, covers, fill);
}

namespace fs = std::filesystem;

namespace {

std::string without_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

/// Returns whether the directory is a checkpoint, possibly a damaged one: it has a manifest, or a name such as
/// checkpoint_000012.
bool is_checkpoint(const std::string& path) {
  return io::exists(path + "/" + manifest_name) || number_of(path.substr(path.rfind('/') + 1)).has_value();
}

/// Returns whether `path` is the directory of a "checkpoint" or of a "run". Throws UsageError if the path is anything else.
std::string kind_of(const std::string& path) {
  const auto fail = [&](const std::string& what) {
    throw UsageError("cannot load from '" + path + "': " + what +
                     "; give the directory of a checkpoint (checkpoint_000012) or of a run");
  };
  std::error_code error;
  const auto status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    if (const auto checkpoints = existing_checkpoints(path); !checkpoints.empty())
      fail("it does not exist; " + checkpoints);
    const auto similar = similar_directory(path, run_markers);
    fail("it does not exist" + (similar.empty() ? "" : " (did you mean '" + similar + "'?)"));
  }
  if (error) fail(error.message());
  if (status.type() != fs::file_type::directory) fail("it is a file");
  if (is_checkpoint(path)) return "checkpoint";
  if (!numbers_in(path).empty()) return "run";
  fail("it is a directory without " + manifest_name + " and without checkpoints");
  return "";
}

std::vector<CheckpointCandidate> candidates_at(const std::string& path, Communicator& communicator) try {
  if (from_root(communicator, [&] { return kind_of(path); }) == "run") return candidates_in(path, communicator);
  return {{path, std::nullopt}};
} catch (const Error& error) {
  // from_root() throws Error on all ranks, with the exit code of the exception on rank 0 but without its type.
  if (error.code() == ExitCode::usage) throw UsageError(error.what());
  throw;
}

std::vector<Item> items_of(const State& state) {
  std::vector<Item> items;
  for (const auto& entry : state.tensors()) items.push_back(item_of(entry));
  for (const auto& entry : state.values()) items.push_back(item_of(entry));
  return items;
}

/// Applies the name patterns of a Selection to a State and to a checkpoint.
class Partial {
 public:
  Partial(const State& state, const Selection& selection, Communicator& communicator)
      : state_(state), selection_(selection), communicator_(communicator) {}

  LoadTargets wanted() const {
    LoadTargets wanted;
    for (const auto& entry : state_.tensors())
      if (selects(selection_, entry.name)) wanted.tensors.push_back(&entry);
    for (const auto& entry : state_.values())
      if (selects(selection_, entry.name)) wanted.values.push_back(&entry);
    // The checkpoint is verified before anything is copied. Otherwise data of a damaged checkpoint could remain in entries
    // that the next older checkpoint lacks.
    wanted.check_first = true;
    return wanted;
  }

  void accept(const std::string& directory, const Contents& contents) const {
    const auto lines = distinct_lines(communicator_, [&] { return misfits(contents); });
    if (!lines.empty())
      throw UsageError("cannot load from '" + directory + "': selected entries differ between checkpoint and State:\n  " +
                       join(lines, "\n  ") + "\nExclude these names with a pattern '!NAME', or change the model.");
    const auto nothing = distinct_lines(communicator_, [&]() -> std::vector<std::string> {
      PartialResult result;
      sort_out(contents, result);
      if (!result.taken.empty()) return {};
      return {nothing_text(contents)};
    });
    if (!nothing.empty()) throw UsageError("cannot load from '" + directory + "': " + nothing.front());
  }

  void sort_out(const Contents& contents, PartialResult& result) const {
    std::set<std::string> own;
    for (const auto& item : items_of(state_)) {
      if (!selects(selection_, item.name) || !own.insert(item.name).second) continue;
      (contents.find(item.name) != nullptr ? result.taken : result.missing).push_back(item.name);
    }
    for (const auto& item : contents.items())
      if (selects(selection_, item.name) && !own.contains(item.name)) result.unused.push_back(item.name);
  }

 private:
  std::vector<std::string> misfits(const Contents& contents) const {
    std::vector<std::string> lines;
    for (const auto& item : items_of(state_)) {
      const auto* found = contents.find(item.name);
      if (found == nullptr || !selects(selection_, item.name) || fits(item, *found)) continue;
      auto line =
          "'" + item.name + "' is " + describe(*found) + " in the checkpoint but " + describe(item) + " in the State";
      if (lines.empty() || lines.back() != line) lines.push_back(std::move(line));
    }
    return lines;
  }

  static std::string names_of(const std::vector<Item>& items) {
    constexpr std::size_t max_listed = 8;
    std::vector<std::string> names;
    for (const auto& item : items)
      if (!item.name.starts_with("trainrt/")) names.push_back("'" + item.name + "'");
    if (names.empty()) return "nothing";
    const auto more = names.size() > max_listed ? " and " + std::to_string(names.size() - max_listed) + " more" : "";
    names.resize(std::min(names.size(), max_listed));
    return join(names) + more;
  }

  std::string nothing_text(const Contents& contents) const {
    return "the patterns " + join(selection_.patterns) +
           " select no entry that is in both the checkpoint and the State; the checkpoint has " +
           names_of(contents.items()) + "; the State has " + names_of(items_of(state_));
  }

  const State& state_;
  const Selection& selection_;
  Communicator& communicator_;
};

Loaded load_whole(const std::vector<CheckpointCandidate>& candidates, const LoadTargets& wanted,
                  const CheckContents& accept, const std::string& path, Communicator& communicator) {
  SkippedCheckpoints skipped;
  auto loaded = load_newest_intact(candidates, wanted, accept, communicator, skipped);
  if (loaded) return std::move(*loaded);
  throw UsageError(confirm_damaged("cannot load from '" + path + "': it is damaged:", candidates, skipped, communicator) +
                   "A restart does not help. Restore the checkpoint from a backup, or load another one.");
}

}  // namespace

void require_loadable(const std::string& path) { static_cast<void>(kind_of(without_slashes(path))); }

PartialResult load_from(const State& state, const std::string& given, const Selection& selection,
                        Communicator& communicator) {
  const auto path = without_slashes(given);
  const auto candidates = candidates_at(path, communicator);
  const Partial partial(state, selection, communicator);
  PartialResult result;
  const bool all = selection.patterns.empty();
  const auto accept = all ? require_same_model(state, communicator, selection.covers)
                          : CheckContents([&](const std::string& directory, const Manifest&, const Contents& contents) {
                              partial.accept(directory, contents);
                            });
  auto loaded = load_whole(candidates, all ? all_entries(state) : partial.wanted(), accept, path, communicator);
  partial.sort_out(loaded.contents, result);
  result.loaded = finish_load(all ? state : State(), std::move(loaded), communicator);
  for (const auto& entry : state.tensors()) result.loaded.untouched.insert(entry.name);
  for (const auto& name : result.taken) result.loaded.untouched.erase(name);
  return result;
}

}  // namespace trainrt::checkpoint
