// Starts portable programs with old and new glibc. Before 2.34, a program ran its own initializers; newer versions run them for the program.
//
// link_portable.py links this file into programs, and redirects their calls of __libc_start_main() to it.
#include <stddef.h>

typedef int (*Main)(int, char**, char**);
typedef void (*Initializer)(int, char**, char**);
extern const Initializer __init_array_start[], __init_array_end[];  // defined by the linker

static void run_initializers(int argc, char** argv, char** variables) {
  for (const Initializer* each = __init_array_start; each != __init_array_end; ++each) (*each)(argc, argv, variables);
}

int __real___libc_start_main(Main, int argc, char** argv, Initializer, void (*end)(void), void (*end_of_loader)(void), void* stack);

int __wrap___libc_start_main(Main main, int argc, char** argv, Initializer none, void (*end)(void), void (*end_of_loader)(void), void* stack) {
  (void)none;
  return __real___libc_start_main(main, argc, argv, run_initializers, end, end_of_loader, stack);
}
