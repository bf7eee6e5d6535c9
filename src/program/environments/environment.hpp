#pragma once
#include <string>
#include <vector>

#include "core/process/child_environment.hpp"
#include "program/environments/framework_environment.hpp"
#include "program/rendezvous/meeting.hpp"
#include "program/rendezvous/program_place.hpp"

namespace trainrt::program {

/// The environment of a program: what this process has inherited, without what would let the program take this rank's
/// place in MPI or PMIx; RANK, WORLD_SIZE, LOCAL_RANK, LOCAL_WORLD_SIZE, NODE_RANK; OMP_NUM_THREADS and other choices if
/// they are not set; and the variables of the frameworks. Pure.
Variables environment_with(Variables inherited, const Meeting& meeting, const Frameworks& frameworks);

/// What is known of this rank without the others, for an Arrangement. `hides_gpus`: the program gets none.
Meeting known_of(const ProgramPlace& place, bool hides_gpus);

/// Returns environment_with() of this process's variables and `besides`, and adds the variables that the client reads:
/// TRAINRT_RUN_NAME, TRAINRT_RUN_DIR, TRAINRT_FD = `socket`, and the client's folder at the front of PYTHONPATH. Sets
/// PYTHONUNBUFFERED = 1 and PYTHONFAULTHANDLER = 1 if they are not set.
Variables program_environment(const ProgramPlace& place, int socket, const Meeting& meeting, const Frameworks& frameworks,
                              const Variables& besides = {});

}  // namespace trainrt::program
