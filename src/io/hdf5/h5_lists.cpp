#include <trainrt/error.hpp>

#include "io/hdf5/h5_types.hpp"

namespace trainrt::io {

namespace {

H5Id open_dataset(hid_t parent, const std::string& name) {
  return H5Id(H5Dopen2(parent, name.c_str(), H5P_DEFAULT), H5Dclose, "open dataset '" + name + "'");
}

/// Returns the number of elements of a 1-D dataset. Throws Error if the dataset has another type than `type`, is not 1-D,
/// or claims to have more elements than the file stores.
std::size_t length_of(hid_t dataset, const std::string& name, const std::string& type, std::size_t element_bytes) {
  if (h5_dataset_type(dataset) != type) throw Error("dataset '" + name + "' is not of type " + type);
  const auto shape = h5_dataset_shape(dataset);
  if (shape.size() != 1) throw Error("dataset '" + name + "' is not 1-D");
  const auto count = static_cast<std::size_t>(shape.front());
  if (H5Dget_storage_size(dataset) / element_bytes < count)
    throw Error("dataset '" + name + "' has more values than the file stores");
  return count;
}

template <class T>
std::vector<T> read_numbers(hid_t parent, const std::string& name, const char* type_name, hid_t type) {
  const auto dataset = open_dataset(parent, name);
  std::vector<T> values(length_of(dataset, name, type_name, sizeof(T)));
  if (!values.empty())
    h5_check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), "read dataset '" + name + "'");
  return values;
}

}  // namespace

std::vector<double> h5_read_f64_list(hid_t parent, const std::string& name) {
  const auto lock = h5_lock();
  return read_numbers<double>(parent, name, "f64", H5T_NATIVE_DOUBLE);
}

std::vector<std::int64_t> h5_read_i64_list(hid_t parent, const std::string& name) {
  const auto lock = h5_lock();
  return read_numbers<std::int64_t>(parent, name, "i64", H5T_NATIVE_INT64);
}

std::vector<std::string> h5_read_string_list(hid_t parent, const std::string& name) {
  const auto lock = h5_lock();
  const auto what = "read dataset '" + name + "'";
  const auto dataset = open_dataset(parent, name);
  const H5Id type(H5Dget_type(dataset), H5Tclose, what);
  std::vector<char*> pointers(length_of(dataset, name, "string", sizeof(char*)));
  if (h5_check(H5Tis_variable_str(type), what) == 0)
    throw Error("the strings of dataset '" + name + "' have a fixed length");
  std::vector<std::string> strings;
  if (pointers.empty()) return strings;
  h5_check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, pointers.data()), what);
  for (const auto* pointer : pointers) strings.emplace_back(pointer == nullptr ? "" : pointer);
  const H5Id space(H5Dget_space(dataset), H5Sclose, what);
  h5_check(H5Dvlen_reclaim(type, space, H5P_DEFAULT, pointers.data()), what);
  return strings;
}

std::string h5_list_type(hid_t parent, const std::string& name) {
  const auto lock = h5_lock();
  return h5_dataset_type(open_dataset(parent, name));
}

}  // namespace trainrt::io
