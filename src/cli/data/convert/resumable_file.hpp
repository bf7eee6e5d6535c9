#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/files/removal_guard.hpp"
#include "io/files/file.hpp"
#include "io/files/positional_file.hpp"

namespace trainrt::cli::datasets {

/// An output file that a later process can resume. The file gets its final name NAME when it is complete; until then,
/// its name is .NAME.part, in the same folder. The file .NAME.part.json records the sources of the output, and how much
/// of the output is durable. Any thread may call write(); only one thread may call the other functions.
class ResumableFile {
 public:
  /// Identifies the content of the file. A process may resume a file only with the same identity.
  struct Identity {
    std::vector<std::string> sources;  ///< a line for each source file
    std::string job;                   ///< text with everything else that determines the content
  };
  /// Progress: number of complete parts, in the writer's order, and RowWriter::position() after them.
  struct Done {
    std::uint64_t parts = 0;
    std::string position;
  };

  /// `is_resumable`: true to resume an incomplete file with the same identity; false to use a file only if it is
  /// complete. `force`: discard a file with a different identity, and replace an existing output file. Throws
  /// UsageError if the output file exists, if an incomplete file has a different identity, if another process is
  /// writing it, or if the folder does not exist.
  ResumableFile(std::string path, Identity identity, bool is_resumable, bool force);
  ~ResumableFile();
  ResumableFile(const ResumableFile&) = delete;

  const std::string& path() const { return path_; }
  const std::string& part_path() const { return part_; }
  const Done& done() const { return done_; }
  bool is_finished() const {
    return is_finished_;
  }  ///< whether an earlier process has written the file and renamed it to its final name
  bool is_complete() const {
    return is_complete_;
  }  ///< whether an earlier process has written the file, but not renamed it
  bool is_kept() const { return is_finished_ || is_kept_; }  ///< whether a later process can resume

  void reserve(std::uint64_t bytes);
  void write(std::uint64_t at, std::span<const std::byte> bytes);
  void write(std::uint64_t at, std::string_view text) { write(at, std::as_bytes(std::span(text))); }
  /// Returns done().position as a number of bytes. Throws UsageError if it is not a number.
  std::uint64_t byte_position() const;
  /// Throws a UsageError that reports that the file does not match its record.
  [[noreturn]] void throw_damaged_record() const;
  /// Records the progress after making the written bytes durable. To save time, most calls record nothing.
  void note(const Done& done);
  /// Completes the file: truncates it to `bytes` bytes and makes it durable.
  void complete(std::uint64_t bytes, std::uint64_t parts);
  void put_in_place();  ///< renames the complete file to its final name
  void forget();        ///< removes the record, after put_in_place()
  void abandon();       ///< removes an incomplete file and its record

 private:
  void lock();
  void start();
  void start_writing();
  void record(const Done& done, bool complete);

  std::string path_, part_, note_;
  Identity identity_;
  bool force_, is_resumable_;
  bool is_finished_ = false, is_complete_ = false, is_kept_ = false;
  Done done_;
  std::uint64_t flushed_ = 0;
  std::atomic<std::uint64_t> written_ = 0;
  std::optional<io::PositionalFile> file_;
  std::optional<io::Descriptor> lock_;
  std::optional<RemovalGuard> guard_;  ///< exists as long as a later process cannot resume
  double noted_s_, pause_s_ = 0.2;
};

}  // namespace trainrt::cli::datasets
