#include "io/storage_error.hpp"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <trainrt/error.hpp>

#include "core/files/guarded_tree.hpp"

namespace trainrt::io {

namespace {

struct Advice {
  int error_number;
  std::string_view text;
};
constexpr Advice advices[] = {
    {EFBIG, "a file may not be that large: raise the limit (ulimit -f), or ask for the file system's own"},
    {EACCES, "check the owner and the permissions of the directories on that path"},
    {EPERM, "check the owner and the permissions of the directories on that path"},
    {EROFS, "the file system is mounted read-only there"},
    {EIO, "the storage failed: tell those who run this file system"},
    {ESTALE, "the file server lost it: tell those who run this file system"},
    {ELOOP, "a symbolic link stands there, and is not followed: remove it"},
    {ENOENT, "check that the path exists and is mounted on this node"},
    {EMFILE, "too many open files: raise ulimit -n"},
    {ENFILE, "this machine has too many open files: tell those who run it (fs.file-max)"},
    {ENOMEM, "this machine or job is out of memory: give the job more, or start fewer ranks on a node"},
    {ENAMETOOLONG, "choose a shorter path"},
};

std::string_view advice_for(int error_number) {
  for (const auto& advice : advices)
    if (advice.error_number == error_number) return advice.text;
  return "check that path on this node";
}

constexpr int transient[] = {EIO,          ESTALE,     ETIMEDOUT, EAGAIN, ENXIO,     EHOSTDOWN,
                             EHOSTUNREACH, ECONNRESET, ENOTCONN,  EINTR,  ESHUTDOWN, EREMOTEIO};

}  // namespace

bool is_transient(int error_number) { return std::ranges::find(transient, error_number) != std::end(transient); }

bool may_pass(const std::exception& error) {
  const auto* storage = dynamic_cast<const StorageError*>(&error);
  return storage != nullptr && is_transient(storage->error_number());
}

bool is_out_of_resources(int error_number) {
  return error_number == EMFILE || error_number == ENFILE || error_number == ENOMEM;
}

namespace {

/// Why a call on `path` failed, and what to do. `shortage`: shortage_at() of both.
std::string reason_of(const std::string& path, int error_number, const ShortageFound& shortage) {
  if (const auto found = error_number == ELOOP ? link_in_the_way(path) : std::nullopt)
    return "'" + found->link + "' is a symbolic link, and links in '" + found->root +
           "' are not followed; remove the link, or replace it by what it leads to";
  return std::generic_category()
      .message(error_number)
      .append("; ")
      .append(shortage.text.empty() ? advice_for(error_number) : shortage.text);
}

}  // namespace

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
