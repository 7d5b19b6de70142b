#include "polyad/dense/contraction_expression.hpp"

#include <gtest/gtest.h>

#include <string>

#include "polyad/base/error.hpp"

namespace polyad::dense {
namespace {

std::string round_trip(const std::string& text) {
  return to_string(parse_contraction(text));
}

TEST(ContractionExpression, assignments_and_einsum_strings_mean_the_same) {
  const std::string expected = "C[abji] += A[acik] * B[bcjk]";
  EXPECT_EQ(round_trip("C[abji] += A[acik] * B[bcjk]"), expected);
  EXPECT_EQ(round_trip("C[a,b,j,i]=A[a,c,i,k]*B[b,c,j,k]"), expected);
  EXPECT_EQ(round_trip("acik,bcjk->abji"), expected);
  EXPECT_EQ(round_trip(" acik , b c j k -> abji "), expected);
  EXPECT_EQ(round_trip("C'[ij] = A_2[ik] * B''[kj]"), "C'[ij] += A_2[ik] * B''[kj]");
  EXPECT_EQ(round_trip("X[ab, i1] += V[ab, c'] * T[c', i1]"), "X[ab,i1] += V[ab,c'] * T[c',i1]");
}

TEST(ContractionExpression, without_an_arrow_the_result_has_what_occurs_once) {
  EXPECT_EQ(round_trip("kj,ik"), "C[ij] += A[kj] * B[ik]");
  EXPECT_EQ(round_trip("i,i"), "C[] += A[i] * B[i]");
}

TEST(ContractionExpression, an_index_that_stands_twice_in_an_input_is_of_a_diagonal) {
  EXPECT_EQ(round_trip("iij,jk->ik"), "C[ik] += A[iij] * B[jk]");
  EXPECT_EQ(round_trip("iij,jk"), "C[k] += A[iij] * B[jk]");  // i occurs twice
  EXPECT_EQ(to_string(of_diagonals(parse_contraction("ijiki,jj->ik"))), "C[ik] += A[ijk] * B[j]");
}

TEST(ContractionExpression, scalars_have_no_indices) {
  EXPECT_EQ(round_trip("C[i] += A[] * B[i]"), "C[i] += A[] * B[i]");
  EXPECT_EQ(round_trip(",i->i"), "C[i] += A[] * B[i]");
  EXPECT_EQ(round_trip(",->"), "C[] += A[] * B[]");
}

TEST(ContractionExpression, indices_are_sorted_by_what_becomes_of_them) {
  const auto expression = parse_contraction("xiky,xkjz->xij");
  EXPECT_EQ(contracted_indices(expression), (IndexNames{"k", "y", "z"}));
  EXPECT_EQ(shared_indices(expression.a, expression.b), (IndexNames{"x", "k"}));
  EXPECT_EQ(other_indices(expression.a, expression.b), (IndexNames{"i", "y"}));
}

TEST(ContractionExpression, nonsense_gets_a_sentence) {
  const auto expect = [](const std::string& text, const std::string& sentence) {
    try {
      parse_contraction(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::bad_option);
      EXPECT_EQ(error.what(), sentence);
    }
  };
  expect("ij", "expression 'ij': expected two tensors, as in C[ij] += A[ik] * B[kj] or ik,kj->ij");
  expect("ij,jk,kl->il",
         "expression 'ij,jk,kl->il': expected two tensors, as in C[ij] += A[ik] * B[kj] or ik,kj->ij");
  expect("i1,i->i", "expression 'i1,i->i': expected letters, as in ik,kj->ij, found 'i1'");
  expect("C[ij] += A[ij]",
         "expression 'C[ij] += A[ij]': expected a product of two tensors, as in C[ij] += A[ik] * B[kj]");
  expect("C[ij] += A[ik] * B",
         "expression 'C[ij] += A[ik] * B': expected a tensor with its indices, as in A[ik], found 'B'");
  for (const std::string name : {"-A", "0.5 A", "2A", "2*A", "+A", "'", "A B", "A.x", "- A", "\u03b1"}) {
    const auto text = "C[ij] = " + name + "[ik] * B[kj]";
    try {
      parse_contraction(text);
      ADD_FAILURE() << text;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::bad_option) << text;
    }
  }
  const std::string no_factors = " (signs and numeric factors are not supported: scale an array beforehand)";
  expect("C[ij] = -A[ik] * B[kj]",
         "expression 'C[ij] = -A[ik] * B[kj]': expected the name of a tensor before its indices, found '-A'" +
             no_factors);
  expect(
      "C[ij] += A[ik] * -B[kj]",
      "expression 'C[ij] += A[ik] * -B[kj]': expected the name of a tensor before its indices, found '-B'" +
          no_factors);
  expect(
      "C[ij] =+ A[ik] * B[kj]",
      "expression 'C[ij] =+ A[ik] * B[kj]': expected the name of a tensor before its indices, found '+ A'" +
          no_factors);
  expect("C[ij] == A[ik] * B[kj]",
         "expression 'C[ij] == A[ik] * B[kj]': expected a single = or +=, as in C[ij] += A[ik] * B[kj]");
  expect("C[ij] -= A[ik] * B[kj]",
         "expression 'C[ij] -= A[ik] * B[kj]': expected a tensor with its indices, as in A[ik], found 'C[ij] "
         "-'");
  expect("C[ij] = A[ik] * A[kj]",
         "expression 'C[ij] = A[ik] * A[kj]': the three tensors need different names, but two are called A");
  expect("C[ij] = A[ik] * C[kj]",
         "expression 'C[ij] = A[ik] * C[kj]': the three tensors need different names, but two are called C");
  expect("ij,j->ii", "expression 'ij,j->ii': index i occurs twice in C, the result");
  expect("i,j->ijk", "expression 'i,j->ijk': index k of C is in neither A nor B");
}

}  // namespace
}  // namespace polyad::dense
