#include "data/source/on_error.hpp"

namespace trainrt::data {

bool skips_errors(const Options& options) {
  const auto* const given = options.find("on_error");
  return given != nullptr && given->text == "skip";
}

}  // namespace trainrt::data
