// Checks the contract of every read method and every storage: all of them return the same bytes of the same files.
#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <trainrt/error.hpp>
#include <trainrt/random.hpp>

#include "data/bytes/input_file.hpp"
#include "data/bytes/object_reader.hpp"
#include "support/cpp/object_store.hpp"
#include "support/cpp/skip.hpp"

using namespace trainrt;
using Catch::Matchers::Contains;
using test::Scratch;

namespace {

/// A read method or a storage under test.
struct Origin {
  std::string name;
  /// Writes a file with these bytes, or replaces its content, and returns the file as it is listed.
  std::function<data::DataFile(const std::string& name, const std::string& bytes)> write;
  std::function<std::string(const std::string& name)> path;  ///< path or URL of the file
};

Origin origin_of(const data::ReadMethod& method, const Scratch& dir) {
  return {std::string(method.name),
          [&](const std::string& name, const std::string& bytes) {
            std::ofstream(dir / name, std::ios::binary) << bytes;
            auto file = data::data_file(dir / name);
            file.read_method = &method;
            return file;
          },
          [&](const std::string& name) { return dir / name; }};
}

Origin origin_of(const io::StorageKind& kind, const Scratch& dir) {
  const auto base = std::string(kind.name) + (kind.name == "file" ? "://" + dir.path() + "/objects/" : "://data/");
  const auto storage = kind.open(io::storage_url(base).value());
  return {std::string(kind.name),
          [=, &dir](const std::string& name, const std::string& bytes) {
            std::ofstream(dir / "upload", std::ios::binary) << bytes;
            storage->put(dir / "upload", io::storage_url(base + name).value().name);
            return data::data_file(base + name);
          },
          [=](const std::string& name) { return base + name; }};
}

/// Calls `check` for each read method and each storage. Those that cannot be used here are skipped, which is printed once.
void for_each_origin(const std::function<void(const Origin&)>& check) {
  static const test::ObjectStore store;
  static std::set<std::string_view> skipped;
  const auto run = [&](const auto& record, const auto& require) {
    INFO(record.name);
    const Scratch dir;
    try {
      require(record);
    } catch (const UsageError& error) {
      if (skipped.insert(record.name).second) test::skip(fmt::format("{}: {}", record.name, error.what()));
      return;
    }
    check(origin_of(record, dir));
  };
  for (const auto* method : data::read_method_table()) run(*method, [](const auto& record) { record.require(); });
  for (const auto* kind : io::storage_table())
    run(*kind, [](const auto& record) {
      record.open({std::string(record.name), record.name == "file" ? "" : "data", ""});
    });
}

/// Returns bytes in which nearby positions have different values.
std::string test_bytes(std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<char>((i * 2654435761U >> 16) ^ (i >> 8));
  return bytes;
}

struct Range {
  std::uint64_t offset, bytes;
};

/// Reads ranges by one call and returns the bytes of all of them.
std::string read(const data::InputFile& file, const std::vector<Range>& ranges) {
  std::uint64_t total = 0;
  for (const auto& range : ranges) total += range.bytes;
  std::string text(total, '\0');
  std::vector<data::FilePart> parts;
  auto rest = std::as_writable_bytes(std::span(text));
  for (const auto& [offset, bytes] : ranges) {
    parts.push_back({offset, rest.first(bytes)});
    rest = rest.subspan(bytes);
  }
  file.read(parts);
  return text;
}

std::string expected(const std::string& bytes, const std::vector<Range>& ranges) {
  std::string text;
  for (const auto& range : ranges) text += bytes.substr(range.offset, range.bytes);
  return text;
}

}  // namespace

TEST_CASE("every read method and storage returns the bytes of a file of any size, at any offset") {
  for_each_origin([](const Origin& origin) {
    for (const std::size_t size : {0U, 1U, 511U, 4095U, 4096U, 4097U, 100'001U, (5U << 20) + 3}) {
      INFO(origin.name << ", " << size << " bytes");
      const auto bytes = test_bytes(size);
      const data::InputFile file(origin.write(fmt::format("size-{}", size), bytes));
      CHECK(file.size() == size);
      CHECK(file.max_in_flight() >= 1);
      const auto tail = std::min<std::uint64_t>(size, 777);
      for (const std::vector<Range>& ranges : {std::vector<Range>{},
                                               {{0, 0}},
                                               {{0, size}},
                                               {{size, 0}},
                                               {{size - tail, tail}},
                                               {{size - tail, tail / 2}, {size - tail, tail}}})
        CHECK((read(file, ranges) == expected(bytes, ranges)));
    }
  });
}

TEST_CASE("every read method and storage reads many ranges in one call, for several threads at the same time") {
  for_each_origin([](const Origin& origin) {
    const auto bytes = test_bytes(100'001);
    const data::InputFile file(origin.write("many", bytes));
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (std::uint64_t thread = 0; thread < 3; ++thread)
      threads.emplace_back([&, thread] {
        Random random(4, thread);
        for (const std::size_t count : {1U, 64U, 130U}) {
          std::vector<Range> ranges(count);
          for (auto& [offset, size] : ranges) {
            size = random.below(3000);
            offset = random.below(bytes.size() - size + 1);
          }
          if (read(file, ranges) != expected(bytes, ranges)) ++wrong;
        }
      });
    for (auto& thread : threads) thread.join();
    CHECK(wrong == 0);
  });
}

TEST_CASE("every read method and storage reads small pieces in sequence like the complete file") {
  for_each_origin([](const Origin& origin) {
    const auto bytes = test_bytes(3'000'017);
    const data::InputFile file(origin.write("sequence", bytes));
    std::string all;
    while (all.size() < bytes.size())
      all += read(file, {{all.size(), std::min<std::uint64_t>(70'001, bytes.size() - all.size())}});
    CHECK((all == bytes));
  });
}

TEST_CASE("every read method and storage names the file and its end for a range beyond the end") {
  for_each_origin([](const Origin& origin) {
    const data::InputFile file(origin.write("short", std::string(9000, 'x')));
    for (const std::vector<Range>& ranges :
         {std::vector<Range>{{8950, 100}}, {{9000, 1}}, {{0, 10}, {8950, 100}}, {{1 << 20, 1}}})
      CHECK_THROWS_WITH(read(file, ranges), Contains("/short'") && Contains("ends at byte 9000"));
  });
}

TEST_CASE("every read method and storage names a file that was truncated after it was listed") {
  for_each_origin([](const Origin& origin) {
    const auto listed = origin.write("cut", std::string(9000, 'x'));
    const data::InputFile file(listed);
    CHECK(read(file, {{8990, 10}}) == "xxxxxxxxxx");
    origin.write("cut", std::string(50, 'x'));
    CHECK_THROWS_WITH(read(file, {{8800, 100}}), Contains("/cut'") && Contains("changed"));
    CHECK_THROWS_WITH(read(data::InputFile(listed), {{8800, 100}}), Contains("/cut'") && Contains("changed"));
  });
}

TEST_CASE("every storage and the file system name a file that does not exist") {
  for_each_origin([](const Origin& origin) {
    CHECK_THROWS_AS(data::data_file(origin.path("missing")), UsageError);
    CHECK_THROWS_WITH(data::data_file(origin.path("missing")), Contains("/missing'") && Contains("does not exist"));
  });
}
