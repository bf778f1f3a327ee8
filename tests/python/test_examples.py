import importlib.util
import pathlib


def test_spirals():
    path = pathlib.Path(__file__).parents[2] / "examples" / "python" / "spirals.py"
    spec = importlib.util.spec_from_file_location("spirals", path)
    spirals = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(spirals)
    assert spirals.main() > 0.95
