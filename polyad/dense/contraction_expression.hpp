#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace polyad::dense {

using IndexNames = std::vector<std::string>;

// C[...] += A[...] * B[...]: summed over every index that C does not
// have. An index that occurs twice in A or B selects a diagonal.
struct ContractionExpression {
  std::string name_a = "A", name_b = "B", name_c = "C";
  IndexNames a, b, c;

  friend bool operator==(const ContractionExpression&, const ContractionExpression&) = default;
};

// Parses "C[abji] += A[acik] * B[bcjk]" (also with =, and with commas between longer
// names) and NumPy's "acik,bcjk->abji"; without an arrow, C has the indices that occur
// once, in alphabetical order. Names of tensors are distinct identifiers. Signs and
// numeric factors are not supported. Throws Error{bad_option} that says what was expected.
ContractionExpression parse_contraction(std::string_view text);

// Text such as "C[abji] += A[acik] * B[bcjk]".
std::string to_string(const ContractionExpression& expression);

// The same for the diagonals of A and B: repeated indices are removed.
ContractionExpression of_diagonals(ContractionExpression expression);
IndexNames distinct_indices(const IndexNames& indices);

// For every index, where it stands first: {0, 1, 0} for i, j, i.
std::vector<int> first_places(const IndexNames& indices);

bool has_index(const IndexNames& indices, const std::string& index);
// The indices of the first list that are, or are not, in the second, in their order.
IndexNames shared_indices(const IndexNames& indices, const IndexNames& others);
IndexNames other_indices(const IndexNames& indices, const IndexNames& others);
// The indices that are summed over: those of both inputs, or of one input only.
IndexNames contracted_indices(const ContractionExpression& expression);

}  // namespace polyad::dense
