#include "core/files/user_key.hpp"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <span>

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>
#include <trainrt/error.hpp>

#include "core/descriptor.hpp"
#include "core/environment.hpp"
#include "core/sha256.hpp"

namespace trainrt {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t key_bytes = 32, hmac_block_bytes = 64;

std::string home() {
  if (const auto home = Environment::of_process().text("HOME")) return *home;
  const auto* user = getpwuid(geteuid());
  return user == nullptr ? "" : user->pw_dir;
}

/// Returns the path of the file with this user's secret key; "" if this user has no home folder.
std::string path_of_key() {
  fs::path state = Environment::of_process().text("XDG_STATE_HOME").value_or("");
  // The XDG specification requires that a relative path in XDG_STATE_HOME is ignored.
  if (!state.is_absolute()) state = fs::path(home()) / ".local/state";
  return state.is_absolute() ? (state / "trainrt/record.key").string() : "";
}

Error refusal(const std::string& path, const std::string& why) {
  return Error(fmt::format("the key file {} {} and is not used. Remove it; trainrt then creates a new one", path, why));
}

/// Reads this user's secret key from the file `path`; returns nullopt if the file does not exist. Throws Error if another
/// user owns the file or has access to it, or if it cannot be read or has a wrong size.
std::optional<std::string> read_key(const std::string& path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  if (!file) throw refusal(path, fmt::format("cannot be read ({})", std::strerror(errno)));
  struct stat found {};
  if (fstat(file.get(), &found) != 0 || !S_ISREG(found.st_mode) || found.st_uid != geteuid() || (found.st_mode & 077) != 0)
    throw refusal(path, fmt::format("is not a private file of this user (owner {}, mode {:04o})", found.st_uid,
                                    found.st_mode & 07777));
  std::string key(key_bytes, '\0');
  if (found.st_size != key_bytes || read(file.get(), key.data(), key.size()) != static_cast<ssize_t>(key_bytes))
    throw refusal(path, fmt::format("has {} bytes, not {},", found.st_size, key_bytes));
  return key;
}

bool write_new(const std::string& path, std::string_view bytes) {
  const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  return file && write(file.get(), bytes.data(), bytes.size()) == static_cast<ssize_t>(bytes.size()) &&
         fsync(file.get()) == 0;
}

/// Creates the file `path` with a new secret key and returns the key. If several processes call this function at once, all
/// return the same key. Returns nullopt if the key's folder cannot be written.
std::optional<std::string> make_key(const std::string& path) {
  std::array<char, key_bytes + 8> random{};
  if (getrandom(random.data(), random.size(), 0) != static_cast<ssize_t>(random.size())) return std::nullopt;
  const std::string_view bytes(random.data(), random.size());
  std::string temporary = path + fmt::format(".{}.", getpid());
  for (const unsigned char byte : bytes.substr(key_bytes)) temporary += fmt::format("{:02x}", byte);
  const auto folder = fs::path(path).parent_path();
  std::error_code none;
  const bool is_new = fs::create_directories(folder, none);
  if (is_new) fs::permissions(folder, fs::perms::owner_all, none);
  const bool is_written = write_new(temporary, bytes.substr(0, key_bytes));
  // link(2) fails if another process has created the key file first; read_key() then reads that key.
  if (is_written) static_cast<void>(link(temporary.c_str(), path.c_str()) == 0);
  unlink(temporary.c_str());
  return read_key(path);
}

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string digest_of(std::string_view text) {
  const auto digest = sha256_of(bytes_of(text));
  return {digest.begin(), digest.end()};
}

}  // namespace

std::string hmac_sha256(std::string_view key, std::string_view message) {
  std::string inner(hmac_block_bytes, '\x36'), outer(hmac_block_bytes, '\x5c');
  for (std::size_t i = 0; i < key.size(); ++i) {
    inner[i] = static_cast<char>(inner[i] ^ key[i]);
    outer[i] = static_cast<char>(outer[i] ^ key[i]);
  }
  outer += digest_of(inner.append(message));
  return sha256_digits(bytes_of(outer));
}

std::optional<std::string> code_of_user(std::string_view message) try {
  const auto path = path_of_key();
  if (path.empty()) return std::nullopt;
  auto key = read_key(path);
  if (!key) key = make_key(path);
  if (!key) return std::nullopt;
  return hmac_sha256(*key, message);
} catch (const UsageError&) {
  return std::nullopt;
}

}  // namespace trainrt
