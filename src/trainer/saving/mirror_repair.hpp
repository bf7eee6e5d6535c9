#pragma once
#include <cstdint>
#include <optional>
#include <string>

#include "config/run_spec.hpp"

namespace trainrt::trainer {

/// All checkpoints of the run directory are damaged: puts the newest intact one of checkpoint.mirror there, in the place of
/// the damaged one of that number if there is one. Returns its number; nullopt if no mirror is set, or if the mirror has
/// another run or no intact checkpoint, which is warned of. `private_dir` is the attempt's. One rank calls. Throws what the
/// storage throws: a mirror that is away may answer at the next start.
std::optional<std::int64_t> repair_from_mirror(const config::RunSpec& spec, const std::string& run_id,
                                               const std::string& private_dir);

}  // namespace trainrt::trainer
