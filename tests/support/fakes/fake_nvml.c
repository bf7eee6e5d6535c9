// A libnvidia-ml.so.1 for tests: two GPUs of 250 W; this process computes on the first, process 1 on the second, which does not
// report its energy.
#include <stdio.h>
#include <unistd.h>

enum { SUCCESS = 0, NOT_SUPPORTED = 3 };
struct utilization {
  unsigned gpu, memory;
};
struct process {
  unsigned pid;
  unsigned long long bytes;
  unsigned gpu_instance, compute_instance;
};

static unsigned long long energy = 1000000;
static int gpus[2] = {0, 1};

int nvmlInit_v2(void) { return SUCCESS; }
int nvmlShutdown(void) { return SUCCESS; }
int nvmlDeviceGetCount_v2(unsigned *count) {
  *count = 2;
  return SUCCESS;
}
int nvmlDeviceGetHandleByIndex_v2(unsigned number, void **device) {
  *device = &gpus[number];
  return SUCCESS;
}
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned room) {
  snprintf(uuid, room, "GPU-%d", *(int *)device);
  return SUCCESS;
}
int nvmlDeviceGetUtilizationRates(void *device, struct utilization *busy) {
  busy->gpu = *(int *)device == 0 ? 80 : 10;
  return SUCCESS;
}
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *millijoules) {
  if (*(int *)device != 0) return NOT_SUPPORTED;
  *millijoules = energy += 250000;
  return SUCCESS;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count, struct process *found) {
  const int is_first = *(int *)device == 0;
  *count = 1;
  found[0].pid = is_first ? (unsigned)getpid() : 1;
  found[0].bytes = is_first ? 4096 : ~0ULL;
  return SUCCESS;
}
