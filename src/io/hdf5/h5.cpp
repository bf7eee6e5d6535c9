#include "io/hdf5/h5.hpp"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <system_error>

#include <fmt/format.h>
#include <trainrt/error.hpp>

#include "core/files/guarded_tree.hpp"
#include "core/files/shortage.hpp"
#include "core/options.hpp"

#include "io/storage_error.hpp"

namespace trainrt::io {

namespace {

std::atomic<bool> has_failed_close = false;

void start_library() {
  setenv("HDF5_USE_FILE_LOCKING", "FALSE", 1);
  if (H5open() < 0) throw Error("cannot start the HDF5 library");
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

/// Callback of H5Ewalk2(): appends the description of one entry of HDF5's error stack to `out`, a std::string.
herr_t collect(unsigned, const H5E_error2_t* error, void* out) {
  auto& text = *static_cast<std::string*>(out);
  if (error->desc == nullptr || *error->desc == '\0') return 0;
  if (!text.empty()) text += " < ";
  for (const char* c = error->desc; *c != '\0'; ++c) text += *c == '\n' ? ' ' : *c;
  return 0;
}

std::string take_error_stack() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, collect, &text);
  H5Eclear2(H5E_DEFAULT);
  return text.empty() ? "no reason" : text;
}

/// Returns the part of `text` between the first `before` and the next `after`, or "" if `text` does not contain `before`.
std::string between(const std::string& text, std::string_view before, std::string_view after) {
  const auto at = text.find(before);
  if (at == std::string::npos) return {};
  const auto from = at + before.size();
  return text.substr(from, text.find(after, from) - from);
}

/// Throws StorageError if the error stack `stack` has a full disk or an exceeded quota as its cause, as reported by
/// HDF5's file driver (H5FDsec2.c): HDF5's own message does not help users in this case.
void throw_if_shortage(std::string_view what, const std::string& stack) {
  const auto number = parse_integer(between(stack, "errno = ", ","));
  if (number != ENOSPC && number != EDQUOT) return;
  const auto path = between(stack, "filename = '", "'");
  const auto found = shortage_at(path, static_cast<int>(*number));
  throw StorageError(
      fmt::format("cannot {}: {}; {}", what, std::generic_category().message(static_cast<int>(*number)), found.text),
      static_cast<int>(*number), path, found.shortage);
}

}  // namespace

void h5_start() {
  static std::once_flag once;
  std::call_once(once, start_library);
}

void h5_note_failed_close() { has_failed_close = true; }

bool h5_has_failed_close() { return has_failed_close; }

LibraryVersion hdf5_version() {
  const auto lock = h5_lock();
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  h5_check(H5get_libversion(&major, &minor, &release), "read the version of HDF5");
  return {fmt::format("{}.{}.{}", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE),
          fmt::format("{}.{}.{}", major, minor, release)};
}

std::unique_lock<std::recursive_mutex> h5_lock() {
  static std::recursive_mutex mutex;
  std::unique_lock lock(mutex);
  h5_start();
  // In a thread-safe build of HDF5, each thread has its own error stack. HDF5 prints the errors of a thread unless this
  // thread has disabled the printing.
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
  return lock;
}

void h5_fail(std::string_view what, std::source_location where) {
  const std::string file = where.file_name();
  const auto stack = take_error_stack();
  throw_if_shortage(what, stack);
  throw Error("cannot " + std::string(what) + ": HDF5 reports " + stack + " (" + file.substr(file.rfind('/') + 1) + ":" +
              std::to_string(where.line()) + ")");
}

H5Id h5_link_properties() {
  H5Id links(H5Pcreate(H5P_LINK_CREATE), H5Pclose, "make link properties");
  h5_check(H5Pset_create_intermediate_group(links, 1), "request missing groups");
  h5_check(H5Pset_char_encoding(links, H5T_CSET_UTF8), "request UTF-8 names");
  return links;
}

}  // namespace trainrt::io
