#pragma once
#include <atomic>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/removal_guard.hpp"
#include "io/files/file.hpp"
#include "io/files/positional_file.hpp"

namespace trainrt::cli::datasets {

/// A file that appears whole or not at all, and whose making goes on after a kill. It is written as .NAME.part beside its
/// place; .NAME.part.json says how much of it is durable, and of what it is made. Any threads may write at once; the rest
/// is for one thread at a time.
class ResumableFile {
 public:
  /// What a later attempt must have in common with the one that began.
  struct Identity {
    std::vector<std::string> sources;  ///< a line each
    std::string job;                   ///< all else, in words
  };
  /// How far it is: parts that are done, in the writer's order, and what the writer has to know to go on.
  struct Done {
    std::uint64_t parts = 0;
    std::string position;
  };

  /// `goes_on`: what was done before counts; else it begins anew, unless all of it was written. `force`: so it does if an
  /// attempt was about something else, and what has the name is replaced. UsageError if something has the name, if the
  /// other attempt was about something else, if another process writes it, or if its directory is not there.
  ResumableFile(std::string path, Identity identity, bool goes_on, bool force);
  ~ResumableFile();
  ResumableFile(const ResumableFile&) = delete;

  const std::string& path() const { return path_; }
  const std::string& part_path() const { return part_; }
  const Done& done() const { return done_; }
  bool is_there() const { return is_there_; }        ///< the same was finished before: nothing is left to do
  bool is_complete() const { return is_complete_; }  ///< all of it was written before: it waits for put_in_place() only
  bool is_kept() const { return is_there_ || is_kept_; }  ///< another attempt would find something done
  std::uint64_t bytes() const { return bytes_; }

  void reserve(std::uint64_t bytes);
  void write(std::uint64_t at, std::span<const std::byte> bytes);
  void write(std::uint64_t at, std::string_view text) { write(at, std::as_bytes(std::span(text))); }
  /// Now and then, so that it costs little: makes durable what was written, and notes it.
  void note(const Done& done);
  /// All of it is written, so many bytes: durable from now on.
  void complete(std::uint64_t bytes, std::uint64_t parts);
  void put_in_place();
  void forget();   ///< the note, behind put_in_place()
  void abandon();  ///< removes what was begun, but nothing that has its name already

 private:
  void lock();
  void start();
  void start_writing();
  void record(const Done& done, bool complete);

  std::string path_, part_, note_;
  Identity identity_;
  bool force_, goes_on_;
  bool is_there_ = false, is_complete_ = false, is_kept_ = false;
  Done done_;
  std::uint64_t bytes_ = 0, started_ = 0;
  std::atomic<std::uint64_t> written_ = 0;
  std::optional<io::PositionalFile> file_;
  std::optional<io::Descriptor> lock_;
  std::optional<RemovalGuard> guard_;  ///< as long as a later attempt would find nothing done
  double noted_s_, pause_s_ = 0.2;
};

}  // namespace trainrt::cli::datasets
