#include "checkpoint/load/verify.hpp"

#include <filesystem>
#include <mutex>
#include <set>
#include <trainrt/error.hpp>

#include "checkpoint/damage.hpp"
#include "checkpoint/format/manifest.hpp"
#include "checkpoint/format/names.hpp"
#include "checkpoint/format/validation.hpp"
#include "checkpoint/load/index_fetch.hpp"
#include "checkpoint/other_files.hpp"
#include "io/files/file.hpp"
#include "io/hdf5/untrusted/h5_guard.hpp"
#include "io/hdf5/untrusted/schema.hpp"

namespace trainrt::checkpoint {

namespace {

using Lines = std::vector<std::string>;

void add_lines(Lines& findings, Lines more) {
  for (auto& line : more)
    if (!line.empty()) findings.push_back(std::move(line));
}

std::string last_part(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path.substr(path.rfind('/') + 1);
}

/// Implements verify(): verifies one checkpoint, once, and counts the verified bytes for progress reports.
class Verification {
 public:
  Verification(const std::string& directory, int threads, const OnProgress& progress)
      : directory_(directory), threads_(threads), progress_(progress), manifest_(read_manifest(directory)) {
    for (const auto& shard : manifest_.shards) all_bytes_ += shard.hdf5_bytes();
    for (const auto& file : manifest_.files) all_bytes_ += file.bytes;
    std::error_code error;
    if (has_view(directory)) {
      const auto view_bytes = std::filesystem::file_size(directory + "/" + view_name, error);
      if (!error && view_bytes > view_seal_bytes) all_bytes_ += view_bytes - view_seal_bytes;
    }
  }

  Lines run() {
    Lines findings;
    if (const auto number = number_of(last_part(directory_)); number && *number != manifest_.meta.number)
      findings.push_back("'" + directory_ + "' contains checkpoint number " + std::to_string(manifest_.meta.number));
    const auto count = [this](std::uint64_t bytes) { done(bytes); };
    add_lines(findings, shards());
    for (const auto& file : manifest_.files) add_lines(findings, {file_damage(directory_, file, count)});
    if (has_view(directory_)) add_lines(findings, {view_damage(directory_, count)});
    // The HDF5 structure of damaged files is not checked, because that would only report the same damage again.
    if (findings.empty()) add_lines(findings, schemas());
    return findings;
  }

 private:
  Lines shards() {
    ReadPlan plan;  // no boxes are wanted: all blocks are verified and nothing is copied
    IndexFetch fetch(directory_, manifest_, plan, 0, 1);
    Lines findings;
    for (std::size_t number = 0; number < fetch.parts().size(); ++number) try {
        const auto& part = fetch.parts()[number];
        fetch.add(number, read_part(directory_, part.shard_of(manifest_), part.record(manifest_)));
      } catch (const std::exception& error) {
        rethrow_if_no_damage(error);
        // All parts of a missing shard file produce the same message, which is reported once.
        if (findings.empty() || findings.back() != error.what()) findings.emplace_back(error.what());
      }
    if (findings.empty()) add_lines(findings, fetch.findings());
    BlockReading reading;
    reading.threads = threads_;
    reading.copy = false;
    reading.read = [this](std::uint64_t bytes) { done(bytes); };
    add_lines(findings, read_blocks(directory_, manifest_, plan.finish(), reading));
    return findings;
  }

  Lines schemas() const {
    Lines findings;
    const io::H5Examination examination;
    for (const auto& shard : manifest_.shards)
      add_lines(findings, io::check_schema(directory_ + "/" + shard.name, "shard"));
    if (has_view(directory_)) add_lines(findings, io::check_schema(directory_ + "/" + view_name, "state"));
    return findings;
  }

  void done(std::uint64_t bytes) {
    const std::lock_guard lock(mutex_);
    done_bytes_ += bytes;
    if (progress_) progress_(done_bytes_, all_bytes_);
  }

  const std::string& directory_;
  int threads_;
  const OnProgress& progress_;
  Manifest manifest_;
  std::mutex mutex_;
  std::uint64_t done_bytes_ = 0;
  std::uint64_t all_bytes_ = 0;
};

}  // namespace

std::vector<std::string> verify(const std::string& checkpoint_dir, int threads, const OnProgress& progress) try {
  return Verification(checkpoint_dir, threads, progress).run();
} catch (const Error& error) {
  rethrow_if_no_damage(error);
  return {error.what()};
}

std::vector<std::string> verify(const std::string& checkpoint_dir) { return verify(checkpoint_dir, 2, {}); }

namespace {

/// Returns a message if the checkpoint's validation.json is damaged; "" if it is intact or does not exist.
std::string validation_damage(const std::string& checkpoint_dir) try {
  read_validation(checkpoint_dir);
  return "";
} catch (const Error& error) {
  return std::string(error.what()) + "; the next start of the run validates the checkpoint again";
}

}  // namespace

std::vector<std::string> unlisted_files(const std::string& checkpoint_dir) {
  const auto manifest = read_manifest(checkpoint_dir);
  std::set<std::string> expected{manifest_name, view_name};
  Lines lines;
  if (!manifest.meta.validation.empty()) {
    expected.insert(validation_name);
    if (auto why = validation_damage(checkpoint_dir); !why.empty()) lines.push_back(std::move(why));
  }
  for (const auto& shard : manifest.shards) expected.insert(shard.name);
  for (const auto& file : manifest.files) expected.insert(file.name);
  for (const auto& name : io::list_files_below(checkpoint_dir))
    if (!expected.contains(name)) lines.push_back("'" + checkpoint_dir + "/" + name + "' is not listed in the manifest");
  return lines;
}

}  // namespace trainrt::checkpoint
