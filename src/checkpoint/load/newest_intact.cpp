#include "checkpoint/load/newest_intact.hpp"

#include <algorithm>
#include <trainrt/error.hpp>

#include "checkpoint/checkpoint_error.hpp"
#include "checkpoint/collective.hpp"
#include "checkpoint/device_memory.hpp"
#include "checkpoint/format/listing.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/other_files.hpp"
#include "core/text/text.hpp"

namespace trainrt::checkpoint {

namespace {

using Lines = std::vector<std::string>;

std::string summary(const Lines& findings) { return join(abbreviated(findings), "; "); }

/// Tries to load one checkpoint into the State. Returns one line per damage; empty if the checkpoint was loaded. Sets
/// `is_transient` if an error was a temporary storage error. Collective.
Lines load_one(const CheckpointCandidate& candidate, const LoadTargets& wanted, const CheckContents& accept,
               Communicator& communicator, Loaded& loaded, bool& is_transient) {
  const auto& directory = candidate.directory;
  const auto read =
      CandidateManifest::unpacked(from_root(communicator, [&] { return read_candidate(candidate).packed(); }));
  is_transient = is_transient || read.is_transient;
  if (!read.finding.empty()) return {read.finding};
  loaded.manifest = manifest_from(read.text, directory + "/" + manifest_name);
  StateFiller reader(directory, loaded.manifest, wanted, communicator);
  auto findings = reader.fetch_indices();
  if (findings.empty()) {
    accept(directory, loaded.manifest, reader.contents());
    findings = reader.read();
  }
  if (!findings.empty()) {
    is_transient = reader.is_transient() || is_transient;
    return findings;
  }
  reader.install();
  loaded.contents = reader.contents();
  loaded.result.meta = loaded.manifest.meta;
  loaded.result.directory = directory;
  return {};
}

std::string last_name(const std::string& path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::optional<Loaded> load_newest_intact(const std::vector<CheckpointCandidate>& candidates, LoadTargets wanted,
                                         const CheckContents& accept, Communicator& communicator,
                                         SkippedCheckpoints& skipped) {
  on_every_rank(communicator, [&] {
    for (const auto* entry : wanted.tensors) wanted.gpus.push_back(gpu_of(*entry, device::runtime()));
    return std::string();
  });
  std::vector<std::int64_t> damaged;
  for (const auto& candidate : candidates) {
    Loaded loaded;
    const auto findings = load_one(candidate, wanted, accept, communicator, loaded, skipped.is_transient);
    if (findings.empty()) {
      loaded.result.skipped = abbreviated(skipped.lines);
      loaded.result.damaged = std::move(damaged);
      return loaded;
    }
    skipped.lines.push_back(last_name(candidate.directory) + ": " + summary(findings));
    if (candidate.number) damaged.push_back(*candidate.number);
  }
  return std::nullopt;
}

Lines find_damage(const std::string& run_dir, std::int64_t number, Communicator& communicator) {
  SkippedCheckpoints skipped;
  const CheckContents any = [](const std::string&, const Manifest&, const Contents&) {};
  load_newest_intact(candidates_of(run_dir, {number}), {}, any, communicator, skipped);
  if (skipped.is_transient)
    throw Error("cannot read the checkpoint that the run finished with: " + summary(skipped.lines) +
                ". The storage reports temporary errors. Run the same command again");
  return skipped.lines;
}

std::vector<CheckpointCandidate> candidates_in(const std::string& run_dir, Communicator& communicator) {
  const auto packed = from_root(communicator, [&] {
    Packer packer;
    for (const auto number : numbers_in(run_dir)) packer.put(number);
    return packer.bytes();
  });
  std::vector<std::int64_t> numbers;
  for (Unpacker unpacker(packed); !unpacker.done();) numbers.push_back(unpacker.number());
  return candidates_of(run_dir, numbers);
}

std::vector<CheckpointCandidate> candidates_of(const std::string& run_dir, const std::vector<std::int64_t>& numbers) {
  std::vector<CheckpointCandidate> candidates;
  for (const auto number : numbers) candidates.push_back({run_dir + "/" + directory_name(number), number});
  std::reverse(candidates.begin(), candidates.end());
  return candidates;
}

Lines abbreviated(Lines findings) {
  constexpr std::size_t max_listed = 8;
  if (findings.size() <= max_listed) return findings;
  const auto more = findings.size() - max_listed;
  findings.resize(max_listed);
  findings.push_back("and " + std::to_string(more) + " more");
  return findings;
}

LoadTargets all_entries(const State& state) {
  LoadTargets wanted;
  for (const auto& entry : state.tensors()) {
    wanted.tensors.push_back(&entry);
    wanted.check_first = wanted.check_first || entry.optional;
  }
  // Values need not be verified before they are read: they are read into separate memory, and install() copies them to the
  // State after everything has been verified.
  for (const auto& entry : state.values()) wanted.values.push_back(&entry);
  return wanted;
}

CheckContents require_same_model(const State& state, Communicator& communicator, Covers covers) {
  return [&, covers](const std::string& directory, const Manifest& manifest, const Contents& contents) {
    const auto lines = distinct_lines(communicator, [&] {
      auto mine = differences(state, contents.items(), covers);
      const auto files = file_differences(state, manifest, communicator.rank());
      mine.insert(mine.end(), files.begin(), files.end());
      return mine;
    });
    if (lines.empty()) return;
    if (covers == Covers::part)
      throw UsageError("cannot load from '" + directory + "': it does not have the requested entries:\n  " +
                       join(lines, "\n  "));
    const auto text = "cannot restore from '" + directory +
                      "': its contents do not match the State, so a different model wrote it:\n  " + join(lines, "\n  ") +
                      "\nStart the run with the model that wrote the checkpoint.";
    throw StateDiffers(text, directory, lines);
  };
}

LoadResult finish_load(const State& state, Loaded loaded, Communicator& communicator) {
  auto& result = loaded.result;
  // Rank 0 restores its files first. If all ranks share a file, the other ranks then need not write it.
  for (const bool first : {true, false})
    on_every_rank(communicator, [&] {
      if ((communicator.rank() == 0) == first) restore_files(state, result.directory, loaded.manifest, communicator.rank());
      return std::string();
    });
  const auto view = from_root(communicator, [&] { return std::string(has_view(result.directory) ? "1" : ""); });
  if (view.empty())
    result.notes.push_back(
        "state.h5 is missing, because writing it failed, or the run was killed before. The run writes this file after the "
        "next save");
  return std::move(result);
}

}  // namespace trainrt::checkpoint
