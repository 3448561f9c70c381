"""Other packages beside duelmatch: the same instances, judges and budgets."""

import numpy as np

np.inf, float = np.inf, float  # names of numpy 1 that duelpy 1.0.0 asks for
