#pragma once
#include <memory>

#include <trainrt/communicator.hpp>
#include <trainrt/export.hpp>

namespace trainrt {

// Communicators for a program that brings its own main. A train function gets its communicator from its Context instead.

/// One rank alone.
TRAINRT_API std::unique_ptr<Communicator> self_communicator();

/// Before MPI_Init, or not at all. Lets the MPI_Init that follows find the ranks of `srun --mpi=pmix` also if this MPI does
/// not speak PMIx (Debian's MPICH): MPI_Finalize and MPI_Abort then end the PMIx side too, and nothing else is to be
/// called. Lets UCX, which carries MPICH's messages, open no TCP port if one node holds all ranks, and do without a
/// /dev/shm that is too small, unless UCX_TLS is set; a program that spawns ranks on other nodes sets that. Under mpiexec,
/// srun --mpi=pmi2, or alone, that is all it does. UsageError after MPI_Init; a second call does nothing. A rank that the
/// launch promised and that does not come for `timeout_seconds` is named on standard error, and the step ends with exit 70.
TRAINRT_API void prepare_mpi(double timeout_seconds = 20);

/// All ranks of MPI_COMM_WORLD. The program has called MPI_Init or MPI_Init_thread (MPI_THREAD_FUNNELED or more is what the
/// MPI standard asks for if a program has threads; trainrt's own never call MPI), and this is the thread that did so;
/// else UsageError, as if MPI formed a world of fewer ranks than the launch promised. Collective, as is its end, which
/// comes before MPI_Finalize; that stays the program's own. Messages never mix with the program's. A call that some rank
/// does not join for `timeout_seconds` throws Error.
TRAINRT_API std::unique_ptr<Communicator> mpi_communicator(double timeout_seconds = 1800);

}  // namespace trainrt
