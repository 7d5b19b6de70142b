#pragma once

#include "polyad/tensor/generate/generate.hpp"

namespace polyad {

// Above this, sums of two indices would overflow.
inline constexpr Index max_generated_dim = Index(1) << 62;

// Throw Error{bad_option} if the dimensions do not form a tensor with space
// for so many nonzeros; if the options do not describe a distribution.
// Errors name the fields of the options that give the shape.
struct ShapeFields {
  std::string dims = "dims", num_nonzeros = "num_nonzeros";
};
void check_generated_shape(const std::vector<Index>& dims, Index num_nonzeros,
                           const ShapeFields& fields = {});
void check_options(const SkewedOptions& options);

// Throws Error{bad_option} "<what> must be <expected>", about a field of the options, unless `holds`.
void require_option(bool holds, const std::string& field, const char* what, const char* expected);

}  // namespace polyad
