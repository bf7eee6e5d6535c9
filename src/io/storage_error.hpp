#pragma once
#include <cerrno>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <trainrt/error.hpp>

#include "core/files/shortage.hpp"

namespace trainrt::io {

/// Error for a failed system call on a file or directory, or for a failed request to an object store. The exit code is 70.
/// Exception: it is 64 (usage) if the cause is a symbolic link that is not followed (ELOOP), because a restart would fail
/// in the same way.
class StorageError : public Error {
 public:
  StorageError(const std::string& message, int error_number, std::string path, Shortage shortage = Shortage::none)
      : Error(message, error_number == ELOOP ? ExitCode::usage : ExitCode::failed),
        error_number_(error_number),
        path_(std::move(path)),
        shortage_(shortage) {}
  int error_number() const { return error_number_; }  ///< errno of the failed call
  /// File, directory or URL that the error is about; "" if it has no path.
  const std::string& path() const { return path_; }
  /// Resource that ran out, such as disk space; Shortage::none for other errors.
  Shortage shortage() const { return shortage_; }

 private:
  int error_number_;
  std::string path_;
  Shortage shortage_;
};

/// Returns whether `error_number` (an errno value) is transient: a file system returns it while its server is
/// unavailable, and a retry a minute later may succeed. A full disk and an exceeded quota are not transient.
bool is_transient(int error_number);

/// Returns whether `error` is a StorageError with a transient error number.
bool is_transient(const std::exception& error);

/// Returns whether `error` is a StorageError of storage that is full: without space, inodes or quota.
bool is_full(const std::exception& error);

/// Returns whether `error_number` (an errno value) means that this process or machine has run out of file descriptors or
/// memory. Neither the file nor its storage is then at fault.
bool is_out_of_resources(int error_number);

/// Throws StorageError with the message "cannot OPERATION 'PATH': REASON; ADVICE" for a system call that failed with
/// `error_number` (an errno value).
[[noreturn]] void fail(std::string_view operation, const std::string& path, int error_number);

/// Throws StorageError for a failed rename. The message names both paths and, if a symbolic link in one of the paths is
/// the cause, that link.
[[noreturn]] void fail_to_rename(const std::string& from, const std::string& to, int error_number);

}  // namespace trainrt::io
