#include "data/bytes/verify.hpp"

namespace trainrt::data {

Verify verify_of(const Options& options) {
  const auto text = options.text("verify");
  return text == "off" ? Verify::off : text == "always" ? Verify::always : Verify::first;
}

OptionSpec verify_option() {
  return {.key = "verify",
          .default_value = "first",
          .help =
              "when to verify checksums that are stored in files: "
              "first (before the first sample is used, at least once per attempt of a run), "
              "always (also each time a sample is read) or off (damaged files are read without an error, if possible)",
          .choices = {"first", "always", "off"}};
}

}  // namespace trainrt::data
