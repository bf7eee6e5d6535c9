#pragma once
// TRAINRT_API marks functions and classes that the trainrt program exports to shared libraries with train functions. All
// other symbols are hidden.
#define TRAINRT_API __attribute__((visibility("default")))
