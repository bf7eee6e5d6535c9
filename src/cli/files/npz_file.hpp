#pragma once
#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include <trainrt/tensor.hpp>

#include "cli/files/zip_file.hpp"

namespace trainrt::cli {

/// Writes NumPy's archive format (.npz): an uncompressed zip archive of .npy arrays, which numpy.load reads without pickle.
/// Arrays of bf16 and f8 are stored as f32, because NumPy has no such types.
class NpzFile {
 public:
  /// Writes into `file`, which must outlive this object.
  explicit NpzFile(AtomicFile& file) : zip_(file) {}

  /// Begins the array `name` and ends the previous one.
  void begin(const std::string& name, DType dtype, const Shape& shape);
  /// Writes the next values of the current array, in row-major order. `values` have the array's type and are aligned
  /// for it.
  void write(std::span<const std::byte> values);
  /// Adds a zero-dimensional array. `description` is its NumPy dtype, such as "<f4" or "|S5"; `bytes` are its value.
  void add_scalar(const std::string& name, std::string_view description, std::string_view bytes);
  /// Ends the last array and writes the directory of the archive.
  void finish() { zip_.finish(); }

 private:
  ZipFile zip_;
  DType dtype_ = DType::f32;  ///< type of the current array
};

}  // namespace trainrt::cli
