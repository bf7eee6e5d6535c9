#pragma once
#include <hdf5.h>

#include <concepts>
#include <cstdint>
#include <functional>
#include <mutex>
#include <source_location>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/library_version.hpp"

namespace trainrt::io {

/// Returns two versions of the HDF5 library: the one that trainrt was compiled with, and the one that is loaded.
LibraryVersion hdf5_version();

/// Locks the HDF5 library, which must be called from one thread at a time, and calls h5_start(). Hold the lock as long as
/// any HDF5 id exists. The mutex is recursive, and every function of src/io locks it; therefore only code that calls
/// H5... functions directly needs h5_lock().
[[nodiscard]] std::unique_lock<std::recursive_mutex> h5_lock();
/// Starts the HDF5 library, once per process, without file locks (Lustre may be mounted without flock) and without HDF5's
/// own error output. Call it at the beginning of main(), before other threads exist.
void h5_start();

/// Throws Error with the message "cannot WHAT: HDF5 reports CAUSE < ... (FILE:LINE)", from the descriptions in HDF5's
/// error stack. Throws StorageError instead if the cause is a full disk or an exceeded quota.
[[noreturn]] void h5_fail(std::string_view what, std::source_location where);

/// Checks the result of an HDF5 call: returns `result`, or calls h5_fail() if it is negative. Every HDF5 call is checked
/// by this function. `what` completes the message "cannot ...".
template <class T>
requires std::signed_integral<T> || std::is_enum_v<T> T
h5_check(T result, std::string_view what, std::source_location where = std::source_location::current()) {
  if (static_cast<std::int64_t>(result) < 0) h5_fail(what, where);
  return result;
}

/// Records that an HDF5 file could not be closed because its storage failed. HDF5's atexit() handler then crashes, so
/// main() must exit without running atexit() handlers if h5_has_failed_close() returns true.
void h5_note_failed_close();
bool h5_has_failed_close();

/// Owns an HDF5 id, which the destructor closes with the function `how`. The constructor checks the result of the HDF5
/// call that made the id: H5Id file(H5Fopen(...), H5Fclose, "open '" + path + "'"). Hold h5_lock() as long as the object
/// exists.
class H5Id {
 public:
  using Close = herr_t (*)(hid_t);
  H5Id(hid_t id, Close how, std::string_view what, std::source_location where = std::source_location::current())
      : id_(h5_check(id, what, where)), close_(how) {}
  H5Id(H5Id&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  H5Id& operator=(H5Id&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~H5Id() {
    if (id_ >= 0) note(close_(id_));
  }
  operator hid_t() const { return id_; }
  /// Gives up the ownership of the HDF5 id: returns the open id, which the caller must close.
  hid_t release() { return std::exchange(id_, -1); }
  /// Closes the HDF5 id and throws Error if that fails, whereas the destructor ignores errors.
  void close(std::string_view what, std::source_location where = std::source_location::current()) {
    h5_check(note(close_(std::exchange(id_, -1))), what, where);
  }

 private:
  herr_t note(herr_t result) const {
    if (result < 0 && close_ == H5Fclose) h5_note_failed_close();
    return result;
  }

  hid_t id_;
  Close close_;
};

/// Builds an HDF5 file in memory and returns its bytes. `fill` is called with the open, empty file, and creates its
/// content. Write the bytes to disk with the functions of io/files, because HDF5 itself cannot recover from a full disk.
/// HDF5 1.8 and newer can read the file (1.10 and newer if it contains virtual datasets).
std::string h5_image(const std::function<void(hid_t file)>& fill);

/// Creates the 1-D dataset `name` in `parent` and writes `values` as f64, i64, or variable-length UTF-8 strings, each
/// truncated at its first NUL. `name` may be a path; missing groups are created.
void h5_write(hid_t parent, const std::string& name, std::span<const double> values);
void h5_write(hid_t parent, const std::string& name, std::span<const std::int64_t> values);
void h5_write(hid_t parent, const std::string& name, std::span<const std::string> values);

/// Reads a 1-D dataset written by h5_write(). Throws Error if the dataset is missing, has another type or shape, or
/// claims to have more values than the file stores.
std::vector<double> h5_read_f64_list(hid_t parent, const std::string& name);
std::vector<std::int64_t> h5_read_i64_list(hid_t parent, const std::string& name);
std::vector<std::string> h5_read_string_list(hid_t parent, const std::string& name);

/// Returns the type of the values of the dataset `name`: "f64", "i64", "string", ... (see h5_type_name()).
std::string h5_list_type(hid_t parent, const std::string& name);

/// Creates the attribute `name` of an HDF5 file, group or dataset: a scalar i64, a variable-length UTF-8 string, or a 1-D
/// list of i64.
void h5_write_attribute(hid_t object, const std::string& name, std::int64_t value);
void h5_write_attribute(hid_t object, const std::string& name, std::string_view text);
void h5_write_attribute(hid_t object, const std::string& name, std::span<const std::int64_t> values);
/// Creates a string attribute of fixed length, which h5py returns as bytes. HDF5 stores it in the header of `object`,
/// whereas a variable-length string is stored among the raw data. Use it in files with many datasets, and in files that
/// H5Memory builds.
void h5_write_fixed_text(hid_t object, const std::string& name, std::string_view text);

/// Reads an attribute written by h5_write_attribute() or h5_write_fixed_text(). Throws Error if the attribute is missing
/// or has another type.
std::int64_t h5_read_integer(hid_t object, const std::string& name);
std::string h5_read_text(hid_t object, const std::string& name);
std::vector<std::int64_t> h5_read_integers(hid_t object, const std::string& name);

/// Returns an HDF5 property list for creating groups and datasets: missing parent groups are created, and names are
/// UTF-8.
H5Id h5_link_properties();

}  // namespace trainrt::io
