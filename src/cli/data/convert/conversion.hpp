#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/data/convert/data_writer.hpp"
#include "cli/data/convert/row_order.hpp"
#include "cli/data/opened_data.hpp"

namespace trainrt::cli::datasets {

/// The options of `trainrt data convert`.
struct ConversionSpec {
  /// Path of the output. With `split`: two paths, "train.h5,test.h5", or "NAME.h5" for NAME-train.h5 and NAME-test.h5.
  std::string output;
  std::vector<std::string> columns;  ///< names of the fields to write; empty: all
  std::optional<double> split;       ///< share of the samples in the first of two files
  bool shuffle = false;
  bool checksums = false;
  std::string compression;  ///< "": not compressed
  int threads = 1;
  bool force = false, quiet = false;
  bool escapes_formulas = false;  ///< WriterJob::escapes_formulas; for .csv files only
};

/// Writes a dataset to one file or two files. Resumes an incomplete conversion with the same specification and sources
/// if the writer supports it.
class Conversion {
 public:
  /// Throws UsageError if the specification is invalid. `opened` must outlive the object.
  Conversion(const OpenedData& opened, ConversionSpec spec);
  /// Writes the files. Throws Error that explains how to resume, or UsageError.
  void run();
  /// Returns a line for each file that was written.
  std::vector<std::string> summary() const;

 private:
  struct Part {
    std::string path;
    std::string name;  ///< "first" or "second" part of a split; "" without a split
    std::unique_ptr<RowOrder> order;
    std::unique_ptr<ResumableFile> file;
    WriterJob job;
  };
  void choose_fields();
  void make_parts();
  std::uint64_t rows_per_block() const;
  void add_part(std::string path, std::string name, SharedSource rows);
  ResumableFile::Identity identity(const Part& part) const;
  void write(Part& part);
  void write_rows(Part& part);
  void abandon_useless_parts();
  [[noreturn]] void throw_with_resume_help(const Error& error) const;

  const OpenedData& opened_;
  ConversionSpec spec_;
  const DataWriter& writer_;
  std::vector<std::size_t> fields_;
  std::vector<std::string> sources_;  ///< source_lines()
  std::uint64_t sample_bytes_;
  std::vector<Part> parts_;
};

}  // namespace trainrt::cli::datasets
