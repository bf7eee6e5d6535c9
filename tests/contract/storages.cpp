// Checks the contract of every storage of storage_table(): objects are written, listed, found, read and removed.
#include <fstream>
#include <functional>
#include <set>
#include <thread>

#include <fmt/format.h>
#include <catch2/catch.hpp>
#include <trainrt/error.hpp>

#include "io/storage.hpp"
#include "support/cpp/object_store.hpp"
#include "support/cpp/skip.hpp"

using namespace trainrt;
using Catch::Matchers::Contains;
using test::Scratch;

namespace {

/// A storage under test, and a name prefix in it that no other test uses.
struct Place {
  std::shared_ptr<io::Storage> storage;
  std::string prefix;
  const Scratch& folder;

  /// Writes an object with this content, or replaces its content.
  io::StoredObject put(const std::string& name, const std::string& bytes) const {
    const auto file = folder / ("upload-" + std::to_string(std::hash<std::string>()(name)));
    std::ofstream(file, std::ios::binary) << bytes;
    return storage->put(file, prefix + name);
  }
  std::vector<std::string> names(const std::string& below = "") const {
    std::vector<std::string> found;
    for (const auto& object : storage->list(prefix + below)) found.push_back(object.name.substr(prefix.size()));
    return found;
  }
  std::string read(const io::StoredObject& object, std::uint64_t offset, std::size_t bytes) const {
    std::string text(bytes, '\0');
    const io::ObjectPart part{offset, std::as_writable_bytes(std::span(text))};
    storage->read(object, {&part, 1});
    return text;
  }
};

/// Calls `check` for each storage. Those that cannot be used here are skipped, which is printed once.
void for_each_storage(const std::function<void(const Place&)>& check) {
  static const test::ObjectStore store;
  static std::set<std::string_view> skipped;
  static int number = 0;
  for (const auto* kind : io::storage_table()) {
    INFO(kind->name);
    const Scratch folder;
    const bool is_folder = kind->name == "file";
    const auto url = std::string(kind->name) + (is_folder ? "://" + folder.path() + "/objects" : "://data");
    try {
      const auto prefix = fmt::format("{}storages-{}/", is_folder ? folder.path().substr(1) + "/objects/" : "", ++number);
      check({kind->open(io::storage_url(url).value()), prefix, folder});
    } catch (const UsageError& error) {
      if (std::string_view(error.what()).find("built without") == std::string_view::npos) throw;
      if (skipped.insert(kind->name).second) test::skip(fmt::format("{}: {}", kind->name, error.what()));
    }
  }
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a storage without objects lists no names, finds no object, and removes a missing one without an error") {
  for_each_storage([](const Place& place) {
    CHECK(place.names().empty());
    CHECK_FALSE(place.storage->find(place.prefix + "missing"));
    CHECK_NOTHROW(place.storage->remove(place.prefix + "missing"));
    CHECK(place.storage->unfinished_uploads(place.prefix).empty());
  });
}

TEST_CASE("a storage returns the objects below a prefix, sorted by name, with their sizes") {
  for_each_storage([](const Place& place) {
    for (const auto* name : {"b", "a/2", "a/1", "a.txt", "B"}) place.put(name, name);
    CHECK(place.names() == Names{"B", "a.txt", "a/1", "a/2", "b"});
    CHECK(place.names("a/") == Names{"a/1", "a/2"});
    CHECK(place.names("a") == Names{"a.txt", "a/1", "a/2"});
    CHECK(place.names("c").empty());
    for (const auto& object : place.storage->list(place.prefix))
      CHECK(object.size + place.prefix.size() == object.name.size());
    place.storage->remove(place.prefix + "a/1");
    CHECK(place.names("a/") == Names{"a/2"});
    CHECK_FALSE(place.storage->find(place.prefix + "a/1"));
  });
}

TEST_CASE("an object of any size is read back in parts, and found as it is listed") {
  for_each_storage([](const Place& place) {
    for (const std::size_t size : {0U, 1U, 70'001U}) {
      INFO(size << " bytes");
      std::string bytes(size, '\0');
      for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 7 + (i >> 8));
      const auto object = place.put("object", bytes);
      const auto found = place.storage->find(place.prefix + "object");
      REQUIRE(found);
      CHECK((found->size == size && found->etag == object.etag && found->name == object.name));
      CHECK((place.read(*found, 0, size) == bytes));
      CHECK((place.read(object, size / 3, size / 2) == bytes.substr(size / 3, size / 2)));
    }
  });
}

TEST_CASE("a storage keeps names with special characters") {
  for_each_storage([](const Place& place) {
    const Names names{"a b", "a#b", "a%20b", "a&b=c", "a+b", "a?b", "\xc3\xa4\xe2\x82\xac"};
    for (const auto& name : names) place.put(name, name);
    CHECK(place.names() == names);
    for (const auto& object : place.storage->list(place.prefix))
      CHECK(place.prefix + place.read(object, 0, object.size) == object.name);
  });
}

TEST_CASE("an object that was replaced or removed since it was listed is an error that names its URL") {
  for_each_storage([](const Place& place) {
    const auto first = place.put("changed", "first");
    const auto second = place.put("changed", "other");
    CHECK(first.etag != second.etag);
    const auto url = place.storage->url_of(place.prefix + "changed");
    CHECK_THROWS_WITH(place.read(first, 0, 5), Contains("/changed'") && Contains("changed since"));
    CHECK(place.read(second, 0, 5) == "other");
    CHECK_THAT(url, Contains("storages-") && Contains("/changed"));
    place.storage->remove(place.prefix + "changed");
    CHECK_THROWS_WITH(place.read(second, 0, 5), Contains("/changed'"));
  });
}

TEST_CASE("several threads may use one storage") {
  for_each_storage([](const Place& place) {
    const auto shared = place.put("shared", "0123456789");
    std::vector<std::string> found(4);
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < found.size(); ++i)
      threads.emplace_back([&, i] {
        for (int round = 0; round < 4; ++round) {
          const auto name = fmt::format("thread-{}/{}", i, round);
          const auto own = place.put(name, name);
          found[i] += place.read(own, 0, own.size) == name && place.read(shared, 3, 4) == "3456" ? '+' : '-';
        }
        place.storage->remove(place.prefix + fmt::format("thread-{}/0", i));
      });
    for (auto& thread : threads) thread.join();
    CHECK(found == std::vector<std::string>(4, "++++"));
    CHECK(place.names("thread-").size() == 12);
  });
}

TEST_CASE("a local file that does not exist is an error of put() that names it, and leaves no object") {
  for_each_storage([](const Place& place) {
    CHECK_THROWS_WITH(place.storage->put(place.folder / "missing.bin", place.prefix + "object"), Contains("missing.bin"));
    CHECK(place.names().empty());
  });
}
