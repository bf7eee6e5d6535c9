#include "trainer/records/loaded_libraries.hpp"

#include <catch2/catch.hpp>

#include "io/files/file.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using namespace trainrt::trainer;

TEST_CASE("libraries that compute are found among the files of a process") {
  const auto found = libraries_in_maps(
      "7f00-7f01 r-xp 00000000 08:01 11 /usr/lib/openblas-pthread/libopenblasp-r0.3.21.so\n"
      "7f01-7f02 r--p 00000000 08:01 11 /usr/lib/openblas-pthread/libopenblasp-r0.3.21.so\n"
      "7f02-7f03 r-xp 00000000 08:01 12 /usr/lib/libm.so.6\n"
      "7f02-7f03 r-xp 00000000 08:01 16 /old/libm-2.28.so\n"
      "7f03-7f04 r-xp 00000000 08:01 13 /usr/lib/libmagic.so.1\n"
      "7f04-7f05 r-xp 00000000 08:01 14 /opt/numpy/_multiarray_umath.cpython-311-x86_64-linux-gnu.so\n"
      "7f05-7f06 r--p 00000000 08:01 15 /home/user/torch_cpu.txt\n"
      "7f06-7f07 rw-p 00000000 00:00 0 [stack]\n");
  CHECK(found ==
        std::map<std::string, std::string>{{"/usr/lib/openblas-pthread/libopenblasp-r0.3.21.so", "OpenBLAS"},
                                           {"/old/libm-2.28.so", "C math library"},
                                           {"/usr/lib/libm.so.6", "C math library"},
                                           {"/opt/numpy/_multiarray_umath.cpython-311-x86_64-linux-gnu.so", "NumPy"}});
}

TEST_CASE("this process has loaded the mathematical functions of the C library") {
  const auto libraries = loaded_libraries();
  REQUIRE(libraries.contains("C math library"));
  CHECK(libraries.at("C math library").starts_with("libm.so.6 ("));
}

TEST_CASE("another build of a library has another text") {
  const test::Scratch folder;
  io::replace_file(folder / "libblas.so.3", "one build");
  CHECK(build_of_library(folder / "libblas.so.3") == "libblas.so.3 (9 bytes)");
  CHECK(build_of_library(folder / "missing.so") == "missing.so");
  CHECK(build_of_library("/proc/self/exe").find("(build ") != std::string::npos);
}
