// A fake MPI library for tests of the search for an MPI library. No function communicates. The build defines:
//   FAKE_MPI_VERSION   the text of MPI_Get_library_version()
//   FAKE_MPI_STANDARD  the minor version of the MPI standard 3
//   FAKE_MPI_LACKS_IBCAST, FAKE_MPI_STANDARD_ABI  if defined: MPI_Ibcast is missing; the ABI is that of the MPI standard 5.0
#include <signal.h>
#include <stdio.h>

#define FAKE(name) \
  int MPI_##name(void) { return 0; }
FAKE(Abort)
FAKE(Comm_dup)
FAKE(Comm_free)
FAKE(Comm_rank)
FAKE(Comm_set_errhandler)
FAKE(Comm_size)
FAKE(Comm_split)
FAKE(Error_string)
FAKE(Finalize)
FAKE(Finalized)
FAKE(Iallreduce)
FAKE(Ibarrier)
#ifndef FAKE_MPI_LACKS_IBCAST
FAKE(Ibcast)
#endif
FAKE(Init_thread)
FAKE(Initialized)
FAKE(Iprobe)
FAKE(Irecv)
FAKE(Isend)
FAKE(Recv)
FAKE(Testall)

int MPI_Get_library_version(char *text, int *length) {
  *length = sprintf(text, "%s", FAKE_MPI_VERSION);
  return 0;
}

int MPI_Get_version(int *major, int *minor) {
  *major = 3;
  *minor = FAKE_MPI_STANDARD;
  return 0;
}

#ifdef FAKE_MPI_STANDARD_ABI
int MPI_Abi_get_version(int *major, int *minor) {
  *major = 1;
  *minor = 0;
  return 0;
}
#endif

static void handle(int number) { (void)number; }

// UCX, a library of MPICH, also installs signal handlers when it is loaded.
__attribute__((constructor)) static void install_handler(void) { signal(SIGHUP, handle); }
