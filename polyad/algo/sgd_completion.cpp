#include "polyad/algo/sgd_completion.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "polyad/base/error.hpp"
#include "polyad/base/timings.hpp"
#include "polyad/kernels/ratings/rating_start.hpp"
#include "polyad/kernels/ratings/sgd_sweep.hpp"

namespace polyad {
namespace {

// An epoch has gone astray when it met errors so much larger than those of predicting nothing.
constexpr double max_errors = 2;
constexpr int max_halvings = 40;
constexpr int halvings_until_anew = 3;  // of one epoch: then the rows that it begins with must be astray
constexpr double min_gain = 1e-4;       // of the test error, to be worth going on

template <class Real>
struct BothRows {
  RatingRows<Real> users, items;

  void copy(const BothRows& from) {
    kernels::copy_rows(from.users, users);
    kernels::copy_rows(from.items, items);
  }
};

template <class Real>
class Trainer {
 public:
  Trainer(DistRatings<Real>& x, const CompletionOptions& options, const EarlierTraining<Real>* earlier)
      : x_(x),
        options_(options),
        first_epoch_(earlier != nullptr ? int(earlier->training.epochs) : 0),
        sizes_(options.step),
        sender_(x.comm, travelling_words(options)),
        evaluator_(x.comm, travelling_words(options)),
        earlier_(earlier),
        rows_{start(RatingSide::user), start(RatingSide::item)},
        pulls_{kernels::row_pulls<Real>(options.shrinkage, x.user_ratings),
               kernels::row_pulls<Real>(options.shrinkage, x.item_ratings)} {
    for (auto& ratings : std::exchange(x.sub_epochs, {}))
      blocks_.push_back(
          kernels::arrange_ratings(std::move(ratings), std::ssize(x.users), std::ssize(x.items)));
  }

  CompletionResult<Real> run(const CompletionObserver& observe) {
    best_.copy(rows_);
    begin();
    for (int epoch = 0, without_gain = 0;
         epoch < options_.max_epochs && result_.stop == CompletionStop::epochs; ++epoch) {
      const auto record = sound_epoch(first_epoch_ + epoch, observe);
      without_gain = has_gained(record) ? 0 : without_gain + 1;
      if (is_best(record)) keep(record);
      if (options_.patience > 0 && without_gain >= options_.patience)
        result_.stop = CompletionStop::test_error;
    }
    rows_ = std::move(best_);
    finish();
    return std::move(result_);
  }

 private:
  RatingRows<Real> start(RatingSide side) const {
    const auto& global = side == RatingSide::user ? x_.users : x_.items;
    const kernels::RatingStart how{options_.num_factors, options_.has_biases, is_adaptive(), options_.seed};
    auto rows = start_rows<Real>(how, side, global,
                                 side == RatingSide::user ? x_.num_trained_users : x_.num_trained_items);
    if (earlier_ == nullptr) return rows;
    const bool is_user = side == RatingSide::user;
    const auto& squares = is_user ? earlier_->training.user_squares : earlier_->training.item_squares;
    const auto& places = is_user ? earlier_->user_rows : earlier_->item_rows;
    std::vector<Index> model_rows(global.begin(), global.end());
    for (Index& row : model_rows)
      if (!places.empty()) row = places[std::size_t(row)];
    return kernels::resumed_rows<Real>(std::move(rows), earlier_->model, squares, side, {x_.mean, x_.scale},
                                       model_rows);
  }

  bool is_adaptive() const { return options_.step.kind == StepSchedule::Kind::adagrad; }

  // An earlier model is tested before it is changed.
  void begin() {
    result_.best_epoch = first_epoch_;
    if (earlier_ != nullptr) {
      if (has_gone_astray({}))
        throw Error(Errc::bad_option, "the model to go on from does not fit these ratings");
      result_.last_step = earlier_->training.step;
    }
    if (earlier_ != nullptr || options_.max_epochs == 0) result_.test = test_figures();
    if (result_.test) error_to_beat_ = result_.test->rmse;
  }

  // Trains an epoch. If its errors grow without bound, it is undone and repeated with half the step size.
  EpochRecord sound_epoch(int epoch, const CompletionObserver& observe) {
    before_.copy(rows_);
    for (int halvings = 0; halvings < max_halvings; ++halvings) {
      auto record = one_epoch(epoch);
      if (record.was_undone) {
        record.began_anew = halvings == halvings_until_anew;
        if (record.began_anew) before_ = {start(RatingSide::user), start(RatingSide::item)};
        rows_.copy(before_);
        sizes_.halve();
      } else {
        sizes_.after_epoch(record.train.rmse);
      }
      result_.epochs.push_back(record);
      if (observe && !observe(record)) result_.stop = CompletionStop::observer;
      if (!record.was_undone || result_.stop == CompletionStop::observer) return record;
    }
    throw Error(
        Errc::bad_option,
        "the errors grow however small the step is; are the ratings numbers of reasonable size, and " +
            option_name("regularisation") + " not too large?");
  }

  EpochRecord one_epoch(int epoch) {
    const Stopwatch watch;
    EpochRecord record;
    record.epoch = epoch + 1;
    record.step = sizes_.of_epoch(epoch);
    const kernels::SgdStep step{record.step, options_.has_biases, is_adaptive(), options_.num_factors};
    ErrorSums met;
    for (std::size_t t = 0; t < blocks_.size(); ++t) {
      const Stopwatch learning;
      met += sgd_sweep(blocks_[t], rows_.users, rows_.items, pulls_, step);
      result_.seconds.learn += learning.seconds();
      const Stopwatch communicating;
      const double waited = sender_.waiting_seconds();
      synchronise(x_.steps[t], sender_, rows_.items);
      const double waiting = sender_.waiting_seconds() - waited;
      result_.seconds.wait += waiting;
      result_.seconds.communicate += communicating.seconds() - waiting;
    }
    record.train = figures(met);
    record.was_undone = has_gone_astray(record.train);
    if (!record.was_undone) record.test = test_figures();
    record.seconds = watch.seconds();
    return record;
  }

  // By the errors that were met, and by those that some ratings would meet now. Collective.
  bool has_gone_astray(const ErrorFigures& met) const {
    constexpr std::size_t enough = 4096;
    ErrorSums some;
    for (const auto& blocks : blocks_) {
      const std::span<const LocalRating<Real>> ratings(blocks.ratings);
      some += kernels::rating_errors<Real>(
          ratings.first(std::min(ratings.size(), enough / blocks_.size() + 1)), rows_.users, rows_.items);
    }
    const Index is_bounded = kernels::are_bounded(rows_.users) && kernels::are_bounded(rows_.items) ? 1 : 0;
    const double maximum = max_errors * x_.scale, now = figures(some).rmse;
    return x_.comm.all_reduce(is_bounded, Reduce::min) == 0 || !(met.rmse <= maximum) || !(now <= maximum);
  }

  // Collective.
  ErrorFigures figures(const ErrorSums& mine) const {
    double sums[2] = {mine.squares, mine.magnitudes};
    x_.comm.all_reduce(std::span<double>(sums));
    const auto count = double(x_.comm.all_reduce(mine.count));
    if (count == 0) return {};
    return {x_.scale * std::sqrt(sums[0] / count), x_.scale * sums[1] / count};
  }

  std::optional<ErrorFigures> test_figures() {
    if (x_.num_test == 0) return std::nullopt;
    const Stopwatch watch;
    evaluator_.overwrite(x_.visits, rows_.items);
    const auto result = figures(kernels::rating_errors<Real>(x_.test, rows_.users, rows_.items));
    result_.seconds.evaluate += watch.seconds();
    return result;
  }

  bool is_best(const EpochRecord& record) const {
    if (record.was_undone) return false;
    return !record.test || !result_.test || options_.patience == 0 || record.test->rmse < result_.test->rmse;
  }

  // Whether the test error has fallen by enough to go on, since it last did.
  bool has_gained(const EpochRecord& record) {
    if (record.was_undone) return false;
    if (!record.test) return true;
    if (record.test->rmse >= (1 - min_gain) * error_to_beat_) return false;
    error_to_beat_ = record.test->rmse;
    return true;
  }

  void keep(const EpochRecord& record) {
    best_.copy(rows_);
    result_.best_epoch = record.epoch;
    result_.test = record.test;
    result_.last_step = record.step;
  }

  // The errors of the rows that are handed out, on all ratings that were learned from.
  void finish() {
    Array<Index> trained(x_.items.begin(), x_.items.begin() + x_.num_trained_items);
    evaluator_.overwrite(plan_visits(x_.comm, x_.rotation, trained, numbers_of(trained)), rows_.items);
    ErrorSums sums;
    for (const auto& blocks : blocks_)
      sums += kernels::rating_errors<Real>(blocks.ratings, rows_.users, rows_.items);
    result_.train = figures(sums);
    result_.training = sender_.sent();
    result_.evaluation = evaluator_.sent();
    result_.users = std::move(rows_.users);
    result_.items = std::move(rows_.items);
  }

  // [global item]: its local number, for those that are here.
  Array<LocalIndex> numbers_of(std::span<const Index> items) const {
    Array<LocalIndex> numbers(std::size_t(x_.num_items), 0);
    for (std::size_t i = 0; i < items.size(); ++i) numbers[items[i]] = LocalIndex(i);
    return numbers;
  }

  DistRatings<Real>& x_;
  const CompletionOptions& options_;
  int first_epoch_;
  StepSizes sizes_;
  RowSender<Real> sender_, evaluator_;
  const EarlierTraining<Real>* earlier_;
  std::vector<kernels::RatingBlocks<Real>> blocks_;  // [sub-epoch]
  BothRows<Real> rows_, before_, best_;
  RatingPulls<Real> pulls_;
  double error_to_beat_ = std::numeric_limits<double>::infinity();  // on the test, to be worth going on
  CompletionResult<Real> result_;
};

}  // namespace

TravellingWords travelling_words(const CompletionOptions& options) {
  return {options.num_factors, options.has_biases, options.step.kind == StepSchedule::Kind::adagrad};
}

template <class Real>
EarlierTraining<Real> transposed(EarlierTraining<Real> earlier, RatingSide first) {
  earlier.model = transposed(std::move(earlier.model), first);
  earlier.training = transposed(std::move(earlier.training), first);
  if (first == RatingSide::item) std::swap(earlier.user_rows, earlier.item_rows);
  return earlier;
}

template <class Real>
void carry_over(const EarlierTraining<Real>& earlier, TrainedRows<Real>& trained) {
  auto& now = trained.model;
  const auto& then = earlier.model;
  kernels::keep_rows<Real>({then.users, then.user_biases, earlier.training.user_squares}, earlier.user_rows,
                           Real(then.mean - now.mean), {now.users, now.user_biases, trained.user_squares});
  kernels::keep_rows<Real>({then.items, then.item_biases, earlier.training.item_squares}, earlier.item_rows,
                           Real(0), {now.items, now.item_biases, trained.item_squares});
}

template <class Real>
CompletionResult<Real> sgd_completion(DistRatings<Real>& x, const CompletionOptions& options,
                                      const CompletionObserver& observe,
                                      const EarlierTraining<Real>* earlier) {
  return Trainer<Real>(x, options, earlier).run(observe);
}

template EarlierTraining<float> transposed(EarlierTraining<float>, RatingSide);
template EarlierTraining<double> transposed(EarlierTraining<double>, RatingSide);
template void carry_over(const EarlierTraining<float>&, TrainedRows<float>&);
template void carry_over(const EarlierTraining<double>&, TrainedRows<double>&);
template CompletionResult<float> sgd_completion(DistRatings<float>&, const CompletionOptions&,
                                                const CompletionObserver&, const EarlierTraining<float>*);
template CompletionResult<double> sgd_completion(DistRatings<double>&, const CompletionOptions&,
                                                 const CompletionObserver&, const EarlierTraining<double>*);

}  // namespace polyad
