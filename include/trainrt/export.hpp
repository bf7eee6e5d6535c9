#pragma once
// Marks functions and classes that the trainrt program exports to modules with train functions. All others are hidden.
#define TRAINRT_API __attribute__((visibility("default")))
