import socket
from pathlib import Path

from config.model_process import _usual_port


def test_the_model_keeps_its_port_while_it_is_free(tmp_path: Path):
    file = tmp_path / "run" / "model-port"
    first = _usual_port(file)
    assert _usual_port(file) == first
    with socket.socket() as other:
        other.bind(("127.0.0.1", first))
        other.listen()
        second = _usual_port(file)
    assert second != first
    assert file.read_text() == f"{second}\n"
    file.write_text("no port")
    assert _usual_port(file) > 0
