#include "checkpoint/mirrored_run.hpp"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <map>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/names.hpp"
#include "io/files/descriptor.hpp"
#include "io/files/fetch_object.hpp"
#include "io/files/file.hpp"
#include "io/storage_retry.hpp"

namespace trainrt::checkpoint {

namespace {

constexpr std::uint64_t max_record_bytes = 64 << 20;

io::Descriptor opened(const std::string& path) {
  const int file = open_guarded(path, O_RDONLY);
  if (file < 0) io::fail("open", path, errno);
  return io::Descriptor(file);
}

/// Returns a path in /proc/self/fd for an open file. The path stays valid after the file itself was deleted.
std::string path_of(const io::Descriptor& file) { return fmt::format("/proc/self/fd/{}", file.get()); }

std::vector<std::string> names_in(const Manifest& manifest) {
  std::vector<std::string> names;
  for (const auto& shard : manifest.shards) names.push_back(shard.name);
  for (const auto& file : manifest.files) names.push_back(file.name);
  names.push_back(manifest_name);
  return names;
}

}  // namespace

MirroredRun::MirroredRun(std::shared_ptr<io::Storage> storage, std::string prefix)
    : storage_(std::move(storage)), prefix_(std::move(prefix)) {}

std::vector<io::StoredObject> MirroredRun::objects_below(const std::string& folder) const {
  return io::retried([&] { return storage_->list(prefix_ + folder); });
}

std::optional<io::StoredObject> MirroredRun::find(const std::string& name) const {
  return io::retried([&] { return storage_->find(prefix_ + name); });
}

void MirroredRun::remove_object(const std::string& name) {
  io::retried([&] { storage_->remove(name); });
}

MirroredRun::Numbers MirroredRun::numbers() const {
  std::map<std::int64_t, bool> found;
  for (const auto& object : objects_below("checkpoint_")) {
    const auto name = object.name.substr(prefix_.size());
    const auto slash = name.find('/');
    const auto number = slash == std::string::npos ? std::nullopt : number_of(name.substr(0, slash));
    if (number) found[*number] |= name.substr(slash + 1) == manifest_name;
  }
  Numbers numbers;
  for (const auto& [number, is_complete] : found) (is_complete ? numbers.complete : numbers.begun).push_back(number);
  return numbers;
}

HeldCheckpoint::HeldCheckpoint(const std::string& run_dir, std::int64_t number) : number_(number) {
  const auto directory = run_dir + "/" + directory_name(number);
  const auto manifest = io::retried([&] { return read_manifest(directory); });
  for (const auto& name : names_in(manifest)) files_.push_back({name, opened(directory + "/" + name)});
}

std::string MirroredRun::manifest_of(std::int64_t number) const {
  return text_of(directory_name(number) + "/" + manifest_name);
}

std::string HeldCheckpoint::manifest() const {
  return io::retried([&] { return io::read_file(path_of(files_.back().file)); });
}

bool MirroredRun::holds(const HeldCheckpoint& checkpoint) const {
  if (manifest_of(checkpoint.number()) != checkpoint.manifest()) return false;
  const auto folder = directory_name(checkpoint.number()) + "/";
  std::map<std::string, std::uint64_t> sizes;
  for (const auto& object : objects_below(folder)) sizes[object.name] = object.size;
  return std::ranges::all_of(checkpoint.files_, [&](const auto& each) {
    const auto found = sizes.find(prefix_ + folder + each.name);
    return found != sizes.end() && found->second == std::filesystem::file_size(path_of(each.file));
  });
}

void MirroredRun::put(const HeldCheckpoint& checkpoint) {
  const auto folder = prefix_ + directory_name(checkpoint.number()) + "/";
  for (const auto& each : checkpoint.files_) io::retried([&] { storage_->put(path_of(each.file), folder + each.name); });
}

void MirroredRun::remove(std::int64_t number) {
  const auto folder = directory_name(number) + "/";
  remove_object(prefix_ + folder + manifest_name);
  for (const auto& object : objects_below(folder)) remove_object(object.name);
}

void MirroredRun::bring(std::int64_t number, const std::string& run_dir) const {
  const auto directory = run_dir + "/" + directory_name(number);
  if (!bring_file(directory_name(number) + "/" + manifest_name, run_dir))
    throw Error(fmt::format("'{}' no longer has {}", url() + directory_name(number), manifest_name));
  for (const auto& name : names_in(read_manifest(directory)))
    if (name != manifest_name && !bring_file(directory_name(number) + "/" + name, run_dir))
      throw Error(fmt::format("'{}{}' lacks {}", url(), directory_name(number), name));
  io::sync_directory(directory);
}

void MirroredRun::put_file(const std::string& run_dir, const std::string& name) {
  const auto file = opened(run_dir + "/" + name);
  io::retried([&] { storage_->put(path_of(file), prefix_ + name); });
}

void MirroredRun::remove_records() {
  std::vector<std::string> names;
  for (const auto* folder : {"attempts", "artifacts"})
    for (const auto& name : files_in(folder)) names.push_back(fmt::format("{}/{}", folder, name));
  names.insert(names.end(), {"result.json", "params.json", "trainer.json", "run.json"});
  for (const auto& name : names) remove_object(prefix_ + name);
}

std::vector<std::string> MirroredRun::files_in(const std::string& folder) const {
  std::vector<std::string> names;
  for (const auto& object : objects_below(folder + "/"))
    names.push_back(object.name.substr(prefix_.size() + folder.size() + 1));
  return names;
}

bool MirroredRun::bring_file(const std::string& name, const std::string& run_dir) const {
  const auto object = find(name);
  if (object) io::fetch_object(*storage_, *object, run_dir + "/" + name);
  return object.has_value();
}

std::vector<io::UnfinishedUpload> MirroredRun::unfinished_uploads() const {
  return storage_->unfinished_uploads(prefix_ + "checkpoint_");
}

std::string MirroredRun::text_of(const std::string& name) const {
  const auto object = find(name);
  if (!object) return "";
  if (object->size > max_record_bytes) throw Error(fmt::format("'{}{}' is larger than 64 MiB", url(), name));
  std::string text(object->size, '\0');
  const io::ObjectPart part{0, std::as_writable_bytes(std::span(text))};
  io::retried([&] { storage_->read(*object, {&part, 1}); });
  return text;
}

}  // namespace trainrt::checkpoint
