# Lists libraries that every machine with Python and PyTorch has, as regular expressions for the name before ".so". Scripts source this file.
# These libraries belong to the C library and the compiler. PyTorch needs the newest versions of the compiler's libraries.
system_libraries='ld-linux-x86-64|libc|libm|libdl|librt|libpthread|libresolv|libstdc\+\+|libgcc_s'
# These libraries are found by LD_LIBRARY_PATH, which parts/run_parts.py sets.
torch_libraries='libtorch_cpu|libtorch_cuda|libc10|libc10_cuda|libcupti'
