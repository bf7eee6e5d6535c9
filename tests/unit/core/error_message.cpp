#include "core/output/error_message.hpp"

#include <filesystem>
#include <map>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <trainrt/error.hpp>

using namespace trainrt;

namespace {

template <class Call>
std::string message_from(Call call) {
  try {
    call();
  } catch (const std::exception& error) {
    return message_of(error);
  }
  return "nothing was thrown";
}

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("an exception of a library gets a message with advice") {
  const std::vector<int> none;
  const std::map<int, int> empty;
  for (const auto& message :
       {message_from([&] { return none.at(0); }), message_from([&] { return empty.at(0); }),
        message_from([] { return std::stoi("x"); }), message_from([] { return std::string().substr(1); }),
        message_from([] { return nlohmann::json::parse("{"); }),
        message_from([] { return nlohmann::json(1).at("key"); })}) {
    INFO(message);
    CHECK(message.starts_with("unexpected error '"));
    CHECK(holds(message, "report this line"));
  }
}

TEST_CASE("a system error names the limit or the path that caused it") {
  const auto of_system = [](std::errc number) {
    return message_from([number] { throw std::system_error(std::make_error_code(number)); });
  };
  CHECK(holds(of_system(std::errc::resource_unavailable_try_again), "raise ulimit -u"));
  CHECK(holds(of_system(std::errc::too_many_files_open), "raise ulimit -n"));
  CHECK(holds(of_system(std::errc::not_enough_memory), "out of memory on "));
  CHECK(holds(message_from([] { throw std::bad_alloc(); }), "out of memory on "));
  CHECK(
      holds(message_from([] { static_cast<void>(std::filesystem::file_size("/no/file")); }), "cannot access '/no/file': "));
}

TEST_CASE("the message of a train function's exception is unchanged") {
  CHECK(message_from([] { throw std::out_of_range("class 7 of 5"); }) == "class 7 of 5");
  CHECK(message_from([] { throw std::runtime_error("loss is not finite"); }) == "loss is not finite");
  CHECK(message_from([] { throw UsageError("stoi"); }) == "stoi");
}
