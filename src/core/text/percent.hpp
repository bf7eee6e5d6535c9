#pragma once
#include <string>
#include <string_view>

namespace trainrt {

/// Percent-encodes `text` for a URL (RFC 3986): all bytes except letters, digits and -._~ become %XX. Slashes are kept if
/// `keeps_slashes`, as in the key of an object.
std::string percent_encoded(std::string_view text, bool keeps_slashes);

/// Replaces each %XX by its byte. A percent sign that is not followed by two hexadecimal digits is kept.
std::string percent_decoded(std::string_view text);

}  // namespace trainrt
