#include "checkpoint/verify.hpp"

#include <set>
#include <trainrt/error.hpp>

#include "checkpoint/directory.hpp"
#include "checkpoint/manifest.hpp"
#include "io/digest.hpp"
#include "io/file.hpp"
#include "io/schema.hpp"

namespace trainrt::checkpoint {

namespace {

void append(std::vector<std::string>& findings, std::vector<std::string> more) {
  findings.insert(findings.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

std::vector<std::string> check_schemas(const std::string& checkpoint_dir, const Manifest& manifest) {
  std::vector<std::string> findings;
  for (int rank = 0; rank < manifest.meta.ranks; ++rank)
    append(findings, io::check_schema(checkpoint_dir + "/" + shard_name(rank), "shard"));
  append(findings, io::check_schema(checkpoint_dir + "/" + view_name, "state"));
  return findings;
}

std::vector<std::string> unexpected_files(const std::string& checkpoint_dir, const Manifest& manifest) {
  std::set<std::string> expected{manifest_name};
  for (const auto& file : manifest.files) expected.insert(file.name);
  std::vector<std::string> findings;
  for (const auto& name : io::list_files_below(checkpoint_dir))
    if (!expected.contains(name)) findings.push_back("'" + checkpoint_dir + "/" + name + "' is not listed in the manifest");
  return findings;
}

std::string last_part(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path.substr(path.rfind('/') + 1);
}

}  // namespace

std::string damage_of(const std::string& checkpoint_dir, const FileRecord& file) try {
  const auto path = checkpoint_dir + "/" + file.name;
  if (!io::exists(path)) return "'" + path + "' is missing";
  const auto found = io::digest_of_file(path);
  if (found.bytes != file.bytes)
    return "'" + path + "' has " + std::to_string(found.bytes) + " bytes, not " + std::to_string(file.bytes);
  if (found.hex != file.xxh3_128)
    return "'" + path + "' is damaged: its XXH3-128 is " + found.hex + ", not " + file.xxh3_128;
  return "";
} catch (const std::exception& error) {
  return error.what();
}

std::vector<std::string> verify(const std::string& checkpoint_dir) try {
  const auto manifest = read_manifest(checkpoint_dir);
  std::vector<std::string> findings;
  if (const auto index = index_of(last_part(checkpoint_dir)); index && *index != manifest.meta.index)
    findings.push_back("'" + checkpoint_dir + "' holds the checkpoint of index " + std::to_string(manifest.meta.index));
  for (const auto& file : manifest.files)
    if (auto damage = damage_of(checkpoint_dir, file); !damage.empty()) findings.push_back(std::move(damage));
  // The structure of damaged files would only say the same less clearly.
  if (findings.empty()) append(findings, check_schemas(checkpoint_dir, manifest));
  append(findings, unexpected_files(checkpoint_dir, manifest));
  return findings;
} catch (const Error& error) {
  return {error.what()};
}

}  // namespace trainrt::checkpoint
