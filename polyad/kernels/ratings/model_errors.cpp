#include "polyad/kernels/ratings/model_errors.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "polyad/base/parallel.hpp"
#include "polyad/kernels/ratings/top_items.hpp"

namespace polyad::kernels {

template <class Real>
ErrorSums model_errors(const RatingModel<Real>& model, const SparseTensor<double>& ratings,
                       const RatingRange& range) {
  constexpr Index chunk = 8192;
  const Index count = ratings.num_nonzeros();
  std::vector<ErrorSums> sums(std::size_t((count + chunk - 1) / chunk), ErrorSums{});
  parallel_for(std::ssize(sums), [&](Index i) {
    for (Index z = i * chunk; z < std::min(count, (i + 1) * chunk); ++z) {
      const double predicted =
          range.clip(ref::predicted_rating(model, ratings.indices(0)[z], ratings.indices(1)[z]));
      const double e = ratings.values()[z] - predicted;
      sums[std::size_t(i)] += {e * e, std::abs(e), 1};
    }
  });
  ErrorSums all;
  for (const auto& some : sums) all += some;
  return all;
}

template ErrorSums model_errors(const RatingModel<float>&, const SparseTensor<double>&, const RatingRange&);
template ErrorSums model_errors(const RatingModel<double>&, const SparseTensor<double>&, const RatingRange&);

}  // namespace polyad::kernels
