#pragma once
#include <memory>

#include <trainrt/communicator.hpp>
#include <trainrt/export.hpp>

namespace trainrt {

// Functions that create a Communicator in a program with its own main. A train function uses Context::communicator()
// instead.

/// Returns a communicator of a single rank. Not collective.
TRAINRT_API std::unique_ptr<Communicator> self_communicator();

/// Prepares the process for MPI_Init. The call is optional. If it is made, all ranks must call it, before MPI_Init. A
/// second call has no effect. Throws UsageError if MPI is already initialized.
///
/// Under `srun --mpi=pmix`, prepare_mpi() lets an MPI library without PMIx support (Debian's MPICH) find the other ranks
/// through trainrt's PMIx client. MPI_Finalize and MPI_Abort then end the PMIx connection, too; no other call is necessary.
/// If an expected rank does not appear within `timeout_seconds`, the missing rank is named on standard error, and the Slurm
/// job step ends with exit code 70.
///
/// Under every launcher, prepare_mpi() configures UCX, the library that transports MPICH's messages: UCX then opens no
/// TCP port if one node holds all ranks, and does not use /dev/shm if /dev/shm is too small. If the environment
/// variable UCX_TLS is set, UCX is not configured; a program that spawns ranks on other nodes must set the variable.
TRAINRT_API void prepare_mpi(double timeout_seconds = 20);

/// Returns a communicator over all ranks of MPI_COMM_WORLD, for a program that calls MPI itself.
///
/// The program must have called MPI_Init or MPI_Init_thread on the calling thread, and must destroy the communicator before
/// it calls MPI_Finalize. The background threads of trainrt do not call MPI. The MPI standard requires MPI_THREAD_FUNNELED
/// or more, because the program then has several threads. The communicator's messages are never matched with the program's
/// own messages.
///
/// If a rank does not join an operation of the communicator within `timeout_seconds`, the operation throws Error.
/// The MPI library is the one that the program links. It must have the binary interface (ABI) of MPICH.
///
/// mpi_communicator() throws UsageError if MPI is not initialized or already finalized, or if MPI has fewer ranks than the
/// launcher started. Creating and destroying the communicator are collective.
TRAINRT_API std::unique_ptr<Communicator> mpi_communicator(double timeout_seconds = 1800);

}  // namespace trainrt
