#pragma once
#include <string>

#include "tune/record/sweep.hpp"

namespace trainrt::tune {

/// Checks the journal in `folder`, a copy from the sweep's mirror, before its records are used, because others may be able
/// to write to the mirror. A clone must start from a checkpoint in its own folder below clones/. The value of a key of
/// trainrt, such as train.library, must be one that [tune.space] or [tune.mutations] can produce; keys of [loop] are only
/// values for the train function. Throws UsageError with file, line and value.
void check_mirrored_journal(const Sweep& sweep, const std::string& folder);

}  // namespace trainrt::tune
