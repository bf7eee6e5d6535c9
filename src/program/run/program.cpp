#include "program/run/program.hpp"

#include <memory>
#include <utility>

#include "program/run/program_host.hpp"

namespace trainrt::program {

ProgramFunction program_function(ProgramOptions options) {
  auto host = std::make_shared<ProgramHost>(std::move(options));
  return {[host](Context& ctx) { host->train(ctx); }, [host] { return host->stacks(); }, host};
}

}  // namespace trainrt::program
