#pragma once
#include <cerrno>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <trainrt/error.hpp>

#include "core/files/shortage.hpp"

namespace trainrt::io {

/// Reports a failed system call on a file or directory, or a failed request to an object store. The exit code is 64 if a
/// symbolic link was not followed, because a restart would meet the link again, and 70 otherwise.
class StorageError : public Error {
 public:
  StorageError(const std::string& message, int error_number, std::string path, Shortage shortage = Shortage::none)
      : Error(message, error_number == ELOOP ? ExitCode::usage : ExitCode::failed),
        error_number_(error_number),
        path_(std::move(path)),
        shortage_(shortage) {}
  int error_number() const { return error_number_; }  ///< errno
  const std::string& path() const { return path_; }   ///< file or directory; "" if the error has no path, or several
  Shortage shortage() const { return shortage_; }     ///< resource that ran out; Shortage::none for other errors

 private:
  int error_number_;
  std::string path_;
  Shortage shortage_;
};

/// Returns whether `error_number` (errno) is an error that a file system gives while its server is unavailable, and that
/// may be gone a minute later. A full disk and an exceeded quota are not transient.
bool is_transient(int error_number);

/// Returns whether `error` is a StorageError with a transient error number.
bool is_transient(const std::exception& error);

/// Returns whether `error_number` (errno) reports that this process or machine has no free file descriptor or memory left,
/// which is no fault of the file or its storage.
bool is_out_of_resources(int error_number);

/// Throws the StorageError of a failed system call: "cannot OPERATION 'PATH': REASON; ADVICE".
[[noreturn]] void fail(std::string_view operation, const std::string& path, int error_number);

/// Throws the StorageError of a failed rename. It names both paths, or the symbolic link that is a part of one of them.
[[noreturn]] void fail_to_rename(const std::string& from, const std::string& to, int error_number);

}  // namespace trainrt::io
