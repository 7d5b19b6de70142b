"""The same model from every kind of input."""

from __future__ import annotations

import numpy as np
import polyad
import pytest

pytest.importorskip("polyad._convert", reason="conversions are not there")


@pytest.fixture
def x(make_tensor):
    return make_tensor(1, (7, 6, 5), 60)


def assert_same_model(found, x) -> None:
    model, expected = polyad.cp(found, 2, threads=1), polyad.cp(x, 2, threads=1)
    assert model.fit == pytest.approx(expected.fit, abs=1e-9)
    for a, b in zip(model.factors, expected.factors, strict=True):
        assert np.allclose(a, b, atol=1e-6)


def test_arrays_and_coordinates(x):
    assert_same_model(x.to_numpy(), x)
    assert_same_model((np.stack(x.coords), x.values), x)
    assert polyad.tensor(x) is x


@pytest.mark.parametrize(
    "library, name, method",
    [("scipy", "SciPy", "to_scipy"), ("sparse", "PyData's sparse", "to_sparse"), ("torch", "PyTorch", "to_torch"),
     ("pandas", "pandas", "to_pandas")],
)
def test_objects_of_other_libraries(x, library, name, method):
    pytest.importorskip(library, reason=f"{name} is not installed")
    assert_same_model(getattr(x, method)(), x)


def test_pyttb(x):
    pytest.importorskip("pyttb", reason="pyttb is not installed")
    assert_same_model(x.to_pyttb(), x)
    model = polyad.cp(x, 2)
    back = polyad.CPModel.from_factors(model.to_pyttb())
    assert np.allclose(back.predict(x), model.predict(x))


def test_tensorly(x):
    pytest.importorskip("tensorly", reason="TensorLy is not installed")
    model = polyad.cp(x, 2)
    back = polyad.CPModel.from_factors(model.to_tensorly())
    assert np.array_equal(back.weights, model.weights) and np.array_equal(back.factors[0], model.factors[0])


def test_a_pair_to_continue_from(x):
    begun = polyad.cp(x, 2, max_iter=5, tol=0)
    by_pair = polyad.cp(x, 2, max_iter=3, tol=0, init=(begun.weights, begun.factors))
    by_model = polyad.cp(x, 2, max_iter=3, tol=0, init=begun)
    assert np.array_equal(by_pair.history.fits, by_model.history.fits)


def test_nan_is_unknown(x):
    whole = x.to_numpy()
    whole[0, 0, 0] = np.nan
    assert polyad.cp(whole, 2, missing=True).info["nnz"] == whole.size - 1
    with pytest.raises(ValueError, match="nan") as caught:
        polyad.cp(whole, 2)
    assert isinstance(caught.value, polyad.Error) and caught.value.code == "bad_input"


def test_tables_of_events():
    events = {"who": ["ann", "bob", "ann", "ann"], "page": ["a", "a", "b", "b"]}
    counts = polyad.from_frame(events, ["who", "page"])
    assert counts.labels == (["ann", "bob"], ["a", "b"]) and sorted(counts.values) == [1, 1, 2]


def test_what_is_no_tensor_is_refused():
    for wrong in ["x.tns", None, 3.5, object()]:
        with pytest.raises((TypeError, ValueError)):
            polyad.cp(wrong, 2)
