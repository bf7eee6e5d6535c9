#include <cstring>
#include <trainrt/error.hpp>

#include "io/hdf5/h5.hpp"
#include "io/hdf5/h5_memory.hpp"
#include "io/hdf5/h5_types.hpp"

namespace trainrt::io {

namespace {

H5Id text_type() {
  H5Id type(H5Tcopy(H5T_C_S1), H5Tclose, "make a string type");
  h5_check(H5Tset_size(type, H5T_VARIABLE), "make a string type of variable length");
  h5_check(H5Tset_cset(type, H5T_CSET_UTF8), "make a UTF-8 string type");
  return type;
}

H5Id list_space(std::size_t count) { return h5_space({static_cast<std::int64_t>(count)}); }

void write_list(hid_t parent, const std::string& name, hid_t type, std::size_t count, const void* data) {
  const auto links = h5_link_properties();
  const auto space = list_space(count);
  H5Id dataset(H5Dcreate2(parent, name.c_str(), type, space, links, H5P_DEFAULT, H5P_DEFAULT), H5Dclose,
               "create dataset '" + name + "'");
  if (count > 0) h5_check(H5Dwrite(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data), "write dataset '" + name + "'");
  dataset.close("finish dataset '" + name + "'");
}

void write_attribute(hid_t object, const std::string& name, hid_t type, hid_t space, const void* data) {
  H5Id attribute(H5Acreate2(object, name.c_str(), type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                 "create attribute '" + name + "'");
  if (data != nullptr) h5_check(H5Awrite(attribute, type, data), "write attribute '" + name + "'");
}

H5Id open_attribute(hid_t object, const std::string& name) {
  return H5Id(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose, "open attribute '" + name + "'");
}

std::size_t count_of(hid_t attribute, const std::string& name) {
  H5Id space(H5Aget_space(attribute), H5Sclose, "read attribute '" + name + "'");
  return static_cast<std::size_t>(
      h5_check(H5Sget_simple_extent_npoints(space), "count the values of attribute '" + name + "'"));
}

}  // namespace

std::string h5_image(const std::function<void(hid_t)>& fill) {
  const auto memory = H5Memory::build(0, fill);
  std::string bytes(static_cast<std::size_t>(memory.file_bytes()), '\0');
  const auto front = memory.front();
  if (!front.empty()) std::memcpy(bytes.data(), front.data(), front.size());
  return bytes;
}

void h5_write(hid_t parent, const std::string& name, std::span<const double> values) {
  const auto lock = h5_lock();
  write_list(parent, name, H5T_IEEE_F64LE, values.size(), values.data());
}

void h5_write(hid_t parent, const std::string& name, std::span<const std::int64_t> values) {
  const auto lock = h5_lock();
  write_list(parent, name, H5T_STD_I64LE, values.size(), values.data());
}

void h5_write(hid_t parent, const std::string& name, std::span<const std::string> values) {
  const auto lock = h5_lock();
  std::vector<const char*> texts;
  for (const auto& value : values) texts.push_back(value.c_str());
  write_list(parent, name, text_type(), texts.size(), texts.data());
}

void h5_write_attribute(hid_t object, const std::string& name, std::int64_t value) {
  const auto lock = h5_lock();
  write_attribute(object, name, H5T_STD_I64LE, h5_space({}), &value);
}

void h5_write_attribute(hid_t object, const std::string& name, std::string_view text) {
  const auto lock = h5_lock();
  const std::string copy(text);
  const char* pointer = copy.c_str();
  write_attribute(object, name, text_type(), h5_space({}), &pointer);
}

void h5_write_attribute(hid_t object, const std::string& name, std::span<const std::int64_t> values) {
  const auto lock = h5_lock();
  write_attribute(object, name, H5T_STD_I64LE, list_space(values.size()), values.empty() ? nullptr : values.data());
}

void h5_write_fixed_text(hid_t object, const std::string& name, std::string_view text) {
  const auto lock = h5_lock();
  const std::string padded = text.empty() ? std::string(1, '\0') : std::string(text);
  write_attribute(object, name, h5_string_type(padded.size()), h5_space({}), padded.data());
}

std::int64_t h5_read_integer(hid_t object, const std::string& name) {
  const auto values = h5_read_integers(object, name);
  if (values.size() != 1) throw Error("attribute '" + name + "' does not have exactly one value");
  return values.front();
}

std::vector<std::int64_t> h5_read_integers(hid_t object, const std::string& name) {
  const auto lock = h5_lock();
  const auto attribute = open_attribute(object, name);
  std::vector<std::int64_t> values(count_of(attribute, name));
  if (!values.empty())
    h5_check(H5Aread(attribute, H5T_NATIVE_INT64, values.data()), "read attribute '" + name + "' as integers");
  return values;
}

std::string h5_read_text(hid_t object, const std::string& name) {
  const auto lock = h5_lock();
  const auto attribute = open_attribute(object, name);
  const auto what = "read attribute '" + name + "' as a string";
  if (count_of(attribute, name) != 1) throw Error("attribute '" + name + "' is not a single string");
  H5Id stored(H5Aget_type(attribute), H5Tclose, what);
  if (h5_check(H5Tget_class(stored), what) != H5T_STRING) throw Error("attribute '" + name + "' is not a string");
  if (h5_check(H5Tis_variable_str(stored), what) == 0) {
    std::string text(H5Tget_size(stored), '\0');
    h5_check(H5Aread(attribute, stored, text.data()), what);
    return text.substr(0, text.find('\0'));
  }
  char* pointer = nullptr;
  h5_check(H5Aread(attribute, text_type(), &pointer), what);
  std::string text = pointer == nullptr ? "" : pointer;
  H5free_memory(pointer);
  return text;
}

}  // namespace trainrt::io
