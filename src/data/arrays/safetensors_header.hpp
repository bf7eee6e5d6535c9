#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <trainrt/tensor.hpp>

#include "data/bytes/input_file.hpp"

namespace trainrt::data {

/// A tensor of a safetensors file; its first axis counts the samples.
struct SafeTensor {
  std::string name;
  std::string kind;         ///< type of the values, by its name in the file: "F32"
  Shape shape;              ///< no extent is negative
  std::uint64_t begin = 0;  ///< offset in the file
  std::uint64_t bytes = 0;
};

/// Returns the tensors of a file of `file_bytes` bytes. `json` is the text of the file's header, which follows the length
/// of the header. Throws UsageError, which begins with `what`, in these cases: the header is damaged, the size of a tensor
/// contradicts its type and shape, or the tensors do not fill the rest of the file without gaps. Format:
/// https://github.com/huggingface/safetensors#format
std::vector<SafeTensor> safetensors_of(std::string_view json, std::uint64_t file_bytes, const std::string& what);
/// Reads the header of `file`.
std::vector<SafeTensor> safetensors_of(const InputFile& file);

/// Returns the type of the values. Throws UsageError, which begins with `what`, if trainrt does not support the type.
DType dtype_of(const SafeTensor& tensor, const std::string& what);

}  // namespace trainrt::data
