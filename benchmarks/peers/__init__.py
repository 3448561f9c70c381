"""Other packages beside duelmatch: the same instances, judges and budgets."""

import numpy as np

for old, new in (("infty", np.inf), ("float", float)):
    setattr(np, old, new)  # names of numpy 1 that duelpy 1.0.0 asks for
