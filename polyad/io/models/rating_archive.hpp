#pragma once

#include <filesystem>
#include <string>

#include "polyad/io/bytes/input_file.hpp"
#include "polyad/tensor/ratings/rating_model.hpp"

namespace polyad::io {

// The numbers of a model of ratings, without its training ratings.
template <class Real>
struct RatingArchive {
  RatingModel<Real> model;
  RatingTraining<Real> training;

  friend bool operator==(const RatingArchive&, const RatingArchive&) = default;
};

// Archive of NumPy arrays: mean, user_factors, item_factors, epochs, step, regularisation,
// shrinkage; optionally user_biases and item_biases, user_squares and item_squares, and the range of
// the ratings, lowest and highest, and alpha of implicit feedback; and a model for lists:
// list_user_factors, list_item_factors, list_item_biases, list_alpha, list_power, list_regularisation and
// list_shrinkage. Where regularisation differs between the sides, item_regularisation and
// list_item_regularisation are those of items. Arrays may be f8 or f4, independent of Real. Other arrays are
// ignored. Throws Error{bad_input} if arrays are missing, have inconsistent shapes or values that are not
// finite.
template <class Real>
RatingArchive<Real> read_rating_archive(const InputFile& file);

// Whether its factors are stored in single precision.
bool is_single_precision(const InputFile& file);

// What is wrong with a model, as text: inconsistent shapes,
// numbers that are not finite. Empty if it is valid.
template <class Real>
std::string fault_of(const RatingModel<Real>& model, const RatingTraining<Real>& training);

// Its bytes depend on the contents only. The model must be valid.
template <class Real>
void write_rating_archive(const std::filesystem::path& path, const RatingModel<Real>& model,
                          const RatingTraining<Real>& training);

}  // namespace polyad::io
