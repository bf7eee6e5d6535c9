#pragma once
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "data/hdf5/h5_index.hpp"
#include "io/hdf5/h5_table.hpp"

namespace trainrt::data {

/// Finds out where the rows of an HDF5 file's datasets lie: in it, in the files beside it that a virtual dataset or
/// external storage names, or only HDF5 knows. Names that lead out of the folder of the file are refused.
class H5Resolver {
 public:
  explicit H5Resolver(const DataFile& file);
  /// The dataset of that path in the file itself. Throws Error or UsageError that says what is wrong with it.
  std::vector<H5Piece> pieces_of(const std::string& dataset);
  io::H5Id& file() { return open_file(0); }
  /// What was found, without the fields.
  H5Index take() { return std::move(index_); }

 private:
  using Pieces = std::optional<std::vector<H5Piece>>;  ///< nothing: only HDF5 knows
  /// The dataset seen as rows of so many elements.
  Pieces resolved(std::size_t file, const std::string& dataset, std::uint64_t row_elements, DType dtype, int depth);
  Pieces in_other_files(std::size_t file, const io::H5Table& table, std::uint64_t row_elements);
  Pieces in_chunks(std::size_t file, const std::string& dataset, const io::H5Table& table, std::uint64_t row_elements);
  Pieces in_sources(std::size_t file, const io::H5Table& table, std::uint64_t row_elements, int depth);
  Pieces in_source(std::size_t file, const io::H5Mapping& mapping, const io::H5Table& table, std::uint64_t row_elements,
                   int depth);
  std::size_t add_chunks(std::size_t file, const std::string& dataset, const io::H5Table& table, bool is_one_row);
  void require_plain_sources(const io::H5Table& table);
  std::string beside(std::size_t file, const std::string& name) const;
  std::size_t add_file(const std::string& path);
  io::H5Id& open_file(std::size_t number);

  H5Index index_;
  std::map<std::string, std::size_t> numbers_;                                // of files, by path
  std::map<std::size_t, io::H5Id> open_;                                      // the file itself, and one more
  std::map<std::tuple<std::size_t, std::string, bool>, std::size_t> tables_;  // by file, dataset, and whether it is one row
};

}  // namespace trainrt::data
