#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/tensor.hpp>

#include "data/bytes/input_file.hpp"
#include "data/source/row_file.hpp"

namespace trainrt::data {

/// A tensor of a safetensors file, its first axis that of the samples.
struct SafeTensor {
  std::string name;
  std::string kind;         ///< its type as the file has it: "F32"
  Shape shape;              ///< none is below 0
  std::uint64_t begin = 0;  ///< in the file
  std::uint64_t bytes = 0;
};

/// The tensors that the header of a file of `file_bytes` bytes names: `json` is what stands behind its length. They fill
/// the rest of the file without gaps, each with as many bytes as its type and shape take. Throws UsageError that begins
/// with `what`. Format: https://github.com/huggingface/safetensors#format
std::vector<SafeTensor> safetensors_of(std::string_view json, std::uint64_t file_bytes, const std::string& what);
/// Those of a file.
std::vector<SafeTensor> safetensors_of(const InputFile& file);

/// The type of its values. Throws UsageError that begins with `what` if there is none.
DType dtype_of(const SafeTensor& tensor, const std::string& what);

}  // namespace trainrt::data
