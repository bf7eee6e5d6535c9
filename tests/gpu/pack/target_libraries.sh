# Libraries that every machine with Python and PyTorch has; sourced. Regular expressions of names before ".so".
# The C library's, and the compiler's, of which PyTorch needs the newest.
system_libraries='ld-linux-x86-64|libc|libm|libdl|librt|libpthread|libresolv|libstdc\+\+|libgcc_s'
# Found by LD_LIBRARY_PATH, which parts/run_parts.py sets.
torch_libraries='libtorch_cpu|libtorch_cuda|libc10|libc10_cuda|libcupti'
