#pragma once

#include "polyad/base/on_device.hpp"
#include "polyad/base/types.hpp"

namespace polyad::kernels {

// How cells enter a least-squares problem, in which m is the value of the model at a cell.
struct CellLoss {
  enum class Kind {
    squares,    // an observed cell adds weight * (value - m)^2
    confidence  // implicit feedback: it adds (background + alpha * weight * |value|) * (p - m)^2, where p is
                // 1 for a positive value and 0 for another
  };
  Kind kind = Kind::squares;
  double alpha = 1;
  double background = 0;  // a cell that is not observed adds background * m^2

  bool has_background() const { return background > 0; }
};

// A cell adds quadratic * m^2 - 2 * linear * m + constant to the loss.
template <class Real>
struct CellTerms {
  Real quadratic, linear, constant;
};

// A loss in the precision of the values.
template <class Real>
struct LossOfCells {
  LossOfCells() = default;
  explicit LossOfCells(const CellLoss& loss)
      : is_confidence(loss.kind == CellLoss::Kind::confidence),
        alpha(Real(loss.alpha)),
        background(Real(loss.background)) {}

  POLYAD_ON_DEVICE CellTerms<Real> terms(Real value, Real weight) const {
    const Real w = weight > 0 ? weight : Real{};
    if (w == 0) return {0, 0, 0};
    if (!is_confidence) return {w - background, w * value, w * value * value};
    const Real more = alpha * w * (value < 0 ? -value : value),
               liked = value > 0 ? background + more : Real{};
    return {more, liked, liked};
  }

  bool is_confidence = false;
  Real alpha = 1, background = 0;
};

}  // namespace polyad::kernels
