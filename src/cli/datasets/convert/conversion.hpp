#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/datasets/convert/data_writer.hpp"
#include "cli/datasets/opened_data.hpp"
#include "cli/datasets/convert/row_order.hpp"

namespace trainrt::cli::datasets {

/// What `trainrt data convert` is asked for.
struct ConversionWishes {
  std::string output;                ///< with a split "train.h5,test.h5", or "NAME.h5" for NAME-train.h5 and NAME-test.h5
  std::vector<std::string> columns;  ///< fields to write; all if there is none
  std::string where;                 ///< a condition; "" for none
  std::optional<double> split;       ///< share of the first of two files
  bool shuffle = false;
  bool checksums = false;
  std::string compression;  ///< "" for none
  int threads = 1;
  bool force = false, quiet = false;
  bool for_spreadsheets = false;  ///< see WriterJob; of a .csv file only
};

/// Writes a dataset as one file, or two. What was begun by the same wishes over the same sources goes on, if the writer
/// can.
class Conversion {
 public:
  Conversion(const OpenedData& opened, ConversionWishes wishes);
  void run();
  /// What was written, a line a file.
  std::vector<std::string> summary() const;

 private:
  struct Part {
    std::string path;
    std::string name;  ///< "train", "test" of a split
    std::unique_ptr<RowOrder> order;
    std::unique_ptr<ResumableFile> file;
    WriterJob job;
  };
  void choose_fields();
  void make_parts();
  std::uint64_t rows_at_once() const;
  void add_part(std::string path, std::string name, SharedSource rows);
  ResumableFile::Identity identity(const Part& part) const;
  void write(Part& part);
  void write_rows(Part& part);
  void abandon_what_is_not_kept();
  [[noreturn]] void throw_with_way_on(const Error& error) const;

  const OpenedData& opened_;
  ConversionWishes wishes_;
  const DataWriter& writer_;
  std::vector<std::size_t> fields_;
  std::vector<std::string> sources_;  ///< what each part is made of
  std::uint64_t sample_bytes_;
  std::vector<Part> parts_;
};

}  // namespace trainrt::cli::datasets
