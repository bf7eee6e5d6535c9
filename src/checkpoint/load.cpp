#include <algorithm>
#include <trainrt/error.hpp>

#include "checkpoint/checkpoint.hpp"
#include "checkpoint/collective.hpp"
#include "checkpoint/contents.hpp"
#include "checkpoint/directory.hpp"
#include "checkpoint/manifest.hpp"
#include "checkpoint/pack.hpp"
#include "checkpoint/verify.hpp"
#include "core/text.hpp"

namespace trainrt::checkpoint {

namespace {

/// Indices of the run's checkpoints, the newest first, as rank 0 sees them.
std::vector<std::int64_t> candidates(const std::string& run_dir, Communicator& communicator) {
  const auto packed = from_root(communicator, [&] {
    Packer packer;
    for (const auto index : indices_in(run_dir)) packer.put(index);
    return packer.bytes();
  });
  std::vector<std::int64_t> indices;
  for (Unpacker unpacker(packed); !unpacker.done();) indices.push_back(unpacker.number());
  std::reverse(indices.begin(), indices.end());
  return indices;
}

/// A result of rank 0 that may be a finding instead: {finding, result}, one of them empty.
struct Found {
  std::string finding;
  std::string result;
};
Found found_by_root(Communicator& communicator, const std::function<std::string()>& work) {
  const auto packed = from_root(communicator, [&]() -> std::string {
    try {
      return Packer().put("").put(work()).bytes();
    } catch (const std::exception& error) {
      return Packer().put(error.what()).put("").bytes();
    }
  });
  Unpacker unpacker(packed);
  Found found;
  found.finding = unpacker.text();
  found.result = unpacker.text();
  return found;
}

/// Text of the manifest, once it is known to be a good one of that index.
std::string checked_manifest(const std::string& directory, std::int64_t index) {
  const auto manifest = read_manifest(directory);
  if (manifest.meta.index != index)
    throw Error("'" + directory + "' holds the checkpoint of index " + std::to_string(manifest.meta.index));
  return to_text(manifest);
}

/// Every rank checks its share of the files; all get everybody's findings.
std::string damage(const std::string& directory, const Manifest& manifest, Communicator& communicator) {
  const auto findings = on_every_rank(communicator, [&] {
    std::vector<std::string> mine;
    const auto step = static_cast<std::size_t>(communicator.size());
    for (auto i = static_cast<std::size_t>(communicator.rank()); i < manifest.files.size(); i += step)
      if (auto text = damage_of(directory, manifest.files[i]); !text.empty()) mine.push_back(std::move(text));
    return join(mine, "; ");
  });
  std::vector<std::string> found;
  for (const auto& text : findings)
    if (!text.empty()) found.push_back(text);
  return join(found, "; ");
}

/// A checkpoint that can be loaded, or why it cannot.
struct Candidate {
  std::string finding;
  Manifest manifest;
  std::vector<Item> items;
};

Candidate examine(const std::string& directory, std::int64_t index, Communicator& communicator) {
  Candidate candidate;
  const auto text = found_by_root(communicator, [&] { return checked_manifest(directory, index); });
  candidate.finding = text.finding;
  if (!candidate.finding.empty()) return candidate;
  candidate.manifest = manifest_from(text.result, directory + "/" + manifest_name);
  candidate.finding = damage(directory, candidate.manifest, communicator);
  if (!candidate.finding.empty()) return candidate;
  const auto contents = found_by_root(communicator, [&] { return pack(read_contents(directory)); });
  candidate.finding = contents.finding;
  candidate.items = unpack_items(contents.result);
  return candidate;
}

/// Throws, on all ranks, what differs on any.
void require_same_model(const State& state, const std::vector<Item>& items, const std::string& directory,
                        Communicator& communicator) {
  const auto texts = on_every_rank(communicator, [&] { return join(differences(state, items), "\n  "); });
  std::vector<std::string> distinct;
  for (const auto& text : texts)
    if (!text.empty() && std::find(distinct.begin(), distinct.end(), text) == distinct.end()) distinct.push_back(text);
  if (distinct.empty()) return;
  throw UsageError("cannot restore from '" + directory + "': it is of another model than the State:\n  " +
                   join(distinct, "\n  ") + "\nRun the model that wrote it, or choose another run.name.");
}

}  // namespace

std::optional<LoadResult> load_latest(const State& state, const std::string& run_dir, Communicator& communicator) {
  LoadResult result;
  for (const auto index : candidates(run_dir, communicator)) {
    result.directory = run_dir + "/" + directory_name(index);
    const auto candidate = examine(result.directory, index, communicator);
    if (!candidate.finding.empty()) {
      result.skipped.push_back(directory_name(index) + ": " + candidate.finding);
      continue;
    }
    require_same_model(state, candidate.items, result.directory, communicator);
    on_every_rank(communicator, [&] {
      read_state(state, result.directory, candidate.items, communicator.rank());
      return std::string();
    });
    result.meta = candidate.manifest.meta;
    return result;
  }
  if (result.skipped.empty()) return std::nullopt;
  throw Error("cannot restore from '" + run_dir + "': all its checkpoints are damaged:\n  " + join(result.skipped, "\n  ") +
              "\nBring one back from a backup, or choose another run.name to start anew.");
}

}  // namespace trainrt::checkpoint
