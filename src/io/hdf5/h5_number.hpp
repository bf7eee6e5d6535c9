#pragma once
#include <optional>
#include <string>

#include <trainrt/tensor.hpp>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

/// A stored type that is a DType, in either byte order.
struct H5Number {
  DType dtype = DType::u8;
  std::size_t swapped = 1;  ///< bytes of a value if they are big-endian; 1 if nothing is to be turned round
};
std::optional<H5Number> h5_number(hid_t type);

/// Any type in words, for messages: "u16", "compound", "string of variable length".
std::string h5_type_in_words(hid_t type);

}  // namespace trainrt::io
