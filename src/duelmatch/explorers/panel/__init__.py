"""Panels: a known group decides, and is counted, not sampled.

What has happened (proceedings), in numbers (projection): the count (state), what it says whatever the open
answers will be (bounds, verdict), what judges will probably say (model), what is still needed (plan), and the
next question (choice). No certificate rests on the model.
"""

from duelmatch.explorers.panel.explorer import PanelExplorer
from duelmatch.explorers.panel.simulation import simulate_panel
from duelmatch.explorers.questions import Question

__all__ = ["PanelExplorer", "Question", "simulate_panel"]
