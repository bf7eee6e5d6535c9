#include "cli/terminal/print.hpp"

#include "core/text/printable.hpp"

namespace trainrt::cli {

void print_text(std::string_view text) { fmt::print("{}", printable_text(text)); }

void print_json(const nlohmann::ordered_json& value) {
  fmt::print("{}\n", printable_json(value.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace)));
}

}  // namespace trainrt::cli
