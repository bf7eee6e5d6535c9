#pragma once
#include <optional>
#include <string>
#include <string_view>

namespace trainrt {

/// The HMAC-SHA256 of `message` in hexadecimal digits, under the key of this user: 32 random bytes in
/// $XDG_STATE_HOME/trainrt/record.key (~/.local/state if that variable is not set), mode 0600, which are made if they are
/// missing. A record with such a code was written by this user's processes; the Python package checks it
/// (trainrt/train/_user_key.py). nullopt if there is no key and none can be made, or without libcrypto (core/sha256.hpp);
/// Throws Error if others own the key or have rights on it. Any thread.
std::optional<std::string> code_of_user(std::string_view message);

/// HMAC-SHA256 (RFC 2104) of `message` under `key`, which has at most 64 bytes, in hexadecimal digits. Throws UsageError
/// without libcrypto.
std::string hmac_sha256(std::string_view key, std::string_view message);

}  // namespace trainrt
