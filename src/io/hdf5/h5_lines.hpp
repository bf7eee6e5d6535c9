#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

// 1-D datasets as h5_write() writes them. A dataset that is missing, or of another type or shape, throws Error, and so does
// one that claims to be longer than what the file stores of it.

std::vector<double> h5_read_reals(hid_t parent, const std::string& name);
std::vector<std::int64_t> h5_read_whole_numbers(hid_t parent, const std::string& name);
std::vector<std::string> h5_read_texts(hid_t parent, const std::string& name);

/// "f64", "i64", "string", ... (h5_type_name())
std::string h5_line_type(hid_t parent, const std::string& name);

}  // namespace trainrt::io
