"""NumPy, if it is installed and FIRSTSEEN_NUMPY is not `off`. Batches also work without it, but slower."""

from __future__ import annotations

import os
from typing import Any, Optional

np: Optional[Any]
if os.environ.get("FIRSTSEEN_NUMPY") == "off":
    np = None
else:
    try:
        import numpy as np
    except ImportError:
        np = None
