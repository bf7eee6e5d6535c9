#include "io/objects/s3/curl_api.hpp"

#include <dlfcn.h>

#include <fmt/format.h>
#include <trainrt/error.hpp>

namespace trainrt::io::s3 {

namespace {

constexpr auto curl_library = "libcurl.so.4";
constexpr unsigned min_version = 0x075700;  // libcurl 7.87: older versions do not sign headers that the caller adds
constexpr unsigned first_that_normalizes = 0x080e00;  // libcurl 8.14

template <class Function>
void find_in_curl(void* library, Function*& function, const char* symbol) {
  function = reinterpret_cast<Function*>(dlsym(library, symbol));
  if (function == nullptr)
    throw UsageError(fmt::format("{} has no function {}: install libcurl 7.87 or newer", curl_library, symbol));
}

/// Returns the version number of libcurl. Throws UsageError if libcurl is too old.
unsigned checked_version(void* library) {
  curl_version_info_data* (*version_info)(CURLversion) = nullptr;
  find_in_curl(library, version_info, "curl_version_info");
  const auto* version = version_info(CURLVERSION_NOW);
  if (version->version_num < min_version)
    throw UsageError(fmt::format("{} is libcurl {}: install 7.87 or newer", curl_library, version->version));
  return version->version_num;
}

CurlApi load_curl() {
  void* const library = dlopen(curl_library, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw UsageError(fmt::format("cannot load libcurl, which object stores need: {}. Install the package libcurl4",
                                 why == nullptr ? "no reason given" : why));
  }
  CurlApi api{};
  api.normalizes_signed_paths = checked_version(library) >= first_that_normalizes;
  find_in_curl(library, api.global_init, "curl_global_init");
  find_in_curl(library, api.easy_init, "curl_easy_init");
  find_in_curl(library, api.easy_setopt, "curl_easy_setopt");
  find_in_curl(library, api.easy_getinfo, "curl_easy_getinfo");
  find_in_curl(library, api.easy_reset, "curl_easy_reset");
  find_in_curl(library, api.easy_cleanup, "curl_easy_cleanup");
  find_in_curl(library, api.easy_strerror, "curl_easy_strerror");
  find_in_curl(library, api.multi_init, "curl_multi_init");
  find_in_curl(library, api.multi_setopt, "curl_multi_setopt");
  find_in_curl(library, api.multi_add_handle, "curl_multi_add_handle");
  find_in_curl(library, api.multi_remove_handle, "curl_multi_remove_handle");
  find_in_curl(library, api.multi_perform, "curl_multi_perform");
  find_in_curl(library, api.multi_poll, "curl_multi_poll");
  find_in_curl(library, api.multi_info_read, "curl_multi_info_read");
  find_in_curl(library, api.multi_cleanup, "curl_multi_cleanup");
  find_in_curl(library, api.slist_append, "curl_slist_append");
  find_in_curl(library, api.slist_free_all, "curl_slist_free_all");
  if (const auto code = api.global_init(CURL_GLOBAL_DEFAULT); code != CURLE_OK)
    throw Error(fmt::format("cannot initialize libcurl: {}", api.easy_strerror(code)));
  return api;
}

}  // namespace

const CurlApi& curl() {
  static const CurlApi api = load_curl();
  return api;
}

}  // namespace trainrt::io::s3
