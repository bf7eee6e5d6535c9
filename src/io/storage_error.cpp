#include "io/storage_error.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include "core/files/guarded_tree.hpp"

namespace trainrt::io {

namespace {

struct ErrorAdvice {
  int error_number;
  std::string_view text;
};
constexpr ErrorAdvice advices[] = {
    {EFBIG, "the file exceeds a size limit: raise ulimit -f, or check the limit of the file system"},
    {EACCES, "check the owner and the permissions of the directories on that path"},
    {EPERM, "check the owner and the permissions of the directories on that path"},
    {EROFS, "the file system is mounted read-only"},
    {EIO, "the storage failed: report it to the administrators of this file system"},
    {ESTALE, "the file server lost the file: report it to the administrators of this file system"},
    {ELOOP, "a symbolic link has this name, and links are not followed here: remove the link"},
    {ENOENT, "check that the path exists and is mounted on this node"},
    {ENOTDIR, "a folder of the path is a file: choose another path"},
    {EMFILE, "this process has reached its limit of open files: raise ulimit -n"},
    {ENFILE, "this machine has reached its limit of open files: ask its administrators to raise fs.file-max"},
    {ENOMEM, "this machine or job is out of memory: give the job more, or start fewer ranks per node"},
    {ENAMETOOLONG, "choose a shorter path"},
};

std::string_view advice_for(int error_number) {
  for (const auto& advice : advices)
    if (advice.error_number == error_number) return advice.text;
  return "check the path on this node";
}

constexpr int transient[] = {EIO,          ESTALE,     ETIMEDOUT, EAGAIN, ENXIO,     EHOSTDOWN,
                             EHOSTUNREACH, ECONNRESET, ENOTCONN,  EINTR,  ESHUTDOWN, EREMOTEIO};

/// Returns the end of an error message, "REASON; ADVICE", for a call on `path` that failed with `error_number`.
/// `shortage`: the result of shortage_at() for this error.
std::string reason_of(const std::string& path, int error_number, const ShortageFound& shortage) {
  if (const auto found = error_number == ELOOP ? link_in_the_way(path) : std::nullopt)
    return "'" + found->link + "' is a symbolic link, and links in '" + found->root +
           "' are not followed; remove the link, or replace it with its target";
  return std::generic_category()
      .message(error_number)
      .append("; ")
      .append(shortage.text.empty() ? advice_for(error_number) : shortage.text);
}

}  // namespace

bool is_transient(int error_number) { return std::ranges::find(transient, error_number) != std::end(transient); }

bool is_transient(const std::exception& error) {
  const auto* storage = dynamic_cast<const StorageError*>(&error);
  return storage != nullptr && is_transient(storage->error_number());
}

bool is_full(const std::exception& error) {
  const auto* storage = dynamic_cast<const StorageError*>(&error);
  return storage != nullptr && storage->shortage() != Shortage::none;
}

bool is_out_of_resources(int error_number) {
  return error_number == EMFILE || error_number == ENFILE || error_number == ENOMEM;
}

void fail(std::string_view operation, const std::string& path, int error_number) {
  const auto shortage = shortage_at(path, error_number);
  std::string text = "cannot ";
  text.append(operation).append(" '").append(path).append("': ").append(reason_of(path, error_number, shortage));
  throw StorageError(text, error_number, path, shortage.shortage);
}

void fail_to_rename(const std::string& from, const std::string& to, int error_number) {
  const auto& cause = error_number == ELOOP && link_in_the_way(from) ? from : to;
  const auto shortage = shortage_at(to, error_number);
  throw StorageError("cannot rename '" + from + "' to '" + to + "': " + reason_of(cause, error_number, shortage),
                     error_number, to, shortage.shortage);
}

}  // namespace trainrt::io
