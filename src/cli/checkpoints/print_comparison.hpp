#pragma once
#include <string>
#include <vector>

#include <trainrt/error.hpp>

#include "checkpoint/load/piece_reader.hpp"
#include "cli/command_line/arguments.hpp"

namespace trainrt::cli {

/// Performs `trainrt inspect --compare`: compares the checkpoint `directory`, which `reader` reads, with the checkpoint of
/// the option, and prints the differences. Returns ExitCode::failed if there are any. Throws the errors of
/// compare_checkpoints() and find_checkpoint().
ExitCode print_comparison(const checkpoint::PieceReader& reader, const std::string& directory,
                          const std::vector<std::string>& pattern, const Arguments& arguments);

}  // namespace trainrt::cli
