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

namespace trainrt::io {

/// HDF5 is called from one thread at a time: hold this for as long as ids live. Every function of io takes it itself (it is
/// recursive), so only code that calls H5... functions directly needs it. The first call starts the library, with file
/// locks off (Lustre without flock) and its own error printing off; call h5_start() at the top of main, before there are
/// threads.
[[nodiscard]] std::unique_lock<std::recursive_mutex> h5_lock();
void h5_start();

/// Throws Error "cannot WHAT: HDF5 says ..." with HDF5's own error stack folded in.
[[noreturn]] void h5_fail(std::string_view what, std::source_location where);

/// The one error check: passes a result on, throws Error if it is negative. `what` completes "cannot ...".
template <class T>
requires std::signed_integral<T> || std::is_enum_v<T> T
h5_check(T result, std::string_view what, std::source_location where = std::source_location::current()) {
  if (static_cast<std::int64_t>(result) < 0) h5_fail(what, where);
  return result;
}

/// A file that could not be closed, as its storage failed, makes HDF5 crash at the end of the process: main() then ends
/// without the functions of atexit().
void h5_note_failed_close();
bool h5_has_failed_close();

/// Owns an HDF5 id. Made from a call's result, which it checks: H5Id file(H5Fopen(...), H5Fclose, "open '" + path + "'").
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
  /// Gives the id away, open.
  hid_t release() { return std::exchange(id_, -1); }
  /// Closes now, with a check; the destructor has none.
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

/// Builds a file in memory and returns its bytes: `fill` gets the open, empty file. The bytes reach the target file system
/// by file.hpp, never by HDF5, which cannot survive a full disk. HDF5 1.8 and newer read the file (1.10 if it holds
/// virtual datasets).
std::string h5_image(const std::function<void(hid_t file)>& fill);

/// Creates the dataset `name` (a path; missing groups are made) in `parent` and writes it: 1-D f64, i64, or variable-length
/// UTF-8 strings (which end at a NUL).
void h5_write(hid_t parent, const std::string& name, std::span<const double> values);
void h5_write(hid_t parent, const std::string& name, std::span<const std::int64_t> values);
void h5_write(hid_t parent, const std::string& name, std::span<const std::string> values);

/// Creates an attribute of a file, group or dataset: a scalar i64, a UTF-8 text, a 1-D i64 list.
void h5_write_attribute(hid_t object, const std::string& name, std::int64_t value);
void h5_write_attribute(hid_t object, const std::string& name, std::string_view text);
void h5_write_attribute(hid_t object, const std::string& name, std::span<const std::int64_t> values);
/// A text of fixed length, which h5py gives as bytes. It lies in the object's own header, if the other kind of text lies
/// among the data: for many datasets and H5Memory.
void h5_write_word(hid_t object, const std::string& name, std::string_view text);

/// Reads attributes written like that; another type or a missing attribute throws Error.
std::int64_t h5_read_integer(hid_t object, const std::string& name);
std::string h5_read_text(hid_t object, const std::string& name);
std::vector<std::int64_t> h5_read_integers(hid_t object, const std::string& name);

/// Property list for creating links: missing groups are made, names are UTF-8.
H5Id h5_link_properties();

}  // namespace trainrt::io
