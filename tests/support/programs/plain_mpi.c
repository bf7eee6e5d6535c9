/* An MPI program that does not use trainrt. argv[1]: a folder to which each rank writes its results. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  int rank, size, of_node, node_size, sum = 0, ring = -1;
  char path[4096];
  MPI_Comm node;
  FILE* file;
  if (argc < 2) return 64;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  of_node = rank + 1;
  MPI_Allreduce(&of_node, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, 0, &ring, 1, MPI_INT, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  MPI_Comm_size(node, &node_size);
  snprintf(path, sizeof path, "%s/%d.json", argv[1], rank);
  file = fopen(path, "w");
  if (file == NULL) MPI_Abort(MPI_COMM_WORLD, 3);
  fprintf(file, "{\"size\": %d, \"sum\": %d, \"ring\": %d, \"node_size\": %d}\n", size, sum, ring, node_size);
  fclose(file);
  MPI_Finalize();
  return 0;
}
