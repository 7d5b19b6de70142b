#pragma once

#include "polyad/base/matrix.hpp"
#include "polyad/distributed/row_exchange.hpp"

namespace polyad::test {

// Adds up partial rows at their owners, takes the sums as rows of the factor, and sends these to all that
// touch them.
template <class Exchange, class Real>
void fold_and_expand(Exchange& exchange, const ExchangePlan& plan, const Matrix<Real>& partial,
                     Matrix<Real>& factor, Index num_components, NewRows at = NewRows::in_factor) {
  exchange.fold();
  for (Index i = 0; i < plan.num_owned; ++i)
    for (Index c = 0; c < num_components; ++c) factor(i, c) = partial(i, c);
  exchange.start_expanding(at);
  exchange.finish_expanding();
}

}  // namespace polyad::test
