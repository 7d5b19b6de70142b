#include "polyad/dense/contraction_expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/dense/distribution_text.hpp"

namespace polyad::dense {
namespace {

[[noreturn]] void fail(std::string_view text, const std::string& why) {
  throw Error(Errc::bad_option, fmt::format("expression '{}': {}", text, why));
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.front())) != 0) text.remove_prefix(1);
  while (!text.empty() && std::isspace(static_cast<unsigned char>(text.back())) != 0) text.remove_suffix(1);
  return text;
}

// A letter or underscore, then letters, digits and underscores; primes may follow, as for indices.
bool is_identifier(std::string_view name) {
  while (!name.empty() && name.back() == '\'') name.remove_suffix(1);
  const auto is_word = [](char c) { return c == '_' || std::isalnum(static_cast<unsigned char>(c)) != 0; };
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
         std::ranges::all_of(name, is_word);
}

// "A[acik]"
void parse_operand(std::string_view text, std::string_view operand, std::string& name, IndexNames& indices) {
  operand = trimmed(operand);
  const auto bracket = operand.find('[');
  if (bracket == std::string_view::npos || bracket == 0 || operand.back() != ']')
    fail(text, fmt::format("expected a tensor with its indices, as in A[ik], found '{}'", operand));
  name = trimmed(operand.substr(0, bracket));
  if (!is_identifier(name))
    fail(text, fmt::format("expected the name of a tensor before its indices, found '{}' (signs and numeric "
                           "factors are not supported: scale an array beforehand)",
                           name));
  indices = split_indices(operand.substr(bracket + 1, operand.size() - bracket - 2));
}

ContractionExpression parse_assignment(std::string_view text, std::size_t equals) {
  ContractionExpression result;
  const bool adds = equals > 0 && text[equals - 1] == '+';
  const auto product = text.substr(equals + 1);
  if (product.find('=') != std::string_view::npos)
    fail(text, "expected a single = or +=, as in C[ij] += A[ik] * B[kj]");
  const auto times = product.find('*');
  if (times == std::string_view::npos || product.find('*', times + 1) != std::string_view::npos)
    fail(text, "expected a product of two tensors, as in C[ij] += A[ik] * B[kj]");
  parse_operand(text, text.substr(0, adds ? equals - 1 : equals), result.name_c, result.c);
  parse_operand(text, product.substr(0, times), result.name_a, result.a);
  parse_operand(text, product.substr(times + 1), result.name_b, result.b);
  for (const auto& [one, other] : {std::pair(result.name_a, result.name_b),
                                   {result.name_a, result.name_c},
                                   {result.name_b, result.name_c}})
    if (one == other)
      fail(text, fmt::format("the three tensors need different names, but two are called {}", one));
  return result;
}

IndexNames letters(std::string_view text, std::string_view part) {
  IndexNames names;
  for (const char c : part) {
    if (std::isspace(static_cast<unsigned char>(c)) != 0) continue;
    if (std::isalpha(static_cast<unsigned char>(c)) == 0)
      fail(text, fmt::format("expected letters, as in ik,kj->ij, found '{}'", part));
    names.emplace_back(1, c);
  }
  return names;
}

// As NumPy: what occurs once.
IndexNames implicit_result(const IndexNames& a, const IndexNames& b) {
  auto all = a;
  all.insert(all.end(), b.begin(), b.end());
  IndexNames result;
  std::ranges::copy_if(all, std::back_inserter(result),
                       [&](const auto& index) { return std::ranges::count(all, index) == 1; });
  std::ranges::sort(result);
  return result;
}

ContractionExpression parse_einsum(std::string_view text) {
  const auto arrow = text.find("->");
  const auto inputs = text.substr(0, arrow);
  const auto comma = inputs.find(',');
  if (comma == std::string_view::npos || inputs.find(',', comma + 1) != std::string_view::npos)
    fail(text, "expected two tensors, as in C[ij] += A[ik] * B[kj] or ik,kj->ij");
  ContractionExpression result;
  result.a = letters(text, inputs.substr(0, comma));
  result.b = letters(text, inputs.substr(comma + 1));
  result.c = arrow == std::string_view::npos ? implicit_result(result.a, result.b)
                                             : letters(text, text.substr(arrow + 2));
  return result;
}

void check_indices(std::string_view text, const ContractionExpression& expression) {
  for (const auto& index : expression.c) {
    if (std::ranges::count(expression.c, index) > 1)
      fail(text, fmt::format("index {} occurs twice in {}, the result", index, expression.name_c));
    if (!has_index(expression.a, index) && !has_index(expression.b, index))
      fail(text, fmt::format("index {} of {} is in neither {} nor {}", index, expression.name_c,
                             expression.name_a, expression.name_b));
  }
}

std::string joined(const IndexNames& indices) {
  const bool all_short = std::ranges::all_of(indices, [](const auto& index) { return index.size() == 1; });
  return fmt::format("{}", fmt::join(indices, all_short ? "" : ","));
}

}  // namespace

std::vector<int> first_places(const IndexNames& indices) {
  std::vector<int> places;
  for (const auto& index : indices)
    places.push_back(int(std::ranges::find(indices, index) - indices.begin()));
  return places;
}

bool has_index(const IndexNames& indices, const std::string& index) {
  return std::ranges::find(indices, index) != indices.end();
}

IndexNames shared_indices(const IndexNames& indices, const IndexNames& others) {
  IndexNames result;
  std::ranges::copy_if(indices, std::back_inserter(result),
                       [&](const auto& index) { return has_index(others, index); });
  return result;
}

IndexNames other_indices(const IndexNames& indices, const IndexNames& others) {
  IndexNames result;
  std::ranges::copy_if(indices, std::back_inserter(result),
                       [&](const auto& index) { return !has_index(others, index); });
  return result;
}

IndexNames distinct_indices(const IndexNames& indices) {
  IndexNames result;
  for (const auto& index : indices)
    if (!has_index(result, index)) result.push_back(index);
  return result;
}

ContractionExpression of_diagonals(ContractionExpression expression) {
  expression.a = distinct_indices(expression.a);
  expression.b = distinct_indices(expression.b);
  return expression;
}

IndexNames contracted_indices(const ContractionExpression& expression) {
  auto result = other_indices(expression.a, expression.c);
  for (const auto& index : other_indices(expression.b, expression.c))
    if (!has_index(result, index)) result.push_back(index);
  return result;
}

ContractionExpression parse_contraction(std::string_view text) {
  const auto equals = text.find('=');
  auto result = equals == std::string_view::npos ? parse_einsum(text) : parse_assignment(text, equals);
  check_indices(text, result);
  return result;
}

std::string to_string(const ContractionExpression& expression) {
  return fmt::format("{}[{}] += {}[{}] * {}[{}]", expression.name_c, joined(expression.c), expression.name_a,
                     joined(expression.a), expression.name_b, joined(expression.b));
}

}  // namespace polyad::dense
