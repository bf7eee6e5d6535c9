#include "io/hdf5/h5.hpp"

#include <catch2/catch.hpp>
#include <numeric>
#include <thread>

#include "core/text/text.hpp"
#include "io/files/file.hpp"
#include "io/hdf5/h5_memory.hpp"
#include "io/hdf5/h5_types.hpp"
#include "io/hdf5/untrusted/h5_open.hpp"
#include "io/hdf5/untrusted/schema.hpp"
#include "support/cpp/error_of.hpp"
#include "support/cpp/scratch.hpp"

using namespace trainrt;
using trainrt::test::error_of;
using trainrt::test::Scratch;

namespace {

std::string save_image(const Scratch& at, const std::string& name, const std::function<void(hid_t)>& fill) {
  io::write_file(at / name, io::h5_image(fill));
  return at / name;
}

void read_all(hid_t file, const std::string& name, hid_t type, void* into) {
  io::H5Id dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, "open");
  io::h5_check(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, into), "read");
}

}  // namespace

TEST_CASE("the file of an HDF5 image has the content that was written") {
  Scratch at;
  const std::vector<double> numbers{1, -0.0, 1e300};
  const std::vector<std::int64_t> counts{1, -2};
  const std::vector<std::string> texts{"a", "größe", ""};
  const auto path = save_image(at, "f.h5", [&](hid_t file) {
    io::h5_write(file, "deep/er/numbers", numbers);
    io::h5_write(file, "counts", counts);
    io::h5_write(file, "texts", texts);
    io::h5_write(file, "none", std::span<const double>{});
    io::h5_write_attribute(file, "version", std::int64_t{7});
    io::h5_write_attribute(file, "what", "ü");
    io::h5_write_fixed_text(file, "word", "ö");
    io::h5_write_fixed_text(file, "no word", "");
    io::h5_write_attribute(file, "list", std::span<const std::int64_t>(counts));
  });
  const auto lock = io::h5_lock();
  const auto file = io::h5_open(path);
  std::vector<double> read(3);
  read_all(file, "deep/er/numbers", H5T_NATIVE_DOUBLE, read.data());
  CHECK(read == numbers);
  CHECK(io::h5_read_integer(file, "version") == 7);
  CHECK(io::h5_read_text(file, "what") == "ü");
  CHECK(io::h5_read_text(file, "word") == "ö");
  CHECK(io::h5_read_text(file, "no word") == "");
  CHECK(io::h5_read_integers(file, "list") == counts);
  CHECK_THAT(error_of([&] { io::h5_read_integer(file, "list"); }), Catch::Contains("does not have exactly one value"));
  CHECK_THAT(error_of([&] { io::h5_read_text(file, "version"); }), Catch::Contains("'version'"));
  CHECK_THAT(error_of([&] { io::h5_read_text(file, "absent"); }), Catch::Contains("'absent'"));
}

TEST_CASE("a file with a gigabyte of unwritten data takes only the memory of its structure") {
  const auto memory = io::H5Memory::build(200, [](hid_t file) {
    for (int i = 0; i < 200; ++i) {
      io::H5Id how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "p");
      H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY);
      H5Pset_fill_time(how, H5D_FILL_TIME_NEVER);
      const auto space = io::h5_space({i % 2 == 0 ? 2'500'000 : 3});
      io::H5Id dataset(
          H5Dcreate2(file, ("d" + std::to_string(i)).c_str(), H5T_IEEE_F32LE, space, H5P_DEFAULT, how, H5P_DEFAULT),
          H5Dclose, "d");
      io::h5_write_fixed_text(dataset, "placement", "replicated");
    }
  });
  CHECK(memory.file_bytes() > 1'000'000'000);
  CHECK(memory.front().size() < 1'000'000);
}

TEST_CASE("an error contains HDF5's reasons, and HDF5 prints nothing") {
  Scratch at;
  io::write_file(at / "no.h5", "this is no HDF5 file");
  CHECK_THAT(error_of([&] { io::h5_open(at / "no.h5"); }),
             Catch::Contains("cannot open '" + (at / "no.h5") + "' as HDF5: HDF5 reports file signature not found") &&
                 Catch::Contains("h5_open.cpp:"));
  CHECK_THAT(error_of([&] { io::h5_open(at / "none.h5"); }), Catch::Contains("No such file or directory"));
}

TEST_CASE("if filling an image throws, HDF5 keeps working") {
  Scratch at;
  CHECK(error_of([] { io::h5_image([](hid_t) { throw Error("no"); }); }) == "no");
  CHECK_THAT(error_of([] {
               io::h5_image([](hid_t file) {
                 io::h5_write(file, "a", std::span<const double>{});
                 io::h5_write(file, "a/b", std::span<const double>{});
               });
             }),
             Catch::Contains("create dataset 'a/b'"));
  save_image(at, "f.h5", [](hid_t) {});
  CHECK_NOTHROW(io::h5_open(at / "f.h5"));
}

TEST_CASE("HDF5 uses no file locks") {
  io::h5_start();
  CHECK(std::string(std::getenv("HDF5_USE_FILE_LOCKING")) == "FALSE");
}

TEST_CASE("every dtype has an HDF5 type with its name and size") {
  const auto lock = io::h5_lock();
  for (const char* name : {"f64", "f32", "f16", "bf16", "i64", "i32", "i16", "i8", "u8", "bool"}) {
    const auto dtype = dtype_from(name);
    CHECK(io::h5_type_name(io::h5_type(dtype)) == name);
    CHECK(H5Tget_size(io::h5_type(dtype)) == size_of(dtype));
  }
  CHECK(io::h5_type_name(io::h5_string_type(3)) == "string");
  CHECK(io::h5_type_name(H5T_STD_I64BE) == "other");
}

TEST_CASE("several threads may build and read files at once") {
  Scratch at;
  std::vector<std::thread> threads;
  std::vector<int> good(6, 0);
  for (std::size_t t = 0; t < good.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        const std::vector<std::int64_t> mine(100, static_cast<std::int64_t>(t));
        const auto path =
            save_image(at, std::to_string(t) + "-" + std::to_string(i), [&](hid_t file) { io::h5_write(file, "d", mine); });
        const auto lock = io::h5_lock();
        std::vector<std::int64_t> read(100);
        read_all(io::h5_open(path), "d", H5T_NATIVE_INT64, read.data());
        good[t] += read == mine ? 1 : 0;
      }
    });
  for (auto& thread : threads) thread.join();
  CHECK(good == std::vector<int>(6, 20));
}

TEST_CASE("a file that matches its schema has no findings, and each difference is reported with its path") {
  Scratch at;
  const auto shard = [&](const std::string& name, const std::function<void(hid_t)>& more) {
    return save_image(at, name, [&](hid_t file) {
      io::h5_write_attribute(file, "format", "trainrt shard");
      io::h5_write_attribute(file, "version", std::int64_t{1});
      io::h5_write_attribute(file, "shard", std::int64_t{0});
      io::h5_write_attribute(file, "ranks", std::int64_t{1});
      more(file);
    });
  };
  CHECK(io::check_schema(shard("good", [](hid_t) {}), "shard") == std::vector<std::string>{});

  const std::vector<std::string> texts{"a", "b"};
  auto findings = io::check_schema(shard("texts", [&](hid_t file) { io::h5_write(file, "model/w", texts); }), "shard");
  REQUIRE(findings.size() > 0);
  CHECK_THAT(join(findings), Catch::Contains("/texts: /model/w "));

  findings = io::check_schema(shard("more", [&](hid_t file) { io::h5_write_attribute(file, "extra", "x"); }), "shard");
  CHECK_THAT(findings.front(), Catch::Contains(": / has the unknown attribute 'extra'"));

  findings = io::check_schema(save_image(at, "less", [](hid_t) {}), "shard");
  CHECK_THAT(findings.front(), Catch::Contains(": / is missing"));

  findings = io::check_schema(
      shard("soft", [&](hid_t file) { H5Lcreate_soft("/nowhere", file, "s", H5P_DEFAULT, H5P_DEFAULT); }), "shard");
  CHECK_THAT(findings.front(), Catch::Contains(": /s is a soft link"));

  findings = io::check_schema(
      shard("broken", [&](hid_t file) { H5Lcreate_external("gone.h5", "/d", file, "e", H5P_DEFAULT, H5P_DEFAULT); }),
      "shard");
  CHECK_THAT(findings.front(), Catch::Contains(": /e cannot open"));

  findings =
      io::check_schema(shard("circle",
                             [&](hid_t file) {
                               io::H5Id group(H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "g");
                               H5Lcreate_hard(file, "g", group, "again", H5P_DEFAULT, H5P_DEFAULT);
                             }),
                       "shard");
  CHECK_THAT(findings.front(), Catch::Contains("/g/again is a second name of a group"));

  CHECK(io::check_schema(at / "none", "shard").size() == 1);
  CHECK_THAT(error_of([&] { io::check_schema(at / "good", "shrad"); }),
             Catch::Contains("valid:") && Catch::Contains("shard"));
}

TEST_CASE("every file of hdf5_schemas is a valid schema") {
  Scratch at;
  const auto path = save_image(at, "empty", [](hid_t) {});
  for (const auto& schema : io::schema_texts()) CHECK_NOTHROW(io::check_schema(path, schema.name));
}
