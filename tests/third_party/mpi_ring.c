// SPDX-License-Identifier: Apache-2.0
/* A program of Open MPI that knows nothing of Chorale: messages of many sizes around a ring, an allreduce, and puts
 * into windows. Each rank checks what it got against what it computes itself; exit status 1 if anything differs. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned char byte_of(int rank, int size, int at) {
  return (unsigned char)(rank * 31 + size * 7 + at * 13 + 5);
}

static int ring(int rank, int ranks) {
  static const int sizes[] = {0, 1, 8, 1023, 4096, 65537, 3000001};
  const int next = (rank + 1) % ranks, before = (rank + ranks - 1) % ranks;
  int wrong = 0;
  for (unsigned i = 0; i < sizeof sizes / sizeof *sizes; ++i) {
    const int size = sizes[i];
    unsigned char* out = malloc((size_t)size + 1);
    unsigned char* in = malloc((size_t)size + 1);
    for (int at = 0; at < size; ++at) out[at] = byte_of(rank, size, at);
    in[size] = 77;
    MPI_Status status;
    MPI_Sendrecv(out, size, MPI_BYTE, next, size, in, size, MPI_BYTE, before, size, MPI_COMM_WORLD, &status);
    int got = -1;
    MPI_Get_count(&status, MPI_BYTE, &got);
    wrong += got != size || in[size] != 77;
    for (int at = 0; at < size; ++at) wrong += in[at] != byte_of(before, size, at);
    free(out);
    free(in);
  }
  return wrong;
}

static int sums(int rank, int ranks) {
  enum { count = 1000 };
  long mine[count], total[count];
  for (int i = 0; i < count; ++i) mine[i] = (long)rank * i + 1;
  MPI_Allreduce(mine, total, count, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += total[i] != (long)ranks * (ranks - 1) / 2 * i + ranks;
  return wrong;
}

static int window(int rank, int ranks) {
  enum { count = 512 };
  long* memory = NULL;
  MPI_Win win;
  MPI_Win_allocate(count * (MPI_Aint)sizeof(long), sizeof(long), MPI_INFO_NULL, MPI_COMM_WORLD, &memory,
                   &win);
  long mine[count];
  for (int i = 0; i < count; ++i) {
    mine[i] = rank * 100000L + i;
    memory[i] = -1;
  }
  MPI_Win_fence(0, win);
  MPI_Put(mine, count, MPI_LONG, (rank + 1) % ranks, 0, count, MPI_LONG, win);
  MPI_Win_fence(0, win);
  const int before = (rank + ranks - 1) % ranks;
  int wrong = 0;
  for (int i = 0; i < count; ++i) wrong += memory[i] != before * 100000L + i;
  MPI_Win_fence(0, win);
  long one = 1;
  memory[0] = 0;
  MPI_Win_fence(0, win);
  MPI_Accumulate(&one, 1, MPI_LONG, 0, 0, 1, MPI_LONG, MPI_SUM, win);
  MPI_Win_fence(0, win);
  if (rank == 0) wrong += memory[0] != ranks;
  MPI_Win_free(&win);
  return wrong;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int wrong = ring(rank, ranks) + sums(rank, ranks) + window(rank, ranks);
  int all = 0;
  MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (rank == 0) printf("%d ranks, %d wrong\n", ranks, all);
  MPI_Finalize();
  return all == 0 ? 0 : 1;
}
