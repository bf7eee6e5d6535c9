#include "checkpoint/load/survey.hpp"

#include <trainrt/error.hpp>

namespace trainrt::checkpoint {

Survey::Survey(std::string checkpoint_dir, const Manifest& manifest, ReadPlan& plan, int reader, int readers)
    : checkpoint_dir_(std::move(checkpoint_dir)),
      manifest_(manifest),
      plan_(plan),
      reader_(static_cast<std::size_t>(reader)),
      readers_(static_cast<std::size_t>(readers)),
      parts_(parts_of(manifest)) {}

Index Survey::add(std::size_t number, const std::string& text) {
  const auto& part = parts_[number];
  const auto path = path_of(part.shard);
  auto index = index_from(text, path);
  const auto runs = check_part(index, part.shard_of(manifest_), part.record(manifest_), path);
  if (checks_tiling_of(part.shard)) {
    auto& known = runs_[part.shard];
    known.insert(known.end(), runs.begin(), runs.end());
  }
  contents_.add(index, path);
  plan_.add({part.shard, index.rank, index.tensors, index.values, index.blocks}, is_home(number));
  return index;
}

std::vector<std::string> Survey::findings() const {
  auto findings = contents_.incomplete(manifest_.meta.ranks);
  for (auto& finding : findings) finding = "'" + checkpoint_dir_ + "': " + finding;
  for (const auto& [shard, runs] : runs_) try {
      check_tiling(runs, manifest_.shards[shard].hdf5_bytes(), path_of(shard));
    } catch (const Error& error) {
      findings.emplace_back(error.what());
    }
  return findings;
}

}  // namespace trainrt::checkpoint
