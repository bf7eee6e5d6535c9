#include "cli/files/npz_file.hpp"

#include "cli/files/npy_array.hpp"

namespace trainrt::cli {

void NpzFile::begin(const std::string& name, DType dtype, const Shape& shape) {
  dtype_ = dtype;
  const auto header = npy_header(npy_description(dtype), shape);
  const auto element_bytes = is_widened(dtype) ? sizeof(float) : size_of(dtype);
  zip_.begin(name + ".npy", header.size() + static_cast<std::uint64_t>(element_count(shape)) * element_bytes);
  zip_.write(std::as_bytes(std::span(header)));
}

void NpzFile::write(std::span<const std::byte> values) {
  if (!is_widened(dtype_)) return zip_.write(values);
  const auto floats = widened(dtype_, values);
  zip_.write(std::as_bytes(std::span(floats)));
}

void NpzFile::add_scalar(const std::string& name, std::string_view description, std::string_view bytes) {
  const auto header = npy_header(description, {});
  zip_.begin(name + ".npy", header.size() + bytes.size());
  zip_.write(std::as_bytes(std::span(header)));
  zip_.write(std::as_bytes(std::span(bytes)));
}

}  // namespace trainrt::cli
