#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "io/hdf5/h5.hpp"

namespace trainrt::io {

// Functions that read 1-D datasets as h5_write() writes them. They throw Error if the dataset is missing, has another type
// or shape, or claims to have more values than the file stores.

std::vector<double> h5_read_f64_list(hid_t parent, const std::string& name);
std::vector<std::int64_t> h5_read_i64_list(hid_t parent, const std::string& name);
std::vector<std::string> h5_read_string_list(hid_t parent, const std::string& name);

/// Returns the type of the dataset's values: "f64", "i64", "string", ... (see h5_type_name()).
std::string h5_list_type(hid_t parent, const std::string& name);

}  // namespace trainrt::io
