#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trainrt::tune {

// The journal of a sweep is a folder of files. Each process of the sweep has its own file, and only appends to it. A
// record is one line: a checksum, a blank and a JSON object. The records of one file are ordered; the records of
// different files are not. A line that a killed process left incomplete is skipped.

/// Number of bytes that were read of each journal file, by the number of the file.
using Positions = std::map<int, std::uint64_t>;

/// Appends records to one file of a journal. Only one process may write a file at a time.
class JournalWriter {
 public:
  /// Creates a new file in `folder`. The number of the file is higher than the numbers of all files in the folder, and
  /// higher than `above`. Throws Error if there are too many files.
  static JournalWriter claimed(const std::string& folder, int above = 0);
  /// Continues a file that no other process writes.
  JournalWriter(const std::string& folder, int number);

  /// Returns a writer of the file that records, for each decision in journal file `number`, how much of the journal had
  /// been read (decision_log.hpp). A sweep can continue without this file.
  static JournalWriter of_reads(const std::string& folder, int number);

  int number() const { return number_; }
  const std::string& path() const { return path_; }
  /// Appends a JSON object without line breaks. With `durable`, the record is on the disk when the function returns.
  /// Throws StorageError.
  void append(std::string_view json, bool durable = false);

 private:
  JournalWriter(int number, std::string path) : number_(number), path_(std::move(path)) {}

  int number_;
  std::string path_;
};

/// Reads the records that all processes of a sweep append to their journal files.
class JournalReader {
 public:
  explicit JournalReader(std::string folder) : folder_(std::move(folder)) {}
  using Take = std::function<void(int writer, const std::string& json)>;
  /// Calls `take` for each new record, file by file. Throws Error if a file became shorter.
  void read(const Take& take);
  const Positions& positions() const { return positions_; }
  /// A line of a file, counted from 1.
  struct Line {
    int writer = 0;
    std::uint64_t number = 0;
  };
  /// Returns the lines that are not valid records.
  const std::vector<Line>& damaged() const { return damaged_; }
  /// Returns the number of lines that were read from the file of `writer`.
  std::uint64_t lines_of(int writer) const;

 private:
  void read_file(int number, const Take& take);

  std::string folder_;
  Positions positions_;
  std::map<int, std::uint64_t> lines_;
  std::vector<Line> damaged_;
};

/// Returns the numbers of a journal's files, ascending.
std::vector<int> journal_files(const std::string& folder);
std::string journal_file(const std::string& folder, int number);

}  // namespace trainrt::tune
