#pragma once
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "data/hdf5/h5_index.hpp"
#include "io/hdf5/h5_table.hpp"

namespace trainrt::data {

/// Finds the files and positions where the rows of an HDF5 file's datasets are stored. The rows may also be in other
/// files, to which a virtual dataset or external storage refers. The functions throw UsageError if such a file is outside
/// of the folder of the HDF5 file. The caller must hold io::h5_lock() as long as the object exists.
class H5Resolver {
 public:
  explicit H5Resolver(const DataFile& file);
  /// Returns the pieces of a dataset, in the order of its rows. A piece is a group of consecutive rows. `dataset` is
  /// the path of the dataset in the HDF5 file. The messages of Error and UsageError do not name the dataset; the caller
  /// adds its name.
  std::vector<H5Piece> pieces_of(const std::string& dataset);
  /// Returns the open HDF5 file.
  io::H5Id& file() { return open_file(0); }
  /// Returns an index with the files and tables of all datasets that pieces_of() has resolved. The caller sets
  /// H5Index::fields. No other function may be called after this one.
  H5Index take() { return std::move(index_); }

 private:
  using Pieces = std::optional<std::vector<H5Piece>>;  ///< nullopt: only the HDF5 library can read the dataset
  /// Does the work of pieces_of() for a dataset of the file with the index `file`. Treats the dataset as rows of
  /// `row_elements` elements of type `dtype`. `depth` is the number of virtual datasets that led to this dataset.
  Pieces resolve(std::size_t file, const std::string& dataset, std::uint64_t row_elements, DType dtype, int depth);
  Pieces resolve_external(std::size_t file, const io::H5Table& table, std::uint64_t row_elements);
  Pieces resolve_chunks(std::size_t file, const std::string& dataset, const io::H5Table& table, std::uint64_t row_elements);
  Pieces resolve_virtual(std::size_t file, const io::H5Table& table, std::uint64_t row_elements, int depth);
  Pieces resolve_mapping(std::size_t file, const io::H5Mapping& mapping, const io::H5Table& table,
                         std::uint64_t row_elements, int depth);
  std::size_t add_chunks(std::size_t file, const std::string& dataset, const io::H5Table& table, bool is_one_row);
  void require_readable_sources(const io::H5Table& table);
  std::string path_of(std::size_t file, const std::string& name) const;
  std::size_t add_file(const std::string& path);
  io::H5Id& open_file(std::size_t number);

  H5Index index_;
  std::map<std::string, std::size_t> numbers_;  // indices in H5Index::files, by path
  std::map<std::size_t, io::H5Id> open_;        // by index: the open HDF5 file itself, and at most one other open file
  std::map<std::tuple<std::size_t, std::string, bool>, std::size_t>
      tables_;  // indices in H5Index::tables, by file, dataset, and whether the table is used as one row
};

}  // namespace trainrt::data
