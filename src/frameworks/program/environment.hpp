#pragma once
#include <string>
#include <vector>

#include <trainrt/context.hpp>

namespace trainrt::program {

/// The environment of a program, as NAME=value: this process's without what would let it take this rank's place in MPI or
/// PMIx; with the rank's numbers under torchrun's names, TRAINRT_RUN_NAME, TRAINRT_RUN_DIR, TRAINRT_FD = `socket`, and the
/// folder of the Python client in front of PYTHONPATH.
std::vector<std::string> program_environment(const Context& ctx, int socket);

}  // namespace trainrt::program
