#include "data/bytes/verify.hpp"

namespace trainrt::data {

Verify verify_of(const Options& options) {
  const auto text = options.text("verify");
  return text == "off" ? Verify::off : text == "always" ? Verify::always : Verify::first;
}

OptionSpec verify_option() {
  return {
      .key = "verify",
      .default_value = "first",
      .help =
          "when checksums that files store are verified: first (at least once per attempt of a run, before the first "
          "sample is used), always (also with each reading of a sample) or off (damaged files are read as they are, where "
          "decompression allows it)",
      .choices = {"first", "always", "off"}};
}

}  // namespace trainrt::data
