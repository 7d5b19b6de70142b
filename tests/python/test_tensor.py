"""Tensors: what is read and made, the views of it, and what is written."""

from __future__ import annotations

import pickle

import numpy as np
import polyad
import pytest


def cells(x: polyad.Tensor) -> dict[tuple[int, ...], float]:
    return {tuple(map(int, place)): float(value) for *place, value in zip(*x.coords, x.values)}


def test_pieces_come_back(make_tensor):
    for seed in range(20):
        random = np.random.default_rng(seed)
        shape = tuple(int(extent) for extent in random.integers(1, 9, size=random.integers(2, 6)))
        nnz = int(random.integers(0, np.prod(shape) + 1))
        x = make_tensor(seed, shape, nnz, labelled=bool(seed % 2))
        assert (x.shape, x.ndim, x.nnz, x.dtype) == (shape, len(shape), nnz, np.float64)
        again = polyad.from_pieces(x.coords, x.values, x.shape, x.modes, x.labels)
        assert cells(again) == cells(x) and again.labels == x.labels and again.modes == x.modes


def test_views_share_memory_and_outlive_the_tensor(make_tensor):
    x = make_tensor(1)
    values, coords = x.values, x.coords
    assert np.shares_memory(values, x.values) and np.shares_memory(coords[1], x.coords[1])
    assert not values.flags.writeable and not coords[0].flags.writeable
    kept = values.copy()
    del x
    assert (values == kept).all()
    with pytest.raises(ValueError):
        values[0] = 1


def test_arrays_that_were_passed_in_may_change_afterwards():
    values = np.ones(2)
    x = polyad.from_pieces([np.array([0, 1]), np.array([1, 0])], values, (2, 2))
    values[:] = 7
    assert x.values.tolist() == [1, 1]


@pytest.mark.parametrize("name", ["x.tns", "x.tns.gz", "x.ptb"])
def test_save_and_read(make_tensor, tmp_path, name):
    x = make_tensor(3, labelled=True)
    x.save(tmp_path / name)
    y = polyad.read(tmp_path / name)
    assert cells(y) == cells(x) and y.labels == x.labels and y.modes == x.modes
    with pytest.raises(polyad.Error):
        x.save(tmp_path / name, overwrite=False)


def test_pickle(make_tensor):
    x = make_tensor(4, labelled=True)
    y = pickle.loads(pickle.dumps(x))
    assert cells(y) == cells(x) and y.labels == x.labels and y.shape == x.shape


def test_tables_are_read_by_the_options_of_the_program(tmp_path):
    table = tmp_path / "visits.csv"
    table.write_text("who,page,when,seconds\nann,/home,2014-04-01T09:12,31\nbob,/home,2014-04-01T10:40,8.5\n"
                     "ann,/help,2014-04-02T11:05,120\n")
    x = polyad.read(table, columns=["who", "page", "when:day"], value="seconds")
    assert x.modes == ("who", "page", "when") and x.shape == (2, 2, 2)
    assert x.labels[0] == ["ann", "bob"] and x.labels[2] == ["2014-04-01", "2014-04-02"]
    assert sorted(x.values) == [8.5, 31, 120]
    counts = polyad.read(table, columns="who,page", value=1)
    assert counts.shape == (2, 2) and counts.values.sum() == 3
    binary = polyad.read([table, table], columns="who,page", value="seconds", duplicates="max", transform="sqrt")
    assert binary.values.max() == np.sqrt(120)
    indices = tmp_path / "x.tns"
    indices.write_text("1 1 1\n2 2 1\n")
    assert polyad.read(indices, dims=(4, 5), labels=False).shape == (4, 5)
    assert polyad.read(indices, index_base=0).shape == (3, 3)


def test_label_files(tmp_path):
    (tmp_path / "x.tns").write_text("1 1 1\n2 2 1\n")
    (tmp_path / "names").write_text("ann\nbob\n")
    x = polyad.read(tmp_path / "x.tns", labels={1: tmp_path / "names"})
    assert x.labels == (None, ["ann", "bob"])


def test_stats(debian):
    x = polyad.read(debian)
    stats = x.stats(formats=True, rank=4)
    assert stats["nnz"] == x.nnz == 56587 and "order 4" in repr(stats)


def test_html_for_notebooks(make_tensor):
    x = polyad.from_pieces([np.array([0, 1]), np.array([0, 1])], np.ones(2), (2, 2), ["<a>", "b"])
    assert "2 nonzeros" in x._repr_html_() and "&lt;a&gt;" in x._repr_html_() and "<a>" not in x._repr_html_()


def test_what_makes_no_tensor_is_refused():
    indices = np.array([0, 1])
    for coords, values, shape in [
        ([indices, indices], np.ones(3), (2, 2)),
        ([indices], np.ones(2), (2, 2)),
        ([indices, indices], np.ones(2), (2, 1)),
        ([indices, -indices], np.ones(2), (2, 2)),
        ([indices, indices], np.array([1, np.inf]), (2, 2)),
        ([indices], np.ones(2), (2,)),
    ]:
        with pytest.raises(ValueError) as caught:
            polyad.from_pieces(coords, values, shape)
        assert isinstance(caught.value, polyad.Error)
    with pytest.raises(polyad.Error, match="labels"):
        polyad.from_pieces([indices, indices], np.ones(2), (2, 2), labels=[["a", "b"]])


def test_errors_name_file_and_line(tmp_path):
    path = tmp_path / "bad.tns"
    path.write_text("1 1 1 2.5\n2 x 4 1\n")
    with pytest.raises(ValueError) as caught:
        polyad.read(path, format="tns")
    assert (caught.value.code, caught.value.file, caught.value.line) == ("bad_input", str(path), 2)
    with pytest.raises(OSError) as missing:
        polyad.read(tmp_path / "none.tns")
    assert missing.value.code == "io" and isinstance(missing.value, polyad.Error)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) and str(again) == str(caught.value) and again.line == 2
