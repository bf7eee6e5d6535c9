#include "cli/datasets/convert/resumable_file.hpp"

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
#include "core/text/json_depth.hpp"
#include "core/text/text.hpp"
#include "io/files/temporary.hpp"

namespace trainrt::cli::datasets {

namespace fs = std::filesystem;

namespace {

/// What an earlier attempt has noted; nothing if that cannot be understood.
struct Note {
  ResumableFile::Identity identity;
  ResumableFile::Done done;
  bool complete = false;
};

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

/// In what the sources differ.
std::string first_difference(const std::vector<std::string>& before, const std::vector<std::string>& now) {
  for (std::size_t i = 0; i < std::min(before.size(), now.size()); ++i)
    if (before[i] != now[i]) return fmt::format("{}, and it is now {}", excerpt(before[i]), excerpt(now[i]));
  return fmt::format("{}, and there are {} now", counted(std::ssize(before), "source"), now.size());
}

[[noreturn]] void refuse_other(const std::string& path, const Note& note, const ResumableFile::Identity& identity) {
  const auto how = note.identity.sources != identity.sources
                       ? "its sources have changed: it was " + first_difference(note.identity.sources, identity.sources)
                       : "with other options";
  throw UsageError(fmt::format("'{}' was begun before, {}; --force begins anew", path, how));
}

}  // namespace

ResumableFile::ResumableFile(std::string path, Identity identity, bool goes_on, bool force)
    : path_(fs::absolute(path).lexically_normal()),
      identity_(std::move(identity)),
      force_(force),
      goes_on_(goes_on),
      noted_s_(monotonic_seconds()) {
  const auto folder = fs::path(path_).parent_path(), name = fs::path(path_).filename();
  if (!fs::is_directory(folder)) throw UsageError(fmt::format("'{}': there is no directory '{}'", path, folder.string()));
  if (fs::is_directory(path_)) throw UsageError(fmt::format("'{}' is a directory", path));
  part_ = (folder / ("." + name.string() + ".part")).string();
  note_ = part_ + ".json";
  io::remove_abandoned(folder, fs::path(note_).filename().string());
  start();
}

ResumableFile::~ResumableFile() = default;

void ResumableFile::start() {
  const bool has_part = io::exists(part_), is_taken = io::exists(path_);
  if (has_part) lock();  // first: what a process has noted that still writes is not its last word
  const auto note = note_in(note_);
  const bool is_same = note && note->identity.sources == identity_.sources && note->identity.job == identity_.job;
  const bool is_begun = note && (note->complete || note->done.parts > 0);  // else there is nothing to lose
  if (is_same && note->complete && is_taken && !has_part && !force_) {
    is_there_ = true;
    return;
  }
  if (is_taken && !force_) throw UsageError(fmt::format("'{}' exists already; --force replaces it", path_));
  if (is_begun && has_part && !is_same && !force_) refuse_other(path_, *note, identity_);
  if (is_same && has_part && note->complete) {
    done_ = note->done;
    is_complete_ = is_kept_ = true;
    return;
  }
  if (is_same && has_part && goes_on_)
    done_ = note->done;
  else {
    io::remove_tree(part_);
    io::remove_tree(note_);
    lock_.reset();
  }
  is_kept_ = done_.parts > 0;
  if (!is_kept_) {
    guard_.emplace(std::vector{part_, note_, io::temporary_beside(note_)});  // a later attempt cannot use any of them
    if (goes_on_) record({}, false);
  }
  file_.emplace(io::PositionalFile::create(part_));
  lock();
}

/// Of file systems without locks nobody is kept away.
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

/// Lets the disk begin with what it has to write anyway.
void ResumableFile::start_writing() {
  constexpr std::uint64_t usual_bytes = 16 << 20;
  if (written_ - started_ < usual_bytes) return;
  started_ = written_;
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
  constexpr double least_pause_s = 0.2, share = 20;
  start_writing();
  const auto began_s = monotonic_seconds();
  if (!goes_on_ || began_s - noted_s_ < pause_s_) return;
  file_->sync();
  record(done, false);
  is_kept_ = true;
  guard_.reset();
  noted_s_ = monotonic_seconds();
  pause_s_ = std::max(least_pause_s, share * (noted_s_ - began_s));
}

void ResumableFile::complete(std::uint64_t bytes, std::uint64_t parts) {
  bytes_ = bytes;
  if (::truncate(part_.c_str(), static_cast<off_t>(bytes)) != 0) io::fail("truncate", part_, errno);
  file_->sync();
  file_->close();
  file_.reset();
  if (::fsync(lock_->get()) != 0) io::fail("fsync", part_, errno);  // what others have written by its name
  record({parts, ""}, true);
  is_kept_ = true;
  guard_.reset();
}

void ResumableFile::put_in_place() {
  if (!force_ && !io::rename_to_new(part_, path_))
    throw UsageError(fmt::format("'{}' exists already; --force replaces it", path_));
  if (force_ && std::rename(part_.c_str(), path_.c_str()) != 0) io::fail("rename '" + part_ + "' to", path_, errno);
  io::sync_directory(fs::path(path_).parent_path());
}

void ResumableFile::forget() { io::remove_tree(note_); }

void ResumableFile::abandon() {
  if (is_there_) return;
  file_.reset();
  io::remove_tree(part_);
  io::remove_tree(note_);
}

}  // namespace trainrt::cli::datasets
