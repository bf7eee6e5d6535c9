#pragma once
#include <curl/curl.h>

namespace trainrt::io::s3 {

/// The functions of libcurl that trainrt uses. libcurl is loaded by dlopen(3) when an object store is first used, and not
/// linked, so that trainrt also runs on machines without libcurl.
struct CurlApi {
  decltype(&::curl_global_init) global_init;
  CURL* (*easy_init)();
  CURLcode (*easy_setopt)(CURL*, CURLoption, ...);
  CURLcode (*easy_getinfo)(CURL*, CURLINFO, ...);
  void (*easy_reset)(CURL*);
  void (*easy_cleanup)(CURL*);
  const char* (*easy_strerror)(CURLcode);
  CURLM* (*multi_init)();
  CURLMcode (*multi_setopt)(CURLM*, CURLMoption, ...);
  CURLMcode (*multi_add_handle)(CURLM*, CURL*);
  CURLMcode (*multi_remove_handle)(CURLM*, CURL*);
  CURLMcode (*multi_perform)(CURLM*, int*);
  CURLMcode (*multi_poll)(CURLM*, curl_waitfd*, unsigned, int, int*);
  CURLMsg* (*multi_info_read)(CURLM*, int*);
  CURLMcode (*multi_cleanup)(CURLM*);
  curl_slist* (*slist_append)(curl_slist*, const char*);
  void (*slist_free_all)(curl_slist*);
  /// Whether libcurl refuses CURLOPT_PATH_AS_IS for signed requests, as from version 8.14. libcurl then removes the
  /// segments "." and ".." from the paths of these requests.
  bool normalizes_signed_paths;
};

/// Returns the functions of libcurl, and loads the library at the first call. Throws UsageError, which names the package
/// to install, if libcurl is missing or too old.
const CurlApi& curl();

}  // namespace trainrt::io::s3
