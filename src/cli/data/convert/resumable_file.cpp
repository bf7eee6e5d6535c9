#include "cli/data/convert/resumable_file.hpp"

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

#include "core/host.hpp"
#include "core/options.hpp"
#include "core/text/json_depth.hpp"
#include "core/text/text.hpp"
#include "io/files/temporary.hpp"

namespace trainrt::cli::datasets {

namespace fs = std::filesystem;

namespace {

/// The record that a process has written about its incomplete file.
struct Note {
  ResumableFile::Identity identity;
  ResumableFile::Done done;
  bool complete = false;
};

/// Returns the record in the file `path`; nullopt if this file is missing or damaged.
std::optional<Note> note_in(const std::string& path) try {
  if (!io::exists(path)) return std::nullopt;
  const auto text = io::read_file(path);
  if (is_nested_deeper(text, max_json_depth)) return std::nullopt;
  const auto json = nlohmann::json::parse(text);
  return Note{{json.at("sources").get<std::vector<std::string>>(), json.at("job").get<std::string>()},
              {json.at("parts").get<std::uint64_t>(), json.at("position").get<std::string>()},
              json.at("complete").get<bool>()};
} catch (const nlohmann::json::exception&) {
  return std::nullopt;
}

std::string first_difference(const std::vector<std::string>& before, const std::vector<std::string>& now) {
  for (std::size_t i = 0; i < std::min(before.size(), now.size()); ++i)
    if (before[i] != now[i]) return fmt::format("was {}, is now {}", excerpt(before[i]), excerpt(now[i]));
  return fmt::format("was {}, is now {}", counted(std::ssize(before), "file"), now.size());
}

[[noreturn]] void refuse_other(const std::string& path, const Note& note, const ResumableFile::Identity& identity) {
  throw UsageError(fmt::format("'{}' is incomplete and cannot be continued, because {}; use --force to start over", path,
                               note.identity.sources != identity.sources
                                   ? "a source has changed: " + first_difference(note.identity.sources, identity.sources)
                                   : "the command that began it had other options"));
}

}  // namespace

ResumableFile::ResumableFile(std::string path, Identity identity, bool is_resumable, bool force)
    : path_(fs::absolute(path).lexically_normal()),
      identity_(std::move(identity)),
      force_(force),
      is_resumable_(is_resumable),
      noted_s_(monotonic_seconds()) {
  const auto folder = fs::path(path_).parent_path(), name = fs::path(path_).filename();
  if (!fs::is_directory(folder))
    throw UsageError(fmt::format("cannot write '{}': the folder '{}' does not exist", path, folder.string()));
  if (fs::is_directory(path_)) throw UsageError(fmt::format("'{}' is a directory", path));
  part_ = (folder / ("." + name.string() + ".part")).string();
  note_ = part_ + ".json";
  io::remove_abandoned(folder, fs::path(note_).filename().string());
  start();
}

ResumableFile::~ResumableFile() = default;

void ResumableFile::start() {
  const bool has_part = io::exists(part_), is_taken = io::exists(path_);
  if (has_part) lock();  // the record is read only after locking, because another process may change it
  const auto note = note_in(note_);
  const bool is_same = note && note->identity.sources == identity_.sources && note->identity.job == identity_.job;
  const bool is_begun = note && (note->complete || note->done.parts > 0);
  if (is_same && note->complete && is_taken && !has_part && !force_) {
    is_finished_ = true;
    return;
  }
  if (is_taken && !force_) throw UsageError(fmt::format("'{}' exists already; use --force to replace it", path_));
  if (is_begun && has_part && !is_same && !force_) refuse_other(path_, *note, identity_);
  if (is_same && has_part && note->complete) {
    done_ = note->done;
    is_complete_ = is_kept_ = true;
    return;
  }
  if (is_same && has_part && is_resumable_)
    done_ = note->done;
  else {
    io::remove_tree(part_);
    io::remove_tree(note_);
    lock_.reset();
  }
  is_kept_ = done_.parts > 0;
  if (!is_kept_) {
    guard_.emplace(std::vector{part_, note_, io::temporary_beside(note_)});
    if (is_resumable_) record({}, false);
  }
  file_.emplace(io::PositionalFile::create(part_));
  lock();
}

/// Locks the file against other processes, if its file system supports locks.
void ResumableFile::lock() {
  if (lock_) return;
  const int fd = ::open(part_.c_str(), O_RDWR | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) io::fail("open", part_, errno);
  lock_.emplace(fd);
  if (::flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
    throw UsageError(fmt::format("'{}' is being written by another process", path_));
}

void ResumableFile::reserve(std::uint64_t bytes) {
  if (bytes == 0) return;
  file_.emplace(io::PositionalFile::create(part_, bytes));
}

void ResumableFile::write(std::uint64_t at, std::span<const std::byte> bytes) {
  file_->write(at, bytes);
  written_ += bytes.size();
}

std::uint64_t ResumableFile::byte_position() const {
  const auto position = parse_integer(done_.position);
  if (!position || *position < 0) throw_damaged_record();
  return static_cast<std::uint64_t>(*position);
}

void ResumableFile::throw_damaged_record() const {
  throw UsageError(fmt::format("the record of the incomplete '{}' is damaged; use --force to start over", path_));
}

/// After every 16 MiB, starts writing dirty pages to disk, so that the sync in note() and complete() takes less time.
void ResumableFile::start_writing() {
  constexpr std::uint64_t bytes_between = 16 << 20;
  if (written_ - flushed_ < bytes_between) return;
  flushed_ = written_;
  ::sync_file_range(lock_->get(), 0, 0, SYNC_FILE_RANGE_WRITE);
}

void ResumableFile::record(const Done& done, bool complete) {
  const nlohmann::json json = {{"sources", identity_.sources},
                               {"job", identity_.job},
                               {"parts", done.parts},
                               {"position", done.position},
                               {"complete", complete}};
  io::replace_file_unsynced(note_, io::temporary_beside(note_),
                            json.dump(1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void ResumableFile::note(const Done& done) {
  constexpr double min_pause_s = 0.2, pause_factor = 20;
  start_writing();
  const auto began_s = monotonic_seconds();
  if (!is_resumable_ || began_s - noted_s_ < pause_s_) return;
  file_->sync();
  record(done, false);
  is_kept_ = true;
  guard_.reset();
  noted_s_ = monotonic_seconds();
  pause_s_ = std::max(min_pause_s, pause_factor * (noted_s_ - began_s));
}

void ResumableFile::complete(std::uint64_t bytes, std::uint64_t parts) {
  if (::truncate(part_.c_str(), static_cast<off_t>(bytes)) != 0) io::fail("truncate", part_, errno);
  file_->sync();
  file_->close();
  file_.reset();
  if (::fsync(lock_->get()) != 0) io::fail("fsync", part_, errno);  // bytes that HDF5 has written through the path
  record({parts, ""}, true);
  is_kept_ = true;
  guard_.reset();
}

void ResumableFile::put_in_place() {
  if (!force_ && !io::rename_to_new(part_, path_))
    throw UsageError(fmt::format("'{}' exists already; use --force to replace it", path_));
  if (force_ && std::rename(part_.c_str(), path_.c_str()) != 0) io::fail("rename '" + part_ + "' to", path_, errno);
  io::sync_directory(fs::path(path_).parent_path());
}

void ResumableFile::forget() { io::remove_tree(note_); }

void ResumableFile::abandon() {
  if (is_finished_) return;
  file_.reset();
  io::remove_tree(part_);
  io::remove_tree(note_);
}

}  // namespace trainrt::cli::datasets
