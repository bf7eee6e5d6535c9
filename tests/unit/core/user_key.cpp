#include <catch2/catch.hpp>

#include "core/files/user_key.hpp"

using namespace trainrt;

TEST_CASE("hmac_sha256 returns the codes of RFC 4231") {
  CHECK(hmac_sha256("Jefe", "what do ya want for nothing?") ==
        "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
  CHECK(hmac_sha256(std::string(20, '\x0b'), "Hi There") ==
        "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
}
