// A fake PMIx library, which lacks PMIx_Fence_nb, for tests of the search for a PMIx library.
#define FAKE(name) \
  int PMIx_##name(void) { return 0; }
FAKE(Abort)
FAKE(Commit)
FAKE(Finalize)
FAKE(Get)
FAKE(Init)
FAKE(Put)

const char *PMIx_Error_string(void) { return "no error"; }
const char *PMIx_Get_version(void) { return "OpenPMIx 1.2.5, a fake"; }
