#pragma once
#include <memory>

#include <trainrt/communicator.hpp>
#include <trainrt/export.hpp>

namespace trainrt {

// Communicators for a program that brings its own main. A train function gets its communicator from its Context instead.

/// One rank alone.
TRAINRT_API std::unique_ptr<Communicator> self_communicator();

/// All ranks of MPI_COMM_WORLD. The program has called MPI_Init or MPI_Init_thread (MPI_THREAD_FUNNELED or more is what the
/// MPI standard asks for where a program has threads; trainrt's own never call MPI), and this is the thread that did so;
/// else UsageError. Collective, as is its end, which comes before MPI_Finalize; that stays the program's own. Messages
/// never mix with the program's. A call that some rank does not join for `timeout_seconds` throws Error.
TRAINRT_API std::unique_ptr<Communicator> mpi_communicator(double timeout_seconds = 1800);

}  // namespace trainrt
