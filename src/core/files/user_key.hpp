#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace trainrt {

/// Returns the HMAC-SHA256 of `message` under the key of this user, in hexadecimal digits. A record with such a code was
/// written by a process of this user; the Python package checks it (trainrt/train/_user_key.py).
///
/// The key is 32 random bytes in $XDG_STATE_HOME/trainrt/record.key (default ~/.local/state), mode 0600, and is made if it
/// is missing. Returns nullopt if no key can be made, or without libcrypto (core/sha256.hpp). Throws Error if other users
/// own the key or have access to it. Any thread may call it.
std::optional<std::string> code_of_user(std::string_view message);

/// Returns the HMAC-SHA256 (RFC 2104) of `message` under `key`, which has at most 64 bytes, in hexadecimal digits. Throws
/// UsageError without libcrypto.
std::string hmac_sha256(std::string_view key, std::string_view message);

}  // namespace trainrt
