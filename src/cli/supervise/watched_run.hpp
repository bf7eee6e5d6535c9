#pragma once
#include "config/run_spec.hpp"

namespace trainrt::cli {

/// The run that whoever starts ranks with this config watches over: the config's, or the one that its program has opened
/// instead, with what the record of that run says of failures and workers.
config::RunSpec watched_run(const config::RunSpec& of_config);

/// Lets the ranks tell which run their program opens. Before they are started.
void let_ranks_tell_run(const config::RunSpec& of_config);

/// The number that the last attempt of `now` had before a start: `before`, if the run is the same as then.
int number_before(const config::RunSpec& then, int before, const config::RunSpec& now);

}  // namespace trainrt::cli
