#include "config/section.hpp"

namespace trainrt::config {

namespace {

std::vector<std::string> names_of_environments(const std::string& text) {
  return text == "none" ? std::vector<std::string>() : words_in(text);
}

}  // namespace

namespace plugins {

extern const Section program;
const Section program{
    .name = "program",
    .order = 7,
    .help = "what train.program finds in its environment, to train on several ranks",
    .keys = {key(&ProgramKeys::environments,
                 {.key = "program.env",
                  .default_value = "all",
                  .help = "the frameworks whose variables are set; `trainrt list` shows them",
                  .form = "all, none, or names of frameworks, separated by commas"},
                 names_of_environments),
             key(&ProgramKeys::interface,
                 {.key = "program.interface",
                  .help = "the network interface of the first rank's node whose address the programs meet at (eth0, ib0); "
                          "without it the first that all other nodes reach"})}};

}  // namespace plugins

}  // namespace trainrt::config
