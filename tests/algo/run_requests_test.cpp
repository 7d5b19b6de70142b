#include <gtest/gtest.h>

#include "polyad/algo/cp/prepare_cells.hpp"
#include "polyad/algo/run_state.hpp"
#include "tests/support/decomposed.hpp"
#include "tests/support/distributed_cases.hpp"
#include "tests/support/factor_problem.hpp"
#include "tests/support/shares.hpp"

namespace polyad {
namespace {

TEST(RunRequests, of_any_process_are_heard_by_all_and_leave_sums_as_they_are) {
  const Comm comm = Comm::world();
  for (int length = 0; length < 40; length += 3)
    for (int who = 0; who < comm.size(); ++who) {
      std::vector<double> sums;
      for (int i = 0; i < length; ++i) sums.push_back(1.0 / (1 + i + 7 * comm.rank()));
      auto alone = sums;
      comm.all_reduce(std::span(alone));
      const auto asked = add_up_with_requests(comm, sums, [&] {
        return comm.rank() == who ? RunRequests{1, 0, 1} : RunRequests{};
      });
      EXPECT_EQ(sums, alone);
      EXPECT_EQ((std::vector{asked.stops, asked.runs_out, asked.saves}), (std::vector<double>{1, 0, 1}));
      EXPECT_EQ(add_up_with_requests(comm, sums, {}).stops, 0);
    }
}

// Asks for a stop from some iteration on, on one process, and notes what is heard.
struct Asking {
  const Comm& comm;
  int process = 0, from = 3, iteration = 1;

  CpControl<double> control() {
    CpControl<double> control;
    control.ask = [this] {
      return RunRequests{comm.rank() == process && iteration >= from ? 1.0 : 0.0, 0, 0};
    };
    control.pause = [this](const CpPause<double>& pause) -> std::optional<StopReason> {
      EXPECT_EQ(pause.iteration, iteration);
      if (!pause.is_end) {
        EXPECT_EQ(pause.asked.stops, iteration >= from ? 1 : 0) << iteration;
      }
      EXPECT_EQ(pause.asked.saves, 0);
      ++iteration;
      return std::nullopt;
    };
    return control;
  }
};

enum class RequestMethod { als, opt, observed };

PreparedTensor<double> prepared_for(RequestMethod kind, const Comm& comm, const SparseTensor<double>& share,
                                    const CpRunOptions& options, int n) {
  const Distributor distributor(comm, share, comm.size(), std::uint64_t(n));
  Progress silent;
  if (kind == RequestMethod::als)
    return prepare<double>(comm, share, options, silent,
                           test::some_distribution(distributor, comm.size(), n));
  const auto plain = test::plain_distribution(distributor, comm.size(), n);
  return kind == RequestMethod::opt ? prepare<double>(comm, share, options, silent, plain)
                                    : prepare_observed<double>(comm, share, options, silent, plain);
}

TEST(RunRequests, are_heard_after_the_iteration_in_which_one_process_asks_and_change_no_bit) {
  const Comm comm = Comm::world();
  int n = comm.size();
  for (const auto& c : test::distributed_cases())
    for (const auto kind : {RequestMethod::als, RequestMethod::opt, RequestMethod::observed})
      for (int round = 0; round < 4; ++round, ++n) {
        SCOPED_TRACE("case " + std::to_string(n) + ", method " + std::to_string(int(kind)));
        auto options = test::ten_iterations(c, n);
        if (kind == RequestMethod::opt) options.method = Method::opt;
        if (kind == RequestMethod::observed) options.observed = ObservedRun{0.1, 0, 0};
        const auto whole = test::tame_tensor(c.extents, c.num_nonzeros, std::uint64_t(n), c.heavy);
        const auto x = prepared_for(kind, comm, test::share_of(whole, comm), options, n);
        const auto alone = run_cp<double>(x, options);
        Asking asking{comm, n % comm.size()};
        const auto asked = run_cp<double>(x, options, {}, nullptr, asking.control());
        EXPECT_EQ(asked.fit_trajectory, alone.fit_trajectory);
        for (int m = 0; m < x.tensor.order(); ++m)
          EXPECT_TRUE(std::ranges::equal(asked.model.factors[m].flat(), alone.model.factors[m].flat()));
      }
}

}  // namespace
}  // namespace polyad
