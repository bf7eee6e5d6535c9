#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace trainrt {

/// Returns the HMAC-SHA256 of `message` under this user's secret key, in hexadecimal digits. A record with this code is
/// proven to be written by a process of this user. The Python package checks the codes (trainrt/_support/_user_key.py).
///
/// The key is 32 random bytes in the file $XDG_STATE_HOME/trainrt/record.key (default ~/.local/state/trainrt/record.key),
/// mode 0600. The first call creates the file. Returns nullopt if the file cannot be created, or without libcrypto
/// (core/sha256.hpp). Throws Error if another user owns the file or has access to it. Thread-safe.
std::optional<std::string> code_of_user(std::string_view message);

/// Returns the HMAC-SHA256 (RFC 2104) of `message` under `key`, in hexadecimal digits. Precondition: `key` has at most 64
/// bytes. Throws UsageError if libcrypto is missing.
std::string hmac_sha256(std::string_view key, std::string_view message);

}  // namespace trainrt
