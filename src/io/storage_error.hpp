#pragma once
#include <cerrno>
#include <exception>
#include <string>
#include <string_view>
#include <utility>

#include <trainrt/error.hpp>

#include "core/files/shortage.hpp"

namespace trainrt::io {

/// A system call on a file failed. Its exit code is 64 if a symbolic link was not followed, since a restart would meet it
/// again, else 70.
class StorageError : public Error {
 public:
  StorageError(const std::string& message, int error_number, std::string path, Shortage shortage = Shortage::none)
      : Error(message, error_number == ELOOP ? ExitCode::usage : ExitCode::failed),
        error_number_(error_number),
        path_(std::move(path)),
        shortage_(shortage) {}
  int error_number() const { return error_number_; }  ///< errno
  const std::string& path() const { return path_; }  ///< of the file or directory; "" if it is about none, or about several
  Shortage shortage() const { return shortage_; }    ///< the resource that was used up; none for other errors

 private:
  int error_number_;
  std::string path_;
  Shortage shortage_;
};

/// Errors that a file system gives while its server is away, and that may be gone a minute later. The one list of them. A
/// full disk or a used-up quota is none: those last until somebody makes room.
bool is_transient(int error_number);

/// A StorageError of such a kind.
bool may_pass(const std::exception& error);

/// Errors that lie in this process or machine, not in the file or its storage: no file descriptors or no memory are left.
bool is_out_of_resources(int error_number);

/// Throws the StorageError of a failed system call: "cannot OPERATION 'PATH': REASON; ADVICE".
[[noreturn]] void fail(std::string_view operation, const std::string& path, int error_number);

/// Throws the StorageError of a rename that failed, which names both paths, or the symbolic link on one of them.
[[noreturn]] void fail_to_rename(const std::string& from, const std::string& to, int error_number);

}  // namespace trainrt::io
